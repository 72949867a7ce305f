"""Notebooks of the documentation: how they are stored, and what they show when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).parents[2] / "docs"


def require_no_outputs(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def run_notebook(path: Path, folder: Path) -> tuple[str, list[Any]]:
    """Runs all cells in a folder, with the environment of this process; returns the text and the outputs."""
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=100, resources={"metadata": {"path": folder}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs), outputs


def count_figures(outputs: list[Any]) -> int:
    return sum("image/png" in output.get("data", {}) for output in outputs)


def number_after(text: str, label: str) -> float:
    """The number that follows the last of such a label."""
    return float(text.split(label)[-1].split()[0].rstrip(","))
