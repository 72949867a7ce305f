"""The notebook of the tutorial runs from beginning to end, with the program under test, and shows what it says."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from sluice_run import BINARY, QUICK_START

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("xarray")
pytest.importorskip("h5netcdf")
pytest.importorskip("sluice_post")

NOTEBOOK = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"
FIGURES = 4


def test_the_notebook_is_stored_without_outputs() -> None:
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = shutil.which(BINARY)
    assert program is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sluice").symlink_to(program)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for name, value in QUICK_START.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=100, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.get("text", "") for output in outputs)
    assert "end time or step reached" in text
    re_tau = float(text.split("Re_tau = ")[1].split()[0])
    assert 150 < re_tau < 220
    assert 7 < float(text.split("at z+ = ")[-1].split()[0]) < 15  # the peak of the production
    images = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(images) == FIGURES
