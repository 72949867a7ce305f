"""Whether a run goes on, and how it ended."""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from sluice_post import layout
from sluice_post.inputs import open_regular, read_text
from sluice_post.run import read_provenance

# What run.json has as why_stopped (docs/file-formats.md) unless it is the message of an error.
CLEAN_ENDS = (
    "end time or step reached",
    "stop requested by signal",
    "stop requested by file STOP",
    "wall-time limit reached",
    "statistics reach time.until",
)

_HOLDER = re.compile(r"process (\d+) on host (\S+) since ")
_FLOCK = struct.Struct("hhqqi4x")  # type, whence, start, length, process


class State(Enum):
    """What a run is doing."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"
    KILLED = "killed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Status:
    """The state, and a sentence about it."""

    state: State
    text: str


def lock_holder(directory: Path) -> str:
    """The process, host and start of the run that holds the lock of a directory; empty if none does.

    Takes no lock: Sluice's are those of open files (src/run/output_lock.cpp), which only Linux has.
    """
    if sys.platform != "linux":
        return ""
    import fcntl  # which Windows does not have

    try:
        with open_regular(directory / layout.LOCK_FILE) as file:
            asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind = _FLOCK.unpack(fcntl.fcntl(file, fcntl.F_OFD_GETLK, asked))[0]
            return "" if kind == fcntl.F_UNLCK else file.read(512).decode(errors="replace").strip() or "a run"
    except OSError:
        return ""


def read_record(directory: Path) -> dict[str, Any]:
    """run.json; empty if there is none that can be read."""
    return read_provenance(directory / layout.RUN_FILE, [])


def _with_readable_time(text: str) -> str:
    """2026-11-23T20:42:09Z becomes 2026-11-23 20:42:09 UTC."""
    return re.sub(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z", r"\1 \2 UTC", text)


def _without_end(directory: Path, last_step: int | None, growing: bool) -> Status:
    """Neither is a lock seen nor an end recorded. File locks may not work, and may not be seen from other hosts."""
    try:
        found = _HOLDER.match(read_text(directory / layout.LOCK_FILE, errors="replace"))
    except OSError:
        found = None
    process, host = found.groups() if found is not None else ("", "")
    by = f"process {process} on host {host}" if process else "a run"
    gone = host == socket.gethostname() and not Path(f"/proc/{process}").exists()
    if growing and not gone:
        return Status(State.RUNNING, f"Rows are being written by {by}, whose lock is not seen from here.")
    if process and not gone:
        return Status(
            State.UNKNOWN,
            "No end is recorded, nothing has been written lately, and no lock is seen from here: the run may still go "
            f"on. Check {by} before you start another run in this directory.",
        )
    if last_step is None:
        return Status(State.KILLED, "Not running, and no step is recorded: the run was killed at its start.")
    return Status(
        State.KILLED,
        f"Not running, and {layout.RUN_FILE} has no end at step {last_step}: the run was killed. "
        "It continues with --restart auto.",
    )


def find_status(
    directory: Path, record: dict[str, Any], last_step: int | None, growing: bool, restarted: bool
) -> Status:
    """`last_step`: of the time series; `growing`: it or the log, lately; `restarted`: the latest start."""
    if holder := lock_holder(directory):
        how = "Restarted from a checkpoint; in use by " if restarted else "In use by "
        return Status(State.RUNNING, f"{how}{_with_readable_time(holder)}.")
    step, why = record.get("step"), str(record.get("why_stopped", ""))
    if last_step is None and not record and not (directory / layout.CASE_FILE).is_file():
        name = directory.resolve()
        if not directory.is_dir():
            return Status(State.WAITING, f"There is no directory {name} yet; the page begins when a run makes it.")
        return Status(State.WAITING, f"{name} holds no results yet; the page begins when a run starts in it.")
    if not isinstance(step, int) or (last_step is not None and step < last_step):
        return _without_end(directory, last_step, growing)
    when = _with_readable_time(str(record.get("ended", "at an unknown time")))
    if why in CLEAN_ENDS:
        return Status(State.ENDED, f"{why[0].upper()}{why[1:]}, {when}.")
    return Status(State.FAILED, f"At step {step}, {when}: {why or 'no reason is recorded'}")
