"""Clean stops: the request is served, and the run continues as if it had never stopped."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sluice_run import (
    ENDLESS,
    QUICK_START,
    assert_goes_on,
    assert_same_results,
    checkpoints,
    command,
    content,
    finish,
    must,
    record,
    rows,
    sluice,
    start,
    start_as_users_do,
    step_of,
    wait_until,
    write_case,
)

CASE = {
    "time.steps": ENDLESS,
    "output.checkpoint": {"every": 1000, "keep": 5},
    "output.timeseries": {"every": 3},
    "output.statistics": {"start": 0.5, "every": 3, "block": 1.5},
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
}
RANKS = [0, 2]
MORE = 20  # steps after the stop


def under_way(folder: Path, ranks: int, *options: object) -> subprocess.Popen[str]:
    """A run that has taken some steps."""
    process = start(["run", write_case(folder, CASE), *options], ranks)
    wait_until(
        lambda: (
            (folder / "out" / "timeseries.csv").exists()
            and (folder / "out" / "timeseries.csv").read_text().count("\n") > 4
        ),
        "the run's first rows",
    )
    return process


def ask_for_stop_file(process: subprocess.Popen[str], out: Path) -> None:
    (out / "STOP").write_text("")


def ask_by_signal(number: signal.Signals) -> Callable[[subprocess.Popen[str], Path], None]:
    """Sends the signal to the program, or to mpirun, which forwards it."""
    return lambda process, out: process.send_signal(number)


ASKS = {
    "file": (ask_for_stop_file, "STOP"),
    "USR1": (ask_by_signal(signal.SIGUSR1), "signal"),
    "TERM": (ask_by_signal(signal.SIGTERM), "signal"),
    "INT": (ask_by_signal(signal.SIGINT), "signal"),
    "HUP": (ask_by_signal(signal.SIGHUP), "signal"),
}


@pytest.mark.parametrize(
    ("how", "ranks"), [("file", 0), ("file", 2), ("USR1", 0), ("USR1", 2), ("TERM", 0), ("INT", 0), ("HUP", 0)]
)
def test_stop_on_request_and_go_on(tmp_path: Path, how: str, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    start_as_users_do(monkeypatch)
    ask, reason = ASKS[how]
    out = tmp_path / "out"
    process = under_way(tmp_path, ranks)
    ask(process, out)
    outcome = must(finish(process, timeout=10))
    assert not (out / "STOP").exists()
    assert reason in record(out)["why_stopped"]
    assert reason in outcome.out
    acknowledged = [line for line in outcome.err.splitlines() if "received" in line]
    expected = f"SIG{how} received: stopping after this step with a checkpoint"
    assert acknowledged == ([] if how == "file" else [expected])
    step = record(out)["step"]
    assert step > 0
    assert [step_of(file) for file in checkpoints(out)] == [step]
    assert rows(out)["step"][-1] == step

    if how in ("TERM", "INT", "HUP"):  # a signal like USR1: what follows is the same
        return
    assert_goes_on(tmp_path / "case.yaml", out, step + MORE, tmp_path / "elsewhere", ranks=ranks)
    assert [run["step"] for run in record(out)["runs"]] == [step, step + MORE]


@pytest.mark.parametrize("presses", [1, 2])
def test_interrupts_at_a_terminal(tmp_path: Path, presses: int) -> None:
    """The first is acknowledged while the checkpoint, which is blocked here, is not there; the second ends the run."""
    terminal, stdin = pty.openpty()
    sign = tmp_path / "out" / "blocked"
    process = subprocess.Popen(
        command(["run", write_case(tmp_path, CASE)]),
        env={**os.environ, **QUICK_START, **block_fsync_while(sign)},
        text=True,
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        wait_until((tmp_path / "out" / "timeseries.csv").exists, "the first steps")
        sign.touch()
        process.send_signal(signal.SIGINT)
        assert process.stderr
        assert process.stderr.readline() == (
            "SIGINT received: stopping after this step with a checkpoint; "
            "press Ctrl-C again to stop at once, without one\n"
        )
        if presses == 2:
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == -signal.SIGINT
        else:
            sign.unlink()
            must(finish(process))
        assert len(checkpoints(tmp_path / "out")) == 2 - presses
    finally:
        process.kill()
        os.close(terminal)
        os.close(stdin)


def test_terminated_launcher_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open MPI ends its ranks soon after SIGTERM: they may save a checkpoint; a restart works in any case."""
    start_as_users_do(monkeypatch)
    process = under_way(tmp_path, 2)
    process.send_signal(signal.SIGTERM)
    finish(process)
    out = tmp_path / "out"
    saved = step_of(checkpoints(out)[-1]) if checkpoints(out) else 0
    assert_goes_on(tmp_path / "case.yaml", out, saved + MORE, tmp_path / "elsewhere", ranks=2)


