"""Files are HDF5 in whole or not there: a disk that is full at any time gives a message and leaves nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import opened_runs
import pytest
import test_merge
import test_stored_modes
from test_fields import rough_checkpoint

from sluice_post import layout
from sluice_post.cli import main

PACKAGE = Path(__file__).parents[1] / "sluice_post"

FULL = """
import resource, sys
from sluice_post.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
raise SystemExit(main(sys.argv[2:]))
"""


def commands(directory: Path, new: Path) -> dict[str, tuple[list[object], Path]]:
    """Commands that write HDF5, with the file."""
    return {
        "fields": (["fields", directory / "c.h5", "-o", new / "f.h5"], new / "f.h5"),
        "merge": (["merge", directory, "-o", new], new / "statistics.h5"),
        "modes": (["modes", directory, "--rank", "3", "-o", new / "m.nc"], new / "m.nc"),
        "convert": (["convert", directory, "--format", "lee-moser", "-o", new], new / layout.LEE_MOSER_SPECTRA_FILE),
    }


def write(command: str, directory: Path) -> None:
    if command == "fields":
        rough_checkpoint(directory / "c.h5")
    elif command == "merge":
        blocks = test_merge.blocks_of(5, 1)
        test_merge.synthetic.write_statistics(directory / "statistics.h5", test_merge.FLOW, blocks)
    elif command == "modes":
        pytest.importorskip("h5netcdf")
        test_stored_modes.write_slice(directory, "y1.5", test_stored_modes.random_fields())
    else:
        opened_runs.write_spectra_run(directory)


@pytest.mark.parametrize("command", commands(Path(), Path()))
def test_a_full_disk_leaves_nothing(command: str, tmp_path: Path) -> None:
    """The limit on the size of files is reached at the start, in the midst and at the end of the file."""
    write(command, tmp_path)
    words, path = commands(tmp_path, tmp_path / "new")[command]

    def run(limit: int) -> subprocess.CompletedProcess[str]:
        script = [sys.executable, "-c", FULL, str(limit), *map(str, words)]
        return subprocess.run(script, capture_output=True, text=True)

    assert main(list(map(str, words))) == 0
    size = path.stat().st_size
    others = {item.name for item in path.parent.iterdir() if item.suffix not in (".h5", ".nc", ".xdmf")}
    for limit in (100, size // 2, size - 1):
        path.unlink(missing_ok=True)
        if command == "convert" and limit == 100:
            continue  # its texts are larger
        done = run(limit)
        assert done.returncode == 4, (limit, done.stderr)
        assert "cannot be written (" in done.stderr and "Traceback" not in done.stderr
        left = {item.name for item in path.parent.iterdir() if item.suffix != ".xdmf"}
        assert path.name not in left and not any(name.endswith((".tmp", ".part")) for name in left)
        assert others <= left


def test_every_writer_works_in_a_child() -> None:
    for source in PACKAGE.rglob("*.py"):
        text = source.read_text()
        if re.search(r'h5py\.File\([^)]*"[wa]|to_netcdf\(', text):
            assert re.search(r"in_child\(|write_whole\(", text), source
