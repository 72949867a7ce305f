"""After kill -9 at any moment, of all ranks or of one, `--restart auto` ends with the uninterrupted run's results."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from sluice_run import (
    ENDLESS,
    assert_goes_on,
    assert_same_results,
    checkpoints,
    descendants,
    finish,
    kill_all,
    must,
    record,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)

STEPS = 150
# Checkpoints, statistics and slices take much of the time, so that kills hit them.
CASE = {
    "grid.cells": [32, 16, 64],
    "time.steps": STEPS,
    "output.timeseries": {"every": 1},
    "output.checkpoint": {"every": 0.2, "keep": 2},
    "output.statistics": {"start": 0.2, "every": 1, "block": 0.3},
    "output.slices": [{"normal": "z", "at": 0.1, "every": 0.1, "fields": ["u", "p"]}],
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
}


def unfinished(out: Path) -> set[tuple[str, int]]:
    """Unfinished checkpoints, being written or left by a kill: name and last write."""
    found = set()
    for file in (out / "checkpoints").glob("*.tmp"):
        with contextlib.suppress(FileNotFoundError):
            found.add((file.name, file.stat().st_mtime_ns))
    return found


def has_new_unfinished(out: Path, old: set[tuple[str, int]]) -> bool:
    return bool(unfinished(out) - old)


def newest_step(out: Path) -> int:
    return max((step_of(file) for file in checkpoints(out)), default=0)


def is_newer(out: Path, step: int) -> bool:
    return newest_step(out) > step


def wait_for(process: subprocess.Popen[str], condition: Callable[[], bool], what: str) -> None:
    """Waits until the condition holds or the process has ended."""
    wait_until(lambda: condition() or process.poll() is not None, what, interval=2e-4)


@pytest.mark.parametrize(("ranks", "seed"), [(0, 1), (2, 2)])
def test_killed_at_random_moments(reference: Path, tmp_path: Path, ranks: int, seed: int) -> None:
    moments = random.Random(seed)
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    for killed in range(9):
        if newest_step(out) == STEPS:  # the run was faster than the kill: start again
            shutil.rmtree(out)
        process = start(["run", case, "--restart", "auto"], ranks)
        if killed % 3 > 0:  # otherwise kill before, during, or soon after its start
            wait_for(process, partial(is_newer, out, newest_step(out)), "a checkpoint")
        time.sleep(0.25 * moments.random())
        kill_all(process)
        finish(process)
    must(sluice("run", case, "--restart", "auto", ranks=ranks))
    assert_same_results(reference, out)
    assert not unfinished(out)


@pytest.mark.parametrize("ranks", [0, 2])
def test_killed_while_a_checkpoint_is_written(reference: Path, tmp_path: Path, ranks: int) -> None:
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    caught = 0
    for attempt in range(20):
        process = start(["run", case, "--restart", "auto"], ranks)
        wait_for(process, partial(has_new_unfinished, out, unfinished(out)), "an unfinished checkpoint")
        kill_all(process)
        finish(process)
        caught += len(unfinished(out)) > 0
        if caught >= 3:
            break
        if newest_step(out) == STEPS:  # the run was faster than the kill: start again
            assert attempt < 19
            shutil.rmtree(out)
    assert caught >= 3
    must(sluice("run", case, "--restart", "auto", ranks=ranks))
    assert_same_results(reference, out)
    assert not unfinished(out)


@pytest.mark.parametrize("victim", [0, 2])
def test_a_dead_rank(tmp_path: Path, victim: int) -> None:
    """The launcher notices, the other ranks end, and a restart uses the saved data."""
    case, out = write_case(tmp_path, {**CASE, "time.steps": ENDLESS}), tmp_path / "out"
    process = start(["run", case], 3)
    wait_until(lambda: len(checkpoints(out)) == 2, "two checkpoints")
    ranks = sorted(descendants(process.pid))
    assert len(ranks) == 3
    os.kill(ranks[victim], signal.SIGKILL)
    outcome = finish(process, timeout=30)
    assert outcome.code != 0
    saved = newest_step(out)
    assert saved > 0
    outcome = assert_goes_on(case, out, saved + 20, tmp_path / "elsewhere", ranks=3)
    assert "Restarted from" in outcome.out
    assert record(out)["started_from"].endswith(f"{saved:07d}.h5")


@pytest.mark.parametrize("ranks", [0, 2])
def test_output_directory_removed_during_the_run(tmp_path: Path, ranks: int) -> None:
    """The run can no longer save anything: it reports that and ends instead of computing on."""
    case, out = write_case(tmp_path, {**CASE, "time.steps": ENDLESS}), tmp_path / "out"
    process = start(["run", case], ranks)
    wait_until(lambda: checkpoints(out), "a checkpoint")
    out.rename(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone", ignore_errors=True)
    outcome = must(finish(process, timeout=30), 4)
    assert str(out) in outcome.err
    assert outcome.err.count("sluice: ") == 1
