"""Signals at awkward moments: no run dies of one without its checkpoint."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from sluice_run import (
    ENDLESS,
    assert_goes_on,
    checkpoints,
    descendants,
    finish,
    must,
    record,
    rows,
    start,
    step_of,
    wait_until,
    write_case,
)

CASE = {
    "time.steps": ENDLESS,
    "output.log": {"every": 1},
    "output.timeseries": {"every": 1},
    "output.checkpoint": {"every": 1000, "keep": 2},
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
}
STOPS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1]


def close_output(process: subprocess.Popen[str]) -> None:
    """As `| head -1` does."""
    assert process.stdout
    assert process.stdout.readline()
    process.stdout.close()


def assert_stopped_by_signal(process: subprocess.Popen[str], out: Path) -> None:
    must(finish(process, timeout=30))
    assert record(out)["why_stopped"] == "stop requested by signal"
    assert step_of(checkpoints(out)[-1]) == record(out)["step"]


def test_nobody_reads_the_output(tmp_path: Path) -> None:
    """`sluice run | head`: the run goes on to its end, and the log file is complete."""
    steps = 200
    case, out = write_case(tmp_path, {**CASE, "time.steps": steps}), tmp_path / "out"
    process = start(["run", case])
    close_output(process)
    assert process.wait(timeout=60) == 0
    log = (out / "log.txt").read_text()
    assert f"step {steps:7d}" in log
    assert "Stopped at step" in log
    assert rows(out)["step"][-1] == steps


def test_nobody_reads_the_launchers_output(tmp_path: Path) -> None:
    """Open MPI then ends its ranks with SIGTERM: they may save a checkpoint; a restart works in any case."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    process = start(["run", case], 2)
    wait_until((out / "timeseries.csv").exists, "the first steps")
    close_output(process)
    process.wait(timeout=60)
    saved = step_of(checkpoints(out)[-1]) if checkpoints(out) else 0
    assert_goes_on(case, out, saved + 5, tmp_path / "elsewhere", ranks=2)


@pytest.mark.parametrize("number", STOPS)
def test_signal_during_start_up(tmp_path: Path, number: signal.Signals) -> None:
    """It is served before the first step: the initial field is saved, and the run can be continued from it."""
    case, out = write_case(tmp_path, {**CASE, "grid.cells": [64, 64, 96]}), tmp_path / "out"
    process = start(["run", case])
    wait_until((out / "lock").exists, "the start of the run", interval=1e-4)
    process.send_signal(number)
    assert_stopped_by_signal(process, out)
    assert record(out)["step"] <= 1


def test_signal_during_the_measurement_of_layouts(tmp_path: Path) -> None:
    changes = {"grid.cells": [48, 48, 64], "parallel": {"grid": "auto", "exchange": "auto"}}
    case, out = write_case(tmp_path, {**CASE, **changes}), tmp_path / "out"
    process = start(["run", case], 2)
    wait_until((out / "log.txt").exists, "the start of the measurement", interval=1e-3)
    time.sleep(0.1)
    process.send_signal(signal.SIGUSR1)  # mpirun forwards it
    assert_stopped_by_signal(process, out)
    end = record(out)["step"] + 3
    assert_goes_on(case, out, end, tmp_path / "elsewhere", ranks=2)


@pytest.mark.parametrize("number", STOPS)
def test_the_same_signal_again_and_again(tmp_path: Path, number: signal.Signals) -> None:
    """Until the process has ended: not one of them may kill it or change its exit code."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    process = start(["run", case])
    wait_until((out / "timeseries.csv").exists, "the first steps")
    end = time.monotonic() + 30
    while process.poll() is None:
        assert time.monotonic() < end
        process.send_signal(number)
        time.sleep(2e-4)
    assert_stopped_by_signal(process, out)


@pytest.mark.parametrize("number", STOPS)
def test_a_signal_to_one_rank_stops_all(tmp_path: Path, number: signal.Signals) -> None:
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    process = start(["run", case], 2)
    wait_until((out / "timeseries.csv").exists, "the first steps")
    os.kill(max(descendants(process.pid)), number)
    assert_stopped_by_signal(process, out)


def ignore_hangup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_nohup(tmp_path: Path) -> None:
    """A run that was started to ignore SIGHUP goes on."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    process = start(["run", case], preexec=ignore_hangup)
    wait_until((out / "timeseries.csv").exists, "the first steps")
    process.send_signal(signal.SIGHUP)
    before = len((out / "timeseries.csv").read_text().splitlines())
    wait_until(lambda: len((out / "timeseries.csv").read_text().splitlines()) > before + 50, "more steps")
    (out / "STOP").touch()
    must(finish(process))
    assert "STOP" in record(out)["why_stopped"]
