#!/usr/bin/env python3
"""What a step costs from Python, beside one of `sluice run`: all take the same number of steps of one case, in turn.

usage: scripts/measure_python.py [--cells NX NY NZ] [--steps N] [--repeats N] [--program sluice]

sim.step             the case as it is
plane and wall       each step reads a plane of w and sets w of the bottom wall, on GPUs with CuPy
control, built in    opposition control of both walls by the case
control, Python      the same by two functions of Python, which leave the mean to Sluice
control, own mean    the same by two functions that use wall.mean

Needs the package `sluice` and the program of the same build. Prints medians, the range, and the ratio of the medians:
of the control in Python to the one that is built in, of the others to `sluice run`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy

import sluice
from sluice import _core

HEIGHT = 0.08
OUTPUT_OFF = ("output.slices=[]", "output.statistics=none", "output.timeseries.every=1000000")


def case_of(cells: Sequence[int]) -> sluice.Case:
    """A turbulent channel with that many cells along x, y and z."""
    case = sluice.Case("retau180")
    case["grid.cells"] = list(cells)
    return case


def seconds_of_program(program: str, cells: Sequence[int], steps: int) -> float:
    """Seconds of a step of `sluice run`, as run.json has them."""
    file = sluice.case.cases_folder() / "retau180" / "case.yaml"
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"grid.cells={list(cells)}", *OUTPUT_OFF]
        options = [word for setting in settings for word in ("--set", setting)]
        subprocess.run(
            [program, "run", file, *options, "--steps", str(steps), "--output", folder, "--overwrite"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return float(json.loads((Path(folder) / "run.json").read_text())["stepping_seconds"]) / steps


def seconds_of_package(case: sluice.Case, steps: int, prepare: Callable[[sluice.Simulation], None]) -> float:
    """Seconds of a step of sim.step; `prepare` may register functions first."""
    with sluice.Simulation(case) as sim:
        prepare(sim)
        start = time.perf_counter()
        sim.step(steps)
        return (time.perf_counter() - start) / steps


def arrays() -> Any:
    """The module of arrays in the memory of the device: CuPy or NumPy."""
    if not _core.is_gpu:
        return numpy
    import cupy

    return cupy


def use_plane_and_wall(sim: sluice.Simulation) -> None:
    """Registers a function that reads and sets planes at every step."""
    xp = arrays()
    wall = sim.walls["bottom"]
    y, x = (xp.asarray(line) for line in wall.w.coords.values())
    jet = 1e-3 * xp.sin(y[:, None]) * xp.sin(x)
    jet = (jet - jet.mean()).astype(sluice.field.DTYPE)

    @sim.every(1)
    def read_and_set(sim: sluice.Simulation) -> None:
        xp.from_dlpack(sim.plane("w", z=0.1))
        wall.w[...] = jet


def oppose(sim: sluice.Simulation, own_mean: bool) -> None:
    """Opposition control of both walls."""
    xp = arrays()
    for name, height in (("bottom", HEIGHT), ("top", 2 - HEIGHT)):
        wall = sim.walls[name]

        @wall.response(remove_mean=not own_mean)
        def respond(sim: sluice.Simulation, wall: sluice.Wall = wall, height: float = height) -> Any:
            w = xp.from_dlpack(sim.plane("w", z=height))
            return wall.mean(w) - w if own_mean else -w


def controlled(case: sluice.Case) -> sluice.Case:
    """The case with opposition control that is built in."""
    for name in ("bottom", "top"):
        actuation = {"type": "opposition_control", "amplitude": 1, "height": HEIGHT}
        case[f"walls.{name}.actuation"] = actuation
    return case


def main() -> None:
    """Measures and prints."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", nargs=3, type=int, default=[256, 192, 144])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--program", default="sluice")
    options = parser.parse_args()
    cells, steps = options.cells, options.steps
    forms: dict[str, Callable[[], float]] = {
        "sluice run": lambda: seconds_of_program(options.program, cells, steps),
        "sim.step": lambda: seconds_of_package(case_of(cells), steps, lambda sim: None),
        "plane and wall": lambda: seconds_of_package(case_of(cells), steps, use_plane_and_wall),
        "control, built in": lambda: seconds_of_package(controlled(case_of(cells)), steps, lambda sim: None),
        "control, Python": lambda: seconds_of_package(case_of(cells), steps, lambda sim: oppose(sim, False)),
        "control, own mean": lambda: seconds_of_package(case_of(cells), steps, lambda sim: oppose(sim, True)),
    }
    found: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(options.repeats):
        for name, measure in forms.items():
            found[name].append(1e3 * measure())
    for name, values in found.items():
        beside = "control, built in" if name.startswith("control") else "sluice run"
        ratio = statistics.median(values) / statistics.median(found[beside])
        extent = f"({min(values):.4f} to {max(values):.4f})"
        print(f"{name:18} {statistics.median(values):9.4f} ms a step {extent}, ratio to {beside} {ratio:.4f}")


if __name__ == "__main__":
    main()
