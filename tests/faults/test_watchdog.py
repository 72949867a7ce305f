"""A job that hangs ends with exit code 6 and says what each rank waits in; one that was merely halted goes on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from sluice_run import (
    ENDLESS,
    assert_goes_on,
    checkpoints,
    descendants,
    finish,
    must,
    rows,
    start,
    step_of,
    wait_until,
    write_case,
)

LIMIT = 2  # seconds

# Few outputs: a slow disk must not make one of them last as long as the limit.
CASE = {
    "time.steps": ENDLESS,
    "output.timeseries": {"every": 1},
    "output.checkpoint": {"every": 4, "keep": 2},
    "output.statistics": "none",
    "output.slices": [],
    "output.probes": [],
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
    "watchdog": LIMIT,
}


def halt(pids: Iterable[int], seconds: float) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def assert_hangs(process: subprocess.Popen[str], out: Path, reporting: int, limit: float = LIMIT) -> str:
    """The job ends with exit code 6, and exactly this rank says where it is, after `limit` seconds.

    Returns what the rank says.
    """
    ranks = descendants(process.pid)
    outcome = must(finish(process, timeout=30), 6)
    wait_until(lambda: not any(Path(f"/proc/{rank}").exists() for rank in ranks), "the end of all ranks")
    lines = re.findall(r"sluice: watchdog: rank (\d) of \d \(host .*, process \d+\): (.*)", outcome.err)
    # To end the stopped rank, mpirun lets it go on first: it may then still say that the one that reported has ended.
    ended = re.compile(rf"rank {reporting} \(process \d+\) has ended$")
    lines = lines[:1] + [line for line in lines[1:] if not ended.search(line[1])]
    assert [int(rank) for rank, _ in lines] == [reporting], outcome.err
    assert "the run hangs" in outcome.err
    if (out / "log.txt").exists():
        log = (out / "log.txt").read_text()
        assert lines[0][1] in log or "the run hangs" in log
    waited = re.search(r", for (\d+\.\d) s\b", lines[0][1])
    assert waited is not None and float(waited[1]) >= limit
    return str(lines[0][1])


@pytest.mark.parametrize("victim", [0, 1])
def test_a_stopped_rank(tmp_path: Path, victim: int) -> None:
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    process = start(["run", case], 2)
    wait_until(lambda: checkpoints(out), "a checkpoint")
    pid = sorted(descendants(process.pid))[victim]
    os.kill(pid, signal.SIGSTOP)
    text = assert_hangs(process, out, 1 - victim)
    assert re.match(r"(step|output of \w+ at step) \d+", text)
    assert f"rank {victim} (process {pid}) is stopped by a signal" in text
    saved = step_of(checkpoints(out)[-1])
    assert_goes_on(case, out, saved + 5, tmp_path / "elsewhere", ranks=2)


def test_a_rank_stopped_at_the_start(tmp_path: Path) -> None:
    """The start may take ten times as long as a step."""
    changes = {"grid.cells": [64, 64, 96], "parallel": {"grid": "auto", "exchange": "auto"}, "watchdog": LIMIT / 5}
    out = tmp_path / "out"
    process = start(["run", write_case(tmp_path, {**CASE, **changes})], 2)
    wait_until((out / "log.txt").exists, "the measurement of layouts", interval=1e-3)
    time.sleep(0.1)
    os.kill(max(descendants(process.pid)), signal.SIGSTOP)
    assert "measurement of layouts" in assert_hangs(process, out, 0, 10 * LIMIT / 5)


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_halted_job_goes_on(tmp_path: Path, ranks: int) -> None:
    """As when a laptop sleeps or a batch system suspends a job, for a shorter or a longer time than the limit."""
    out = tmp_path / "out"
    process = start(["run", write_case(tmp_path, {**CASE, "output.checkpoint": "none"})], ranks)
    wait_until((out / "timeseries.csv").exists, "the first steps")
    wait_until(lambda: rows(out).size > 5, "the first steps")
    for seconds in (LIMIT / 2, 2 * LIMIT):
        halt([*descendants(process.pid), *([process.pid] if ranks == 0 else [])], seconds)
        size = (out / "timeseries.csv").stat().st_size
        grown = partial(lambda size: (out / "timeseries.csv").stat().st_size > size + 1000, size)
        wait_until(grown, "more steps")
    process.send_signal(signal.SIGUSR1)
    assert "watchdog" not in must(finish(process)).err


def test_an_output_that_blocks(tmp_path: Path) -> None:
    case, out, sign = write_case(tmp_path, CASE), tmp_path / "out", tmp_path / "block"
    shim = {"LD_PRELOAD": os.environ.get("SLUICE_BLOCK_FSYNC", ""), "SLUICE_BLOCK_IF": str(sign)}
    process = start(["run", case], env=shim)
    wait_until(lambda: checkpoints(out), "a checkpoint")
    sign.touch()
    assert "output of checkpoints at step" in assert_hangs(process, out, 0)
    saved = step_of(checkpoints(out)[-1])
    assert_goes_on(case, out, saved + 5, tmp_path / "elsewhere")


def test_switched_off(tmp_path: Path) -> None:
    process = start(["run", write_case(tmp_path, {**CASE, "watchdog": "off"})], 2)
    wait_until(lambda: checkpoints(tmp_path / "out"), "a checkpoint")
    halt([max(descendants(process.pid))], 2 * LIMIT)
    process.send_signal(signal.SIGUSR1)
    assert "watchdog" not in must(finish(process)).err
