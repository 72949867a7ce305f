"""Whole runs on GPUs: compared with a CPU build, and on one GPU with several.

SLUICE_CPU_BINARY names the program of a CPU build (CMake: -DSLUICE_CPU_BINARY=...), SLUICE_GPU_RANKS the
number of GPUs.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np
import pytest
from sluice_run import checkpoints, must, rows, sluice, write_case

CPU_BINARY = os.environ.get("SLUICE_CPU_BINARY", "")
GPUS = int(os.environ.get("SLUICE_GPU_RANKS", "1"))
CHANNEL = {
    "grid.cells": [64, 64, 64],
    "time.steps": 100,
    "time.cfl": 0.6,
    "output.checkpoint": {"every": 100.0, "keep": 2},
    "output.slices": None,
}


def run(folder: Path, changes: dict[str, object], ranks: int = 0, env: Mapping[str, str] | None = None) -> Path:
    """Runs the case and returns its output folder."""
    folder.mkdir()
    case = write_case(folder, {**CHANNEL, **changes})
    must(sluice("run", case, ranks=ranks, env=env, timeout=200))
    return folder / "out"


def largest_difference(one: Path, other: Path, names: str = "uvw") -> float:
    """Largest difference of these fields in the last checkpoints, relative to the largest value."""
    with h5py.File(checkpoints(one)[-1]) as a, h5py.File(checkpoints(other)[-1]) as b:
        fields = [(a[name][...], b[name][...]) for name in names]
    largest = max(np.abs(first).max() for first, _ in fields)
    difference = max(np.abs(first - second).max() for first, second in fields)
    assert largest > (0.5 if "u" in names else 1e-3)
    print(f"largest difference of {names}: {difference / largest:.2e} of the largest value")
    return float(difference / largest)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("diffusion", ["explicit", "implicit_z"])
def test_agrees_with_the_cpu(tmp_path: Path, diffusion: str, order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if not CPU_BINARY:
        pytest.skip("no CPU build was named")
    changes: dict[str, object] = {"time.diffusion": diffusion, "solver.order": order}
    on_gpu = run(tmp_path / "gpu", changes)
    monkeypatch.setattr("sluice_run.BINARY", CPU_BINARY)
    on_cpu = run(tmp_path / "cpu", changes)
    assert largest_difference(on_gpu, on_cpu) < 1e-9
    # In units of U_b / h: compare with velocity differences over cells of 1/500 h.
    assert rows(on_gpu)["max_divergence"].max() < 1e-11


# Process grid, exchange method, diffusion, order.
ON_SEVERAL_GPUS = [
    *itertools.product(
        [(1, 2), (2, 1), (1, 4), (2, 2), (4, 1)], ["mpi_p2p", "mpi_alltoall", "nccl", "peer"], ["implicit_z"], [2]
    ),
    *itertools.product([(2, 1)], ["nccl", "peer"], ["explicit", "implicit_z"], [4]),
    *itertools.product([(1, 2), (1, 4), (2, 2)], ["nccl", "peer"], ["explicit", "implicit_z"], [4]),
]


@pytest.mark.parametrize(("grid", "exchange", "diffusion", "order"), ON_SEVERAL_GPUS, ids=str)
def test_several_gpus_agree_with_one(
    tmp_path: Path, grid: tuple[int, int], exchange: str, diffusion: str, order: int
) -> None:
    ranks = grid[0] * grid[1]
    if ranks > GPUS:
        pytest.skip(f"needs {ranks} GPUs")
    # Gives each of four GPUs several z blocks.
    changes: dict[str, object] = {
        "grid.cells": [32, 32, 144],
        "time.diffusion": diffusion,
        "time.steps": 20,
        "solver.order": order,
    }
    one = run(tmp_path / "one", changes)
    several = run(tmp_path / "several", {**changes, "parallel": {"grid": list(grid), "exchange": exchange}}, ranks)
    # Transforms choose kernels by the number of rows; the round-off differences grow over 20 steps.
    assert largest_difference(one, several) < 1e-12
    assert largest_difference(one, several, "p") < 1e-11


@pytest.mark.parametrize("exchange", ["peer_nccl", "peer_mpi"])
@pytest.mark.parametrize("grid", [(1, 2), (2, 1), (1, 4), (2, 2), (4, 1)], ids=str)
@pytest.mark.parametrize("hosts", ["halves", "alternate"])
def test_gpus_of_two_hosts_agree_with_one(tmp_path: Path, grid: tuple[int, int], exchange: str, hosts: str) -> None:
    ranks = grid[0] * grid[1]
    if ranks > GPUS:
        pytest.skip(f"needs {ranks} GPUs")
    changes: dict[str, object] = {"grid.cells": [32, 32, 144], "time.diffusion": "implicit_z", "time.steps": 20}
    one = run(tmp_path / "one", changes)
    names = ["ab"[2 * rank // ranks if hosts == "halves" else rank % 2] for rank in range(ranks)]
    several = run(
        tmp_path / "several",
        {**changes, "parallel": {"grid": list(grid), "exchange": exchange}},
        ranks,
        {"SLUICE_EMULATED_HOSTS": ",".join(names)},
    )
    assert largest_difference(one, several) < 1e-12
    assert largest_difference(one, several, "p") < 1e-11


@pytest.mark.parametrize("ranks", sorted({1, min(GPUS, 2)}))
def test_energy_is_that_of_a_plausible_power(tmp_path: Path, ranks: int) -> None:
    file = tmp_path / "step.json"
    must(sluice("bench", "step", "--grid", "256,256,128", "--json", file, ranks=ranks, timeout=200))
    changes = {"grid.cells": [256, 256, 128], "time.steps": 2000, "output.statistics": None, "output.probes": None}
    out = run(tmp_path / "run", changes, ranks)
    bench, whole = (json.loads(path.read_text()) for path in (file, out / "run.json"))
    for energy in (bench["energy"], whole["energy"]):
        print(energy)
        assert (energy["device"], energy["devices"]) == ("GPU", ranks)
        assert energy["joules"] > 0
        assert 50 * ranks < energy["watts"] < 1500 * ranks
    # Other steps than those that are timed, which wait for each other.
    expected = bench["energy"]["watts"] * bench["ns_per_point_per_step"]
    assert bench["energy"]["nj_per_point_per_step"] == pytest.approx(expected, rel=0.3)
    assert whole["energy"]["joules_per_h_over_u_tau"] > 0
    assert f"energy of {ranks} GPU" in (out / "log.txt").read_text()


def test_output_is_not_charged_with_the_step(tmp_path: Path) -> None:
    """Nothing in a step of Couette flow waits for the GPU, so that the first output after it would."""

    def nanoseconds(name: str, every: int) -> float:
        changes = {
            "flow": {"type": "couette", "reynolds": {"wall": 500}},
            "grid.cells": [256, 256, 128],
            "time.steps": 60,
            "output.timeseries.every": every,
            "output.statistics": None,
            "output.probes": None,
        }
        record = json.loads((run(tmp_path / name, changes) / "run.json").read_text())
        return float(record["ns_per_point_per_step"])

    often, rarely = nanoseconds("often", 1), nanoseconds("rarely", 60)
    print(f"{often:.3f} ns per point and step with a row at every step, {rarely:.3f} with one at the end")
    assert often > 0.8 * rarely
