"""Runs the program with system calls that fail, are cut short or kill it (fault_at_call.cpp)."""

from __future__ import annotations

import os
from pathlib import Path


def fault(
    fault: str | int, calls: str, path: Path | str, number: int, mark: Path | None = None, rank: int | None = None
) -> dict[str, str]:
    """The environment in which one call, or with number 0 each, has the fault: kill, short or an error number.

    On every rank, or on one.
    """
    return {
        "LD_PRELOAD": os.environ["SLUICE_FAULT_AT_CALL"],
        "SLUICE_FAULT": str(fault),
        "SLUICE_FAULT_CALL": calls,
        "SLUICE_FAULT_PATH": str(path),
        "SLUICE_FAULT_NUMBER": str(number),
        "SLUICE_FAULT_MARK": str(mark or ""),
        "SLUICE_FAULT_RANK": "" if rank is None else str(rank),
    }
