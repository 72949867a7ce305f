"""A rank on which MPI fails says so and ends the run: the other ranks do not wait for it."""

from __future__ import annotations

import os
from pathlib import Path

from sluice_run import finish, must, require_parallel_hdf5, start, write_case

BROKEN = {"LD_PRELOAD": os.environ.get("SLUICE_BROKEN_MPI", "")}
BROKEN_OPEN = {"LD_PRELOAD": os.environ.get("SLUICE_BROKEN_OPEN", "")}


def test_a_rank_on_which_mpi_fails(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"time.steps": 3})
    outcome = must(finish(start(["run", case], ranks=2, env=BROKEN), timeout=30), 1)
    assert "sluice: MPI_Allreduce of errors: " in outcome.err


def test_a_file_that_only_one_rank_of_two_has_open(tmp_path: Path) -> None:
    """HDF5 would wait for the other one as it closes the file, at the latest in MPI_Finalize."""
    require_parallel_hdf5()
    case = write_case(tmp_path, {"time.steps": 3, "output.writer": "hdf5", "watchdog": 30})
    outcome = must(finish(start(["run", case], ranks=2, env=BROKEN_OPEN), timeout=25), 4)
    assert "cannot open the file through MPI-IO" in outcome.err
    assert outcome.err.count("sluice: ") == 1
