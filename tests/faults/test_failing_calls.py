"""Any system call that fails while a run writes: exit code 4 or a warning, and a restart that loses nothing."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from call_faults import fault
from sluice_run import (
    assert_same_results,
    checkpoints,
    finish,
    must,
    require_parallel_hdf5,
    sluice,
    start,
    step_of,
    write_case,
)

CASE = {
    "time.steps": 12,
    "output.timeseries": {"every": 2},
    "output.checkpoint": {"every": 0.3, "keep": 2},
    "output.statistics": {"start": 0, "every": 2, "block": 0.3},
    "output.slices": [{"normal": "z", "at": 0.1, "every": 0.3, "fields": ["u"]}],
}
# Which calls of each function fail, and how.
FAULTS = [
    ("write", errno.EIO),
    ("write", errno.ENOSPC),
    ("fsync", errno.EIO),
    ("open", errno.EMFILE),
    ("truncate", errno.EIO),
    ("allocate", errno.ENOSPC),
    ("mkdir", errno.EACCES),
    ("unlink", errno.EIO),
    ("rename", errno.EIO),
]
NUMBERS = [1, 2, 5, 13, 34, 89, 233]


@pytest.mark.parametrize(("call", "error"), FAULTS)
def test_a_call_that_fails(reference: Path, tmp_path: Path, call: str, error: int) -> None:
    for number in NUMBERS:
        folder = tmp_path / str(number)
        folder.mkdir()
        case, out, mark = write_case(folder, CASE), folder / "out", folder / "mark"
        outcome = finish(start(["run", case], env=fault(error, call, out, number, mark)))
        if not mark.exists():
            break
        # A failure that costs no results, as in log.txt, is a warning. HDF5 opens a file again if the first open fails.
        assert outcome.code in (0, 4), outcome.text
        message = outcome.text if outcome.code == 0 else outcome.err
        if outcome.code != 0 or call != "open":
            assert os.strerror(error) in message, mark.read_text() + outcome.text
            assert str(out) in message, outcome.text
        assert outcome.err.count("sluice: ") == (outcome.code != 0)
        for file in checkpoints(out):
            must(sluice("info", file))
        if outcome.code != 0:
            must(sluice("run", case, "--restart", "auto"))
        assert_same_results(reference, out)


@pytest.mark.parametrize("ranks", [0, 2])
def test_every_write_is_cut_short(reference: Path, tmp_path: Path, ranks: int) -> None:
    """As after a signal, or on some network file systems: the rest is written by another call."""
    case, out, mark = write_case(tmp_path, CASE), tmp_path / "out", tmp_path / "mark"
    outcome = must(finish(start(["run", case], ranks, env=fault("short", "write", out, 0, mark))))
    assert mark.exists()
    assert outcome.err == ""
    assert_same_results(reference, out)


@pytest.mark.parametrize(("error", "code"), [(errno.EOPNOTSUPP, 0), (errno.ENOSPC, 4)])
def test_space_for_the_fields_is_reserved(reference: Path, tmp_path: Path, error: int, code: int) -> None:
    """Not every file system can; on a full disk the run ends before it writes fields."""
    case, out, mark = write_case(tmp_path, CASE), tmp_path / "out", tmp_path / "mark"
    outcome = must(finish(start(["run", case], env=fault(error, "allocate", "checkpoints/", 0, mark))), code)
    assert "step_" in mark.read_text()
    if code == 0:
        assert_same_results(reference, out)
    else:
        assert "cannot reserve space: No space left on device" in outcome.err


def test_a_write_that_fails_on_one_rank_of_two(reference: Path, tmp_path: Path) -> None:
    case, out, mark = write_case(tmp_path, CASE), tmp_path / "out", tmp_path / "mark"
    outcome = must(finish(start(["run", case], 2, env=fault(errno.EIO, "write", "checkpoints/", 2, mark))), 4)
    assert mark.exists()
    assert os.strerror(errno.EIO) in outcome.err
    must(sluice("run", case, "--restart", "auto", ranks=2))
    assert_same_results(reference, out)


def test_a_write_through_mpi_io_that_fails_on_one_rank_of_two(reference: Path, tmp_path: Path) -> None:
    """With ROMIO each rank writes its own slab; HDF5 1.10 then waits for the one that failed."""
    require_parallel_hdf5()
    changes = {"output.writer": "hdf5", "parallel": {"grid": [1, 2]}, "watchdog": 3}
    case, out, mark = write_case(tmp_path, {**CASE, **changes}), tmp_path / "out", tmp_path / "mark"
    env = {**fault(errno.EIO, "write", "checkpoints/", 6, mark, rank=1), "OMPI_MCA_io": "^ompio"}
    outcome = finish(start(["run", case], 2, env=env))
    assert mark.exists()
    assert outcome.code in (4, 6), outcome.text
    assert len(checkpoints(out)) == 1
    must(sluice("info", checkpoints(out)[0]))
    must(sluice("run", case, "--restart", "auto", "--set", "watchdog=auto", ranks=2))
    assert_same_results(reference, out)


def test_a_file_that_one_rank_of_two_cannot_open_for_mpi_io(reference: Path, tmp_path: Path) -> None:
    """The other one would wait for it in MPI-IO, until the watchdog ends the run."""
    require_parallel_hdf5()
    changes = {"output.writer": "hdf5", "parallel": {"grid": [1, 2]}, "watchdog": 30}
    case, out, mark = write_case(tmp_path, {**CASE, **changes}), tmp_path / "out", tmp_path / "mark"
    outcome = must(finish(start(["run", case], 2, env=fault(errno.EMFILE, "open", ".h5.tmp", 2, mark, rank=1))), 4)
    assert mark.exists()
    assert os.strerror(errno.EMFILE) in outcome.err
    assert outcome.err.count("sluice: ") == 1
    must(sluice("run", case, "--restart", "auto", ranks=2))
    assert_same_results(reference, out)


def test_files_that_one_rank_does_not_see(tmp_path: Path) -> None:
    """As where a network file system shows new files late: outputs that a restart no longer has are found."""
    more = {
        "output.spectra": {"start": 0, "every": 2, "block": 0.3},
        "output.fields": [{"name": "all", "every": 0.3}],
        "output.slices": [],
    }
    fewer = {"output.spectra": "none", "output.fields": [], "output.probes": [], "output.statistics": "none"}
    case, out = write_case(tmp_path, {**CASE, **more}), tmp_path / "out"
    must(sluice("run", case, "--steps", 6))
    case = write_case(tmp_path, {**CASE, **more, **fewer})
    for steps, path in enumerate(["/probes", "/fields", "/statistics.h5", "/spectra.h5"], start=7):
        mark = tmp_path / path.strip("/")
        hidden = fault(errno.ENOENT, "stat", f"{out}{path}", 0, mark, rank=1)
        restart = ("run", case, "--restart", "auto", "--steps", steps)
        must(finish(start(restart, 2, env=hidden)))
        assert step_of(checkpoints(out)[-1]) == steps
        assert not mark.exists()
