"""The example that trains a control, on a tiny flow; where PyTorch is installed."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from gym_case import CACHE

EXAMPLE = Path(__file__).parents[1] / "examples" / "train_ppo.py"


def test_the_example_learns_from_a_tiny_flow(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    pytest.importorskip("torch")
    results = tmp_path / "ppo.json"
    arguments = ["--cpu", "--updates", "2", "--decisions", "3", "--cache", str(CACHE), "--output", str(results)]
    assert runpy.run_path(str(EXAMPLE))["main"](arguments) == 0
    found = json.loads(results.read_text())
    assert list(found["results"]) == ["learned", "opposition"] and len(found["history"]) == 2
    assert np.isfinite([one["mean"] for one in found["results"].values()]).all()
