#!/usr/bin/env python3
"""What a step costs from Python, beside one of `sluice run`: both take the same steps of one case, in turn.

usage: scripts/measure_python.py [--cells NX NY NZ] [--steps N] [--repeats N] [--program sluice]

Needs the package `sluice` and the program of the same build. Prints medians, the range, and the ratio of the medians.
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

import sluice

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


def seconds_of_package(
    cells: Sequence[int], steps: int, prepare: Callable[[sluice.Simulation], None] | None = None
) -> float:
    """Seconds of a step of sim.step; `prepare` may register functions first."""
    with sluice.Simulation(case_of(cells)) as sim:
        if prepare is not None:
            prepare(sim)
        start = time.perf_counter()
        sim.step(steps)
        return (time.perf_counter() - start) / steps


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
    forms: dict[str, Callable[[], float]] = {
        "sluice run": lambda: seconds_of_program(options.program, options.cells, options.steps),
        "sim.step": lambda: seconds_of_package(options.cells, options.steps),
    }
    found: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(options.repeats):
        for name, measure in forms.items():
            found[name].append(1e3 * measure())
    first = statistics.median(found["sluice run"])
    for name, values in found.items():
        median = statistics.median(values)
        print(
            f"{name:24} {median:9.4f} ms a step ({min(values):.4f} to {max(values):.4f}), ratio {median / first:.4f}"
        )


if __name__ == "__main__":
    main()
