"""A rank on which MPI fails says so and ends the run: the other ranks do not wait for it."""

from __future__ import annotations

import os
from pathlib import Path

from sluice_run import finish, must, start, write_case

BROKEN = {"LD_PRELOAD": os.environ.get("SLUICE_BROKEN_MPI", "")}


def test_a_rank_on_which_mpi_fails(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"time.steps": 3})
    outcome = must(finish(start(["run", case], ranks=2, env=BROKEN), timeout=30), 1)
    assert "sluice: MPI_Allreduce of errors: " in outcome.err
