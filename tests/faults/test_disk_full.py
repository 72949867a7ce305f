"""A full disk: exit code 4, a message that says so, and older checkpoints that can be restarted from."""

from __future__ import annotations

import errno
import re
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from call_faults import fault
from sluice_run import (
    ENDLESS,
    assert_goes_on,
    assert_same_results,
    checkpoints,
    descendants,
    finish,
    must,
    require_parallel_hdf5,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)

STEPS = 30
MEGABYTE = 1 << 20
# A checkpoint takes a little more than 2 MB.
CASE = {
    "grid.cells": [32, 32, 64],
    "time.steps": STEPS,
    "output.checkpoint": {"every": 0.4, "keep": 4},
    "output.timeseries": {"every": 1},
    "output.slices": [],
}


def mount(folder: Path, options: str) -> bool:
    return (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
        ).returncode
        == 0
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 7 MB: room for three checkpoints."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mount(folder, "size=7m"):
        pytest.skip("file systems cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def assert_clean_failure(out: Path, ranks: int, outcome_text: str) -> None:
    assert "No space left" in outcome_text or "File too large" in outcome_text
    assert outcome_text.count("sluice: ") == 1
    assert not list((out / "checkpoints").glob("*.tmp"))
    for file in checkpoints(out):
        must(sluice("info", file))


@pytest.mark.parametrize(("ranks", "writer"), [(0, "direct"), (2, "direct"), (2, "hdf5")])
def test_full_during_a_checkpoint(reference: Path, small_disk: Path, ranks: int, writer: str) -> None:
    if writer == "hdf5":
        require_parallel_hdf5()
    assert checkpoints(reference)[-1].stat().st_size > 2 * MEGABYTE
    case = write_case(small_disk, {**CASE, "output.writer": writer})
    out = small_disk / "out"
    outcome = must(sluice("run", case, ranks=ranks), 4)
    assert len(checkpoints(out)) == 3
    assert step_of(checkpoints(out)[-1]) < STEPS
    assert_clean_failure(out, ranks, outcome.err)
    assert str(out) in outcome.err
    assert "free some space" in outcome.err

    # Repeat: still nothing is lost.
    must(sluice("run", case, "--restart", "auto", ranks=ranks), 4)
    assert len(checkpoints(out)) == 3

    assert mount(small_disk, "remount,size=40m")
    must(sluice("run", case, "--restart", "auto", ranks=ranks))
    assert_same_results(reference, out)


@pytest.mark.parametrize("mpi_io", ["", "^ompio"], ids=["ompio", "romio"])
def test_full_where_no_space_is_reserved(reference: Path, small_disk: Path, mpi_io: str) -> None:
    """HDF5 or MPI may report it, lose data, which is noticed when they are read back, or hang until the watchdog ends
    the run.
    """
    require_parallel_hdf5()
    case = write_case(small_disk, {**CASE, "output.writer": "hdf5", "watchdog": 3})
    out = small_disk / "out"
    env = {**fault(errno.EOPNOTSUPP, "allocate", "checkpoints/", 0), "OMPI_MCA_io": mpi_io}
    outcome = finish(start(["run", case], 2, env=env))
    assert outcome.code in (4, 6), outcome.text
    if outcome.code == 4:
        assert outcome.err.count("sluice: ") == 1
        assert re.search(r"cannot write dataset /\w \(\d+ bytes are free there\)|reads back wrong", outcome.err)
    assert len(checkpoints(out)) == 3
    for file in checkpoints(out):
        must(sluice("info", file))
    assert mount(small_disk, "remount,size=40m")
    must(sluice("run", case, "--restart", "auto", "--set", "watchdog=auto", ranks=2))
    assert_same_results(reference, out)


@pytest.mark.parametrize("ranks", [0, 2])
def test_full_at_some_moment(tmp_path: Path, small_disk: Path, ranks: int) -> None:
    """Time series, statistics or checkpoint: the next write fails."""
    changes = {"time.steps": ENDLESS, "output.checkpoint": {"every": 0.4, "keep": 1}}
    case = write_case(small_disk, {**CASE, **changes})
    out = small_disk / "out"
    process = start(["run", case], ranks)
    wait_until(lambda: checkpoints(out), "a checkpoint")
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(MEGABYTE // 16))
        except OSError:
            pass
    outcome = must(finish(process), 4)
    assert_clean_failure(out, ranks, outcome.err)
    filler.unlink()
    assert_goes_on(case, out, step_of(checkpoints(out)[-1]) + 20, tmp_path / "elsewhere", ranks=ranks)


def test_full_from_the_start(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(7 * MEGABYTE - 16384))
    case = write_case(small_disk, CASE)
    assert "No space left" in must(sluice("run", case), 4).err


@pytest.mark.parametrize("ranks", [0, 2])
def test_limit_on_file_sizes(tmp_path: Path, ranks: int) -> None:
    """`ulimit -f`: instead of dying from the signal, the program must end cleanly."""
    case = write_case(tmp_path, {**CASE, "time.steps": ENDLESS})
    out = tmp_path / "out"
    process = start(["run", case], ranks)
    wait_until(lambda: checkpoints(out), "a checkpoint")
    for pid in descendants(process.pid) if ranks else [process.pid]:  # spares the launcher's own files
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (MEGABYTE, MEGABYTE))
    outcome = must(finish(process), 4)
    saved = step_of(checkpoints(out)[-1])
    assert saved > 0
    assert_clean_failure(out, ranks, outcome.err)
    assert "ulimit" in outcome.err
    assert_goes_on(case, out, saved + 20, tmp_path / "elsewhere", ranks=ranks)


def test_no_inodes_left(tmp_path: Path) -> None:
    """Many small files of other programs: there is space, but no file can be made."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mount(folder, "size=40m,nr_inodes=40"):
        pytest.skip("file systems cannot be mounted here")
    try:
        case, out = write_case(folder, {**CASE, "time.steps": ENDLESS}), folder / "out"
        process = start(["run", case])
        wait_until(lambda: checkpoints(out), "a checkpoint")
        for number in range(40):
            try:
                (folder / f"filler{number}").touch()
            except OSError:
                break
        assert_clean_failure(out, 0, must(finish(process), 4).err)
        for file in folder.glob("filler*"):
            file.unlink()
        must(sluice("run", case, "--restart", "auto", "--steps", step_of(checkpoints(out)[-1]) + 5))
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_the_file_system_becomes_read_only(tmp_path: Path, small_disk: Path) -> None:
    case = write_case(small_disk, {**CASE, "output.checkpoint": {"every": 0.4, "keep": 1}})
    must(sluice("run", case, "--steps", 12))
    assert mount(small_disk, "remount,ro")
    outcome = must(sluice("run", case, "--restart", "auto"), 4)
    assert "Read-only file system" in outcome.err
    assert outcome.err.count("sluice: ") == 1
    assert mount(small_disk, "remount,rw")
    must(sluice("run", case, "--restart", "auto"))