def ask_for_checkpoint_file(process: subprocess.Popen[str], out: Path) -> None:
    (out / "CHECKPOINT").write_text("")


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("ask", [ask_for_checkpoint_file, ask_by_signal(signal.SIGUSR2)], ids=["file", "USR2"])
def test_checkpoint_on_request(tmp_path: Path, ranks: int, ask: Callable[[subprocess.Popen[str], Path], None]) -> None:
    out = tmp_path / "out"
    process = under_way(tmp_path, ranks)
    ask(process, out)
    wait_until(lambda: checkpoints(out), "the checkpoint asked for")
    process.send_signal(signal.SIGUSR1)
    must(finish(process))
    steps = [step_of(file) for file in checkpoints(out)]
    assert len(steps) == 2
    assert steps[0] < steps[1] == record(out)["step"]
    assert not (out / "CHECKPOINT").exists()
    case, elsewhere, end = tmp_path / "case.yaml", tmp_path / "elsewhere", steps[1] + MORE
    assert_goes_on(case, out, end, elsewhere, ranks=ranks)

    # The requested checkpoint is as good as any.
    assert_goes_on(case, out, end, elsewhere, checkpoints(out)[0], ranks)


@pytest.mark.parametrize("ranks", RANKS)
def test_walltime(tmp_path: Path, ranks: int) -> None:
    """The run goes on as long as two more steps and a checkpoint, at first estimated as 0.2 s, fit."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    outcome = must(sluice("run", case, "--walltime", "0:00:02", ranks=ranks))
    ended = record(out)
    assert "wall-time limit reached" in ended["why_stopped"]
    assert "wall-time limit reached" in outcome.out
    assert [step_of(file) for file in checkpoints(out)] == [ended["step"]]
    average_step = ended["stepping_seconds"] / max(1, ended["steps_taken"])
    assert ended["wall_seconds"] + 2 * average_step + 0.4 > 2


def block_fsync_while(sign: Path) -> dict[str, str]:
    """The environment in which fsync does not return while the file exists."""
    return {"LD_PRELOAD": os.environ["SLUICE_BLOCK_FSYNC"], "SLUICE_BLOCK_IF": str(sign)}


@pytest.mark.parametrize("ranks", RANKS)
def test_walltime_counts_from_the_start_of_the_program(tmp_path: Path, ranks: int) -> None:
    """A start that takes longer, here until the lock is on disk, leaves time for no step."""
    case, out, sign = write_case(tmp_path, CASE), tmp_path / "out", tmp_path / "sign"
    sign.touch()
    process = start(["run", case, "--walltime", "0:00:01"], ranks, env=block_fsync_while(sign))
    wait_until((out / "lock").exists, "the lock")
    time.sleep(1)
    sign.unlink()
    must(finish(process))
    assert "wall-time limit reached" in record(out)["why_stopped"]
    assert [step_of(file) for file in checkpoints(out)] == [0]


@pytest.mark.parametrize("ranks", RANKS)
def test_walltime_includes_the_last_checkpoint(tmp_path: Path, ranks: int) -> None:
    """The first takes more than a second, and 1.5 times as long is kept free for the last: there are no more steps.

    One process takes the next step beside the first checkpoint, and waits for it before it writes the second.
    """
    case = write_case(tmp_path, {**CASE, "output.checkpoint": {"every": 1e-6, "keep": 5}})
    out = tmp_path / "out"
    first = out / "checkpoints" / "step_0000001.h5"
    process = start(["run", case, "--walltime", "2.5"], ranks, env=block_fsync_while(first))
    wait_until(lambda: first.exists() or process.poll() is not None, "the first checkpoint")
    if first.exists():  # else the start took all the time
        time.sleep(1.01)
        first.rename(tmp_path / "kept.h5")
    must(finish(process))
    assert "wall-time limit reached" in record(out)["why_stopped"]
    assert record(out)["step"] <= (1 if ranks else 2)


def test_walltime_in_the_case(tmp_path: Path) -> None:
    case = write_case(tmp_path, {**CASE, "walltime": "00:00:01"})
    must(sluice("run", case))
    assert "wall-time limit reached" in record(tmp_path / "out")["why_stopped"]


def test_pieces_by_walltime_end_as_one_run(tmp_path: Path) -> None:
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    ends, seconds = [0], 1
    while len(ends) < 3:
        must(sluice("run", case, "--restart", "auto", "--walltime", seconds))
        if record(out)["step"] > ends[-1]:
            ends.append(record(out)["step"])
        else:
            seconds *= 2  # on a busy machine the start took all the time
    assert_goes_on(case, out, ends[-1] + MORE, tmp_path / "elsewhere")


def test_fresh_start_with_restart_auto(tmp_path: Path) -> None:
    """Job scripts always pass --restart auto, although the first run has nothing to restart from."""
    case = write_case(tmp_path, {"time.steps": 5})
    must(sluice("run", case, "--restart", "auto"))
    assert record(tmp_path / "out")["started_from"] == "initial field"
    must(sluice("run", case, "--restart", "auto", "--steps", 7))
    assert record(tmp_path / "out")["started_from"].endswith("step_0000005.h5")


def test_no_steps_at_all(tmp_path: Path) -> None:
    """--steps 0 saves the initial field; a run from it equals a direct run."""
    case = write_case(tmp_path)
    must(sluice("run", case, "--output", tmp_path / "once"))
    must(sluice("run", case, "--steps", 0))
    assert [step_of(file) for file in checkpoints(tmp_path / "out")] == [0]
    must(sluice("run", case, "--restart", "auto"))
    assert content(checkpoints(tmp_path / "once")[-1]).keys() == content(checkpoints(tmp_path / "out")[-1]).keys()
    assert_same_results(tmp_path / "once", tmp_path / "out")
