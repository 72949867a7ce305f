"""FIFOs, directories and other files where a run expects its own; files that are removed or exchanged while it runs."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sluice_run import (
    ENDLESS,
    assert_same_results,
    checkpoints,
    finish,
    must,
    rows,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)

STEPS = 12  # of the whole case
REACHED = 8
CASE: dict[str, Any] = {
    "time.steps": STEPS,
    "time.cfl": None,
    "time.dt": 0.0625,
    "output.checkpoint": {"every": 0.25, "keep": 3},
    "output.timeseries": {"every": 1},
    "output.statistics": {"start": 0, "every": 1, "block": 0.125},
    "output.slices": [{"normal": "z", "at": 0.1, "every": 0.125, "fields": ["u"]}],
}
TIMEOUT = 20  # seconds; a program that waits for the other end of a FIFO runs for ever


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_directory(path: Path) -> None:
    path.mkdir()
    (path / "file").write_text("not empty")


def make_socket(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{folder}/{path.name}")
    os.close(folder)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


KINDS = {"a FIFO": make_fifo, "a directory": make_directory, "a socket": make_socket, "a device": make_device}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["timeseries.csv", "statistics.h5"])
def test_something_else_in_place_of_a_file(run: Path, name: str, kind: str) -> None:
    path = run / "out" / name
    path.unlink()
    KINDS[kind](path)
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", timeout=TIMEOUT), 3)
    assert f"{path}: cannot read: it is {kind}, not a regular file" in outcome.err
    assert path.is_fifo() or path.is_dir() or path.is_socket() or path.is_symlink()


@pytest.mark.parametrize("kind", KINDS)
def test_something_else_at_the_name_of_a_checkpoint(reference: Path, run: Path, kind: str) -> None:
    """It is passed over like a damaged one."""
    newest = checkpoints(run / "out")[-1]
    newest.unlink()
    KINDS[kind](newest)
    must(sluice("info", newest, timeout=TIMEOUT), 3)
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", timeout=TIMEOUT))
    assert f"passing over a checkpoint: {newest}: cannot read: it is {kind}" in outcome.out
    assert_same_results(reference, run / "out")


@pytest.mark.parametrize("kind", ["a FIFO", "a directory"])
def test_something_else_in_place_of_the_log(run: Path, kind: str) -> None:
    log = run / "out" / "log.txt"
    log.unlink()
    KINDS[kind](log)
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", timeout=TIMEOUT), 4)
    assert f"{log}: cannot open for writing: it is {kind}" in outcome.err


def test_a_request_that_cannot_be_removed_is_served_once(run: Path) -> None:
    """A directory that is not empty must not ask for a checkpoint again and again."""
    log = run / "out" / "log.txt"
    log.unlink()
    options = ["--restart", "auto", "--steps", ENDLESS, "--set", "output.checkpoint=none", "--walltime", "0:0:4"]
    process = start(["run", run / "case.yaml", *options])
    wait_until(lambda: log.exists() and "step      10 " in log.read_text(), "a few steps")
    make_directory(run / "out" / "CHECKPOINT")
    outcome = must(finish(process, timeout=TIMEOUT))
    assert outcome.out.count("Checkpoint at step") == 2  # the request and the end


def test_a_full_disk_under_the_log_does_not_stop_a_run(reference: Path, run: Path) -> None:
    log = run / "out" / "log.txt"
    log.unlink()
    log.symlink_to("/dev/full")
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto"))
    assert outcome.err.count(f"warning: {log}: cannot write: No space left on device") == 1
    assert "Stopped at step" in outcome.out
    assert_same_results(reference, run / "out")


def test_a_limit_on_the_size_of_the_log_does_not_stop_a_run(reference: Path, run: Path) -> None:
    log = run / "out" / "log.txt"
    limit = 1 << 22
    log.write_bytes(bytes(limit))

    def set_limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", preexec=set_limit))
    assert outcome.err.count(f"warning: {log}: cannot write: ") == 1
    assert_same_results(reference, run / "out")


def begin(folder: Path) -> subprocess.Popen[str]:
    """A run without end that has written files. A block of statistics takes half a second."""
    endless = {"time.steps": ENDLESS, "output.checkpoint": "none", "output.slices": []}
    statistics = {"output.statistics": {"start": 0, "every": 1, "block": 50}}
    process = start(["run", write_case(folder, {**CASE, **endless, **statistics})])
    series = folder / "out" / "timeseries.csv"
    wait_until(lambda: series.exists() and series.read_text().count("\n") > 5, "rows")
    return process


def remove(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name(path.name + ".kept"))


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def shorten(path: Path) -> None:
    os.truncate(path, 100)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        *((change, "timeseries.csv") for change in (remove, rename, replace, shorten)),
        (replace, "statistics.h5"),
        (shorten, "statistics.h5"),
    ],
)
def test_a_file_changed_during_the_run(tmp_path: Path, change: Callable[[Path], None], name: str) -> None:
    """The run ends, and leaves the other file as it is."""
    process = begin(tmp_path)
    path = tmp_path / "out" / name
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)  # the signal alone does not wait until it has stopped
    change(path)
    content = path.read_bytes() if path.exists() else b""
    process.send_signal(signal.SIGCONT)
    outcome = must(finish(process, TIMEOUT), 4)
    done = "removed or renamed" if change in (remove, rename) else "replaced or changed"
    assert f"{path}: the file was {done} while the run was writing it" in outcome.err
    left = path.read_bytes() if path.exists() else b""
    if change is shorten and path.suffix == ".csv":
        # Stopped between its check and its write, the program still adds that row.
        assert left.startswith(content) and left[len(content) :].count(b"\n") <= 1
    else:
        assert left == content


def test_a_time_series_that_is_put_back_goes_on(run: Path, reference: Path) -> None:
    """The restart after the error is exact."""
    path = run / "out" / "timeseries.csv"
    process = start(["run", run / "case.yaml", "--restart", "auto", "--steps", ENDLESS])
    wait_until(lambda: step_of(checkpoints(run / "out")[-1]) > REACHED, "a checkpoint")
    process.send_signal(signal.SIGSTOP)
    rename(path)
    process.send_signal(signal.SIGCONT)
    must(finish(process, TIMEOUT), 4)
    path.with_name(path.name + ".kept").rename(path)
    reached = step_of(checkpoints(run / "out")[-1])
    must(sluice("run", run / "case.yaml", "--restart", "auto", "--steps", reached + 2))
    whole = rows(run / "out")["step"].tolist()
    assert whole == list(range(1, reached + 3))
    begun = (reference / "timeseries.csv").read_text()
    assert path.read_text().startswith("".join(begun.splitlines(keepends=True)[: REACHED + 1]))


def test_statistics_that_are_removed_during_the_run_are_written_again(tmp_path: Path) -> None:
    process = begin(tmp_path)
    statistics = tmp_path / "out" / "statistics.h5"
    process.send_signal(signal.SIGSTOP)
    statistics.unlink()
    process.send_signal(signal.SIGCONT)
    wait_until(statistics.exists, "statistics")
    process.send_signal(signal.SIGTERM)
    outcome = must(finish(process, TIMEOUT))
    assert f"warning: {statistics}: the file was removed during the run and is written again" in outcome.out
    must(sluice("info", statistics))
    reached = step_of(checkpoints(tmp_path / "out")[-1])
    must(sluice("run", tmp_path / "case.yaml", "--restart", "auto", "--steps", reached + 1))
