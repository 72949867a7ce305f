"""A network or library that corrupts data: benchmarks must not report times of wrong results as good ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from sluice_run import Outcome, must, sluice

CORRUPTING = {"LD_PRELOAD": os.environ.get("SLUICE_CORRUPT_MESSAGES", "")}


def bench(what: str, *args: object, env: dict[str, str], ranks: int = 2) -> Outcome:
    """Round trips of a small array by two methods, of which one uses MPI_Isend."""
    options = ("--grid", "12,10,16", "--repeats", 1, "--warm-up", 0)
    return sluice("bench", what, *options, *args, env=env, ranks=ranks)


@pytest.mark.parametrize("what", ["transpose", "fft"])
def test_wrong_results_are_reported_after_all_rows(what: str, tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    outcome = must(bench(what, "--all", "--json", file, env=CORRUPTING), 5)
    assert "gave wrong results" in outcome.err
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    # The libraries' own transforms do not use the exchange methods.
    rows = [row for row in rows if row["kind"] not in {"cufft", "fftw"}]
    wrong = {row["exchange"] for row in rows if "fault" in row}
    right = {row["exchange"] for row in rows if "fault" not in row}
    assert "mpi_p2p" in wrong
    assert "mpi_alltoall" in right
    for row in rows:
        assert ("fault" in row) == (row["error"] > (0 if what == "transpose" else 1e-3))
    assert "wrong" in outcome.out


@pytest.mark.parametrize("what", ["transpose", "fft"])
def test_right_results_are_not(what: str) -> None:
    must(bench(what, "--all", env={}))


def test_a_study_reports_wrong_results_also_when_it_goes_on(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("{grids: [12, 10, 16], kinds: slab_2d_1d, exchanges: [mpi_alltoall, mpi_p2p], repeats: 1}")
    args = ("bench", "fft", "--study", study, "--json", tmp_path / "fft.jsonl")
    outcome = must(sluice(*args, env=CORRUPTING, ranks=2), 5)
    assert "2 of 4 combinations gave wrong results" in outcome.err
    outcome = must(sluice(*args, ranks=2), 5)
    assert "0 measured now" in outcome.out
    assert "2 of 4 combinations gave wrong results" in outcome.err
