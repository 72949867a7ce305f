"""A disk that stores something else than was written: the old file is kept."""

from __future__ import annotations

import os
from pathlib import Path

from sluice_run import must, sluice, write_case

# The sums of one profile over the 32 cells along z, in one block.
CORRUPT = {
    "LD_PRELOAD": os.environ.get("SLUICE_CORRUPT_WRITES", ""),
    "SLUICE_CORRUPT_PATH": "statistics.h5.tmp",
    "SLUICE_CORRUPT_BYTES": str(32 * 8),
}


def test_statistics_that_read_back_wrong_are_dropped(tmp_path: Path) -> None:
    assert CORRUPT["LD_PRELOAD"], "SLUICE_CORRUPT_WRITES does not name the library corrupt_writes"
    case = write_case(tmp_path, {"time.steps": 12})
    must(sluice("run", case, "--steps", 1))
    statistics = tmp_path / "out" / "statistics.h5"
    before = statistics.read_bytes()
    told = must(sluice("run", case, "--restart", "auto", env=CORRUPT), 4).err
    assert "statistics.h5: the file was written, but reads back wrong" in told
    assert not list(tmp_path.rglob("statistics.h5.tmp"))
    assert statistics.read_bytes() == before
