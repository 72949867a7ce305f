"""A grid study for Python: key figures of several runs of one flow beside a reference, as a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from sluice_post.datasets.scalars import KEY_FIGURES
from sluice_post.datasets.variables import Variables, dataset, variable, with_interval
from sluice_post.plots import current_axes
from sluice_post.study import COSTS, Reference, StudyRun, error_of, find_reference, read_study
from sluice_post.study_figures import error_against_cost
from sluice_post.study_tables import table_text

_COSTS = {"point_steps": "grid points times steps per h/u_tau", "seconds": "seconds per h/u_tau"}


@dataclass(frozen=True)
class Study:
    """Runs by order and number of points, and what their errors are differences from."""

    runs: list[StudyRun]
    reference: Reference

    def __str__(self) -> str:
        return table_text(self.runs, self.reference)

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Along `run`: each key figure NAME, its error NAME_error in % where the reference has it, and the costs.

        NAME_ci95 and NAME_error_ci95 are half widths of 95 % intervals. Coordinates: directory, order, nx, ny, nz.
        """
        variables: Variables = {}
        keys = [key for key in KEY_FIGURES if all(key in run.figures for run in self.runs)]
        for key in keys:
            figures = [run.figures[key] for run in self.runs]
            values, widths = [f.value for f in figures], [f.half_width for f in figures]
            variables |= with_interval(key, "run", values, widths, KEY_FIGURES[key])
            if key in self.reference.published.values:
                errors = np.array([error_of(run, self.reference, key) for run in self.runs])
                about = (f"difference from {self.reference.published.name}: {KEY_FIGURES[key][0]}", "%")
                variables |= with_interval(f"{key}_error", "run", errors[:, 0], errors[:, 1], about)
        for name, cost in COSTS.items():
            variables[name] = variable("run", [cost(run) for run in self.runs], _COSTS[name])
        coordinates: Variables = {
            "directory": variable("run", [str(run.directory) for run in self.runs], "directory of the run"),
            "order": variable("run", [run.order for run in self.runs], "order of differences along x and y"),
        }
        for n, axis in enumerate("xyz"):
            cells = [run.parameters.cells[n] for run in self.runs]
            coordinates[f"n{axis}"] = variable("run", cells, f"number of cells along {axis}")
        return dataset(variables, coordinates, reference=self.reference.published.name)

    def plot(self, key: str, cost: str = "point_steps", ax: Axes | None = None) -> Axes:
        """Errors of a key figure in % against the cost, point_steps or seconds, in `ax`, default the current axes."""
        return error_against_cost(current_axes(ax), self.runs, self.reference, key, cost)


def compare_runs(
    directories: Sequence[str | Path],
    reference: str | Path | Sequence[str | Path] | None = None,
    begin: float | None = None,
    end: float | None = None,
) -> Study:
    """A study of runs of one flow that differ in grid and order, between two times.

    `reference`: the directory of a run or files of published profiles; None: the published simulation of this flow.
    """
    given = [reference] if isinstance(reference, str | Path) else reference or ()
    paths = [Path(path) for path in given] or None
    runs = read_study([Path(directory) for directory in directories], begin, end, paths)
    return Study(runs, find_reference(paths, runs, begin, end))
