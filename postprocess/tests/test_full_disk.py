"""Files are HDF5 in whole or not there: a disk that is full at any time gives a message and leaves nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import opened_runs
import pytest
import synthetic
import test_stored_modes
from test_fields import rough_checkpoint
from test_merge import FLOW, blocks_of

from sluice_post import layout
from sluice_post.cli import main

PACKAGE = Path(__file__).parents[1] / "sluice_post"

FULL = """
import resource, sys
from sluice_post.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
raise SystemExit(main(sys.argv[2:]))
"""


# Of each command that writes HDF5: what makes its input in the folder {}, its words and the file.
COMMANDS = {
    "fields": (lambda run: rough_checkpoint(run / "c.h5"), "fields {0}/c.h5 -o {0}/new/f.h5", "f.h5"),
    "merge": (
        lambda run: synthetic.write_statistics(run / "statistics.h5", FLOW, blocks_of(5, 1)),
        "merge {0} -o {0}/new",
        "statistics.h5",
    ),
    "modes": (
        lambda run: test_stored_modes.write_slice(run, "y1.5", test_stored_modes.random_fields()),
        "modes {0} --rank 3 -o {0}/new/m.nc",
        "m.nc",
    ),
    "convert": (
        opened_runs.write_spectra_run,
        "convert {0} --format lee-moser -o {0}/new",
        layout.LEE_MOSER_SPECTRA_FILE,
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_leaves_nothing(command: str, tmp_path: Path) -> None:
    """The limit on the size of files is reached at the start, in the midst and at the end of the file."""
    write, text, name = COMMANDS[command]
    write(tmp_path)
    words, path = text.format(tmp_path).split(), tmp_path / "new" / name
    assert main(words) == 0
    size = path.stat().st_size
    others = {item.name for item in path.parent.iterdir() if item.suffix not in (".h5", ".nc", ".xdmf")}
    for limit in (100, size // 2, size - 1):
        path.unlink(missing_ok=True)
        if command == "convert" and limit == 100:
            continue  # its texts are larger
        done = subprocess.run([sys.executable, "-c", FULL, str(limit), *words], capture_output=True, text=True)
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
