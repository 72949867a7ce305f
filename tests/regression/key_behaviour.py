"""Which tests show that a key of the case file does what the reference says; the small runs they use.

A test names its keys with `@shows("time.dt", ...)`; "walls.*.velocity" stands for both walls. test_keys_run.py
compares the names with the keys that the program has.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np
from sluice_run import checkpoints, must, sluice

Test = TypeVar("Test", bound=Callable[..., None])

# Key: the tests that show its effect.
SHOWN: dict[str, list[str]] = {}

# Wide cells along x and y and a uniform grid along z, on which quadratic profiles are exact.
SMALL_CASE: dict[str, Any] = {
    "flow": {"type": "channel", "reynolds": {"viscosity": 0.01}},
    "domain": {"size": ["2*pi", "pi", 2]},
    "grid": {"cells": [8, 6, 16], "stretching": {"type": "uniform"}},
    "time": {"steps": 3, "dt": 0.01},
    "initial": {"type": "laminar"},
    "output": {"timeseries": {"every": 1}, "checkpoint": "none"},
}

_folders = itertools.count()


def shows(*keys: str) -> Callable[[Test], Test]:
    """Marks a test that would fail if the program ignored one of these keys or misread its value."""

    def register(test: Test) -> Test:
        for key in keys:
            for wall in ["bottom", "top"] if "*" in key else [""]:
                SHOWN.setdefault(key.replace("*", wall), []).append(test.__name__)
        return test

    return register


def small_case(changes: Mapping[str, Any]) -> dict[str, Any]:
    """SMALL_CASE with keys such as "time.steps" changed; None removes a key."""
    case = copy.deepcopy(SMALL_CASE)
    for path, value in changes.items():
        *sections, name = path.split(".")
        node = case
        for section in sections:
            if not isinstance(node.get(section), dict):
                node[section] = {}
            node = node[section]
        if value is None:
            node.pop(name, None)
        else:
            node[name] = copy.deepcopy(value)
    return case


def run(folder: Path, changes: Mapping[str, Any], *args: object, ranks: int = 0, code: int = 0) -> Path:
    """Runs SMALL_CASE with changes, each time in a folder of its own, and returns the output folder."""
    place = folder / f"run{next(_folders)}"
    place.mkdir()
    (place / "case.yaml").write_text(json.dumps(small_case(changes)))
    outcome = must(sluice("run", place / "case.yaml", "--output", place / "out", *args, ranks=ranks), code)
    (place / "output.txt").write_text(outcome.text)
    return place / "out"


def field(out: Path, name: str) -> np.ndarray:
    """A field of the newest checkpoint, [z, y, x]."""
    with h5py.File(checkpoints(out)[-1]) as file:
        return np.asarray(file[name])


def line(out: Path, name: str) -> np.ndarray:
    """Coordinates of the grid: "x", "z_node" and so on."""
    return field(out, f"grid/{name}")


def volume_mean(out: Path, name: str) -> float:
    """Mean of a field at the centres, or at faces along x or y, over the volume."""
    heights = np.diff(line(out, "z_node"))
    return float(np.average(field(out, name).mean(axis=(1, 2)), weights=heights))


def middle(out: Path, name: str) -> float:
    """Mean of a field over the two planes in the middle, out of reach of the walls in a short run."""
    values = field(out, name)
    half = len(values) // 2
    return float(values[half - 1 : half + 1].mean())


def wall_w(out: Path, wall: str) -> np.ndarray:
    """w on a wall, [y, x]: stored for the top, from continuity for the bottom."""
    w = field(out, "w")
    if wall == "top":
        return w[-1]
    u, v = field(out, "u")[0], field(out, "v")[0]
    dx, dy, dz = (np.diff(line(out, f"{axis}_node"))[0] for axis in "xyz")
    return w[0] + dz * ((u - np.roll(u, 1, 1)) / dx + (v - np.roll(v, 1, 0)) / dy)
