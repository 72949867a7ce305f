"""Exactness of whole runs, with the tests and names that climate models use for it.

REP: the same run twice. ERS: N steps, a restart and N more. ERP: the same, with the restart on other ranks.
PEM: the run on half of the ranks. PEA: one rank with and without a launcher. Each must give the bits of the first
run: fields, statistics, spectra, densities, time series and slices. On CPUs, REP and PEA have two cases, started as
users start them: the others compare each case with itself often enough to find what changes from run to run.

`ctest -L exactness` runs them on every build. On GPUs, ranks are GPUs: as many as SLUICE_GPU_RANKS says. There ERP and
PEM do not apply, because several GPUs agree with one only to round-off.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sluice_run import assert_same_results, checkpoints, content, must, sluice, start_as_users_do, write_case

ON_GPUS = "SLUICE_GPU_RANKS" in os.environ
STEPS = 24
COUETTE = {"flow": {"type": "couette", "reynolds": {"wall": 3000}}, "time.diffusion": "implicit_z"}
HEATED = [
    {"name": "a", "prandtl": 0.71, "walls": {"bottom": {"value": 1}, "top": {"flux": 0.1}}, "initial": "1 + sin(pi*x)"},
    {"name": "b", "walls": {"top": {"value": 2}}, "source": {"bulk_value": 1}},
    {"name": "c", "walls": {"bottom": {"flux": "0.1*sin(x - 3*t)"}, "top": {"value": "1 + 0.5*cos(2*t)"}}},
]
CASES: dict[str, dict[str, Any]] = {
    "explicit": {"time.diffusion": "explicit"},
    "implicit_z": {"time.diffusion": "implicit_z"},
    "second_order": {"solver.order": 2, "time.diffusion": "explicit"},
    "second_order_implicit_z": {"solver.order": 2, "time.diffusion": "implicit_z"},
    "couette": COUETTE,
    "rotating": {"flow.rotation": {"number": 0.4, "axis": [0.5, -1, 1]}},
    "magnetic": {"flow.magnetic_field": {"hartmann": 10}},
    "heated": {"scalars": HEATED, "flow.buoyancy": {"richardson": 2, "direction": [-1, 0, -1]}},
    "heated_implicit": {"scalars": HEATED, "time.diffusion": "implicit", "time.dt_max": 0.2},
    "couette_second_order": {**COUETTE, "solver.order": 2},
}


def runs() -> Iterator[tuple[str, int, str, str]]:
    """Each case, number of ranks, process grid and exchange method with which the tests run."""
    for case in CASES:
        if not ON_GPUS:
            yield case, 2, "auto", "auto"
            continue
        yield case, 1, "auto", "auto"
        gpus = int(os.environ["SLUICE_GPU_RANKS"])
        if gpus > 1:
            for exchange in ("nccl", "peer"):
                yield case, gpus, f"[1, {gpus}]", exchange


# Of these, those with which runs are repeated unchanged.
REPEATED = [run for run in runs() if ON_GPUS or run[0] in ("explicit", "heated")]


def identifier(run: tuple[str, int, str, str]) -> str:
    return "-".join(map(str, run))


class Form:
    """A case, how it runs, and the results of its first run."""

    def __init__(self, folder: Path, name: str, ranks: int, grid: str, exchange: str) -> None:
        grid_of_gpus = {"grid.cells": [64, 64, 64]} if ON_GPUS else {}
        samples = {"start": 0.2, "every": 4, "block": 0.6, "heights": [0.1, 1]}
        sampled = {"output.spectra": samples, "output.densities": samples}
        self.case = write_case(folder, {**CASES[name], **sampled, **grid_of_gpus, "time.steps": STEPS})
        self.ranks = ranks
        self.parallel = ["--set", f"parallel.grid={grid}", "--set", f"parallel.exchange={exchange}"]
        self.first = folder / "first"
        self.run(self.first)

    def run(self, output: Path, *options: object) -> None:
        must(sluice("run", self.case, "--output", output, *self.parallel, *options, ranks=self.ranks, timeout=200))

    def run_on(self, ranks: int, output: Path, *options: object) -> None:
        must(sluice("run", self.case, "--output", output, *options, ranks=ranks, timeout=200))

    def alone(self) -> Path:
        """The results of one rank without a launcher; read-only for tests."""
        output = self.case.parent / "alone"
        if not output.exists():
            self.run_on(0, output)
        return output

    def copy_of_first_half(self, output: Path) -> None:
        """The results of a run that stopped in the middle."""
        half = self.case.parent / "half"
        if not half.exists():
            self.run(half, "--steps", STEPS // 2 + 1)
        shutil.copytree(half, output)


@pytest.fixture(scope="module", params=runs(), ids=identifier)
def form(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Form:
    return Form(tmp_path_factory.mktemp("form"), *request.param)


def test_the_run_is_a_flow_with_all_outputs(form: Form) -> None:
    """The results are equal because they are right, not because they are empty."""
    fields = content(checkpoints(form.first)[-1])
    assert all(len(set(fields[name][:4096])) > 16 for name in ("/u", "/v", "/w", "/p"))
    assert (form.first / "statistics.h5").exists()
    for name in ("spectra.h5", "densities.h5"):
        assert len(content(form.first / name)["/samples"]) > 0
    for file in (form.first / "slices").glob("*.h5"):
        assert len(content(file)["/time"]) > 2 * 8


@pytest.mark.parametrize("form", REPEATED, ids=identifier, indirect=True)
def test_rep_the_same_run_twice(form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start_as_users_do(monkeypatch)
    form.run(tmp_path / "again")
    assert_same_results(form.first, tmp_path / "again")


def test_ers_restart(form: Form, tmp_path: Path) -> None:
    form.copy_of_first_half(tmp_path / "pieces")
    form.run(tmp_path / "pieces", "--restart", "auto")
    assert_same_results(form.first, tmp_path / "pieces")


@pytest.mark.skipif(ON_GPUS, reason="several GPUs agree with fewer to round-off")
@pytest.mark.parametrize("ranks", [0, 3])
def test_erp_restart_on_other_ranks(form: Form, tmp_path: Path, ranks: int) -> None:
    form.copy_of_first_half(tmp_path / "pieces")
    form.run_on(ranks, tmp_path / "pieces", "--restart", "auto")
    assert_same_results(form.first, tmp_path / "pieces")


@pytest.mark.skipif(ON_GPUS, reason="several GPUs agree with fewer to round-off")
def test_pem_half_of_the_ranks(form: Form) -> None:
    assert form.ranks == 2
    assert_same_results(form.first, form.alone())


@pytest.mark.parametrize("form", REPEATED, ids=identifier, indirect=True)
def test_pea_one_rank_with_and_without_a_launcher(form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start_as_users_do(monkeypatch)
    for ranks in (0, 1):
        form.run_on(ranks, tmp_path / str(ranks))
    assert_same_results(tmp_path / "1", tmp_path / "0")
    if form.ranks == 1 or not ON_GPUS:
        assert_same_results(form.first, tmp_path / "0")
