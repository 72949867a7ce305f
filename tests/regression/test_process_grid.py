"""Runs of the program have the same bits on every process grid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sluice_run import assert_same_results, checkpoints, content, must, record, sluice, write_case

CHANGES = {
    "grid.cells": [16, 32, 48],
    "time.steps": 6,
    "output.timeseries": {"every": 1},
    "output.checkpoint": {"every": 10.0, "keep": 2},
    "output.statistics": {"start": 0, "every": 1, "block": 0.1},
    "output.spectra": {"start": 0, "every": 1, "block": 0.1, "heights": [0, 0.1, 1.9]},
    "output.densities": {"start": 0, "every": 1, "block": 0.1, "heights": [0, 0.1, 1.9]},
}
References = dict[str, tuple[Path, Path]]


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> References:
    """For each form of diffusion: the case, and the results of a single process."""
    made = {}
    for diffusion in ("explicit", "implicit_z"):
        folder = tmp_path_factory.mktemp(diffusion)
        case = write_case(folder, {**CHANGES, "time.diffusion": diffusion})
        must(sluice("run", case, "--reproducible"))
        made[diffusion] = case, folder / "out"
    return made


@pytest.mark.parametrize(
    ("diffusion", "ranks", "grid"),
    [
        ("explicit", 1, "auto"),
        ("explicit", 2, "[1, 2]"),
        ("explicit", 2, "[2, 1]"),
        ("explicit", 3, "auto"),
        ("explicit", 4, "[2, 2]"),
        ("explicit", 4, "[4, 1]"),
        ("implicit_z", 2, "[1, 2]"),
        ("implicit_z", 3, "[1, 3]"),
        ("implicit_z", 3, "[3, 1]"),
        ("implicit_z", 4, "auto"),
    ],
)
def test_every_process_grid(references: References, tmp_path: Path, diffusion: str, ranks: int, grid: str) -> None:
    case, reference = references[diffusion]
    output = tmp_path / "out"
    must(sluice("run", case, "--reproducible", "--output", output, "--set", f"parallel.grid={grid}", ranks=ranks))
    assert record(output)["ranks"] == ranks
    if grid != "auto":
        assert str(record(output)["process_grid"]) == grid
    assert_same_results(reference, output)


def test_the_fields_are_those_of_a_flow(references: References) -> None:
    """The results are equal because they are right, not empty; and the two forms of diffusion differ."""
    fields = [content(checkpoints(output)[-1]) for _, output in references.values()]
    for name in ("/u", "/v", "/w", "/p"):
        assert len(set(fields[0][name][:4096])) > 16
        assert fields[0][name] != fields[1][name]


def test_each_kind_of_traffic_with_its_own_method(references: References, tmp_path: Path) -> None:
    """The same bits; auto measures the kinds that are left open, and a restart takes its choice."""
    case, reference = references["explicit"]
    methods = "parallel.exchange={halos: mpi_p2p, columns: mpi_alltoall}"
    command = ["run", case, "--reproducible", "--output", tmp_path / "out", "--set", methods]
    must(sluice(*command, "--set", "parallel.grid=[2, 2]", "--set", "time.steps=3", ranks=4))
    chosen = record(tmp_path / "out")["exchange"]
    tried = {entry["exchange"] for entry in record(tmp_path / "out")["tuning"]}
    assert chosen in tried
    rows = {re.fullmatch("halos=mpi_p2p,rows=(.*),columns=mpi_alltoall", name).group(1) for name in tried}  # type: ignore[union-attr]
    assert {"mpi_p2p", "mpi_datatype"} <= rows

    must(sluice(*command, "--restart", "auto", ranks=4))
    assert record(tmp_path / "out")["exchange"] == chosen
    assert record(tmp_path / "out")["tuning"] == []
    assert_same_results(reference, tmp_path / "out")


@pytest.mark.parametrize(
    ("hosts", "grid"),
    [
        ("a,a,b,b", "[2, 2]"),  # rows within hosts
        ("a,b,a,b", "[2, 2]"),  # columns within hosts
        ("a,a,a,b,b,b", "[2, 3]"),  # one row of three leaves its host
    ],
)
def test_ranks_on_several_hosts(references: References, tmp_path: Path, hosts: str, grid: str) -> None:
    """Pairs of ranks of one emulated host exchange in another way than others; the same bits."""
    case, reference = references["implicit_z"]
    command = ["run", case, "--reproducible", "--output", tmp_path / "out", "--set", f"parallel.grid={grid}"]
    env = {"SLUICE_EMULATED_HOSTS": hosts}
    ranks = len(hosts.split(","))
    must(sluice(*command, "--set", "parallel.exchange=peer_mpi", ranks=ranks, env=env))
    assert record(tmp_path / "out")["exchange"] == "peer_mpi"
    assert_same_results(reference, tmp_path / "out")


def test_auto_on_several_hosts(references: References, tmp_path: Path) -> None:
    case, _ = references["explicit"]
    command = ["run", case, "--output", tmp_path / "out", "--set", "parallel.grid=[1, 3]"]
    env = {"SLUICE_EMULATED_HOSTS": "a,a,b"}
    must(sluice(*command, ranks=3, env=env))
    tried = {entry["exchange"] for entry in record(tmp_path / "out")["tuning"]}
    assert tried.isdisjoint({"peer", "peer_mpi"})  # on CPUs only a case that asks for them gets them
    outcome = must(sluice(*command, "--overwrite", ranks=2, env=env), 2)
    assert "SLUICE_EMULATED_HOSTS is 'a,a,b', but there are 2 ranks" in outcome.err
