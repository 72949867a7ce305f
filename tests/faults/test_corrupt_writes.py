"""A disk that stores something else than was written: the old file is kept, and no damaged one takes a name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sluice_run import must, sluice, write_case

CHOSEN = {  # the bytes of one write: the sums of a profile in one block; u in the plane z = 0.1; coordinates
    "statistics.h5": 32 * 8,
    "slices/parts/z0.1_": 12 * 16 * 8,
    "probes/parts/line_": 16 * 8,
}


@pytest.mark.parametrize("name", CHOSEN)
def test_files_that_read_back_wrong_are_dropped(tmp_path: Path, name: str) -> None:
    library = os.environ.get("SLUICE_CORRUPT_WRITES", "")
    assert library, "SLUICE_CORRUPT_WRITES does not name the library corrupt_writes"
    case, out = write_case(tmp_path, {"time.steps": 12}), tmp_path / "out"
    must(sluice("run", case, "--steps", 1))
    before = {file: file.read_bytes() for file in out.rglob("*.h5") if name in str(file)}
    env = {"LD_PRELOAD": library, "SLUICE_CORRUPT_PATH": f"{out}/{name}", "SLUICE_CORRUPT_BYTES": str(CHOSEN[name])}
    told = must(sluice("run", case, "--restart", "auto", env=env), 4).err
    assert f"{out}/{name}" in told
    assert "the file was written, but reads back wrong" in told
    assert not list(out.rglob(f"{Path(name).name}*.tmp"))
    for file, content in before.items():
        assert file.read_bytes() == content
    must(sluice("verify", out))
