"""The notebook of the tutorial runs from beginning to end, with the program under test, and shows what it says."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from notebooks import FOLDER, count_figures, number_after, require_no_outputs, run_notebook
from sluice_run import BINARY, QUICK_START

pytest.importorskip("xarray")
pytest.importorskip("h5netcdf")
pytest.importorskip("sluice_post")

NOTEBOOK = FOLDER / "tutorial.ipynb"


def test_the_notebook_is_stored_without_outputs() -> None:
    require_no_outputs(NOTEBOOK)


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = shutil.which(BINARY)
    assert program is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sluice").symlink_to(program)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for name, value in QUICK_START.items():
        monkeypatch.setenv(name, value)
    text, outputs = run_notebook(NOTEBOOK, tmp_path)
    assert "end time or step reached" in text
    assert 150 < number_after(text, "Re_tau = ") < 220
    assert 7 < number_after(text, "at z+ = ") < 15  # the peak of the production
    assert count_figures(outputs) == 4
