"""Two runs in one output directory: the second is refused and told who holds it; the end of a process frees it."""

from __future__ import annotations

import os
import platform
import signal
from pathlib import Path

import pytest
from sluice_run import (
    ENDLESS,
    assert_goes_on,
    checkpoints,
    finish,
    kill_all,
    must,
    record,
    rows,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)

CASE = {
    "output.checkpoint": {"every": 0.2, "keep": 2},
    "output.timeseries": {"every": 1},
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
}
TRIALS = 6  # at once: they mostly wait, and disturb each other's timing


@pytest.mark.parametrize("option", [["--restart", "auto"], ["--overwrite"], []], ids=str)
def test_only_one_of_two_simultaneous_runs_goes_on(tmp_path: Path, option: list[str]) -> None:
    case, outs = write_case(tmp_path, CASE), [tmp_path / f"out{trial}" for trial in range(TRIALS)]
    pairs = [[start(["run", case, *option, "--output", out]) for _ in range(2)] for out in outs]
    for out, both in zip(outs, pairs, strict=True):
        outcomes = [finish(process) for process in both]
        # The second may also start after the end of the first.
        codes = sorted(outcome.code for outcome in outcomes)
        assert codes in ([0, 2], [0, 0]), [outcome.text for outcome in outcomes]
        refused = [outcome.err for outcome in outcomes if outcome.code == 2]
        assert all("another run uses" in err or "holds results already" in err for err in refused)
        assert rows(out)["step"].tolist() == list(range(1, 25))
        assert record(out)["step"] == 24


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_directory_in_use_is_refused(tmp_path: Path, ranks: int) -> None:
    case, out = write_case(tmp_path, {**CASE, "time.steps": ENDLESS}), tmp_path / "out"
    first = start(["run", case])
    wait_until(lambda: checkpoints(out), "a checkpoint")
    oldest = checkpoints(out)[0]
    first.send_signal(signal.SIGSTOP)  # it keeps the lock, and no core busy
    # All at once: each tries for two seconds to get the lock.
    every_way = ([], ["--restart", "auto"], ["--restart", oldest], ["--overwrite"])
    for refused in [start(["run", case, *options], ranks) for options in every_way]:
        outcome = must(finish(refused), 2)
        assert f"process {first.pid} on host {platform.node()} since 20" in outcome.err
        assert str(out) in outcome.err
        assert outcome.err.count("sluice: ") == 1
    (out / "STOP").touch()
    first.send_signal(signal.SIGCONT)
    must(finish(first))
    end = record(out)["step"]
    assert rows(out)["step"].tolist() == list(range(1, end + 1))
    assert_goes_on(case, out, end + 5, tmp_path / "elsewhere", ranks=ranks)


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_run_takes_over_from_a_killed_one(tmp_path: Path, ranks: int) -> None:
    """The kernel drops the lock; the file that the killed run left does not matter."""
    case, out = write_case(tmp_path, {**CASE, "time.steps": ENDLESS}), tmp_path / "out"
    first = start(["run", case], ranks)
    wait_until(lambda: checkpoints(out), "a checkpoint")
    kill_all(first)
    finish(first)
    left = (out / "lock").read_text()
    assert left.startswith("process ")
    assert_goes_on(case, out, step_of(checkpoints(out)[-1]) + 5, tmp_path / "elsewhere", ranks=ranks)
    assert (out / "lock").read_text() != left


def test_overwrite_keeps_the_lock_file(tmp_path: Path) -> None:
    """A run that has opened the file and waits for its turn must not lock a file without a name."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    must(sluice("run", case))
    before = (out / "lock").stat().st_ino
    must(sluice("run", case, "--overwrite"))
    assert (out / "lock").stat().st_ino == before


def test_a_file_system_without_locks(tmp_path: Path) -> None:
    """The run warns and goes on."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    no_locks = {"LD_PRELOAD": os.environ["SLUICE_NO_LOCKS"]}
    outcome = must(sluice("run", case, env=no_locks))
    assert "warning: " in outcome.out
    assert "the file system has no locks" in (out / "log.txt").read_text()
    assert rows(out)["step"][-1] == 24
