"""A grid study for Python: key figures of several runs of one flow beside a reference, as a dataset and in figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from sluice_post.datasets.scalars import KEY_FIGURES
from sluice_post.datasets.variables import Variables, dataset, variable, with_interval
from sluice_post.key_figures import LATEX_LABELS
from sluice_post.plots import current_axes
from sluice_post.study import COSTS, Reference, StudyRun, error_of, find_reference, read_study
from sluice_post.study_tables import table_text
from sluice_post.style import BLUE, GREEN, THIN, VERMILLION, new_figure

PANELS = {key: LATEX_LABELS[key] for key in ("cf", "u_c_plus", "u_peak", "v_peak", "w_peak", "uw_peak")}
PANELS["dissipation"] = "dissipation of fluctuations"
COST_LABELS = {"point_steps": r"point-steps per $h/u_\tau$", "seconds": r"seconds per $h/u_\tau$"}
_STYLE = {2: (BLUE, "o"), 4: (VERMILLION, "s")}


def error_figure(runs: Sequence[StudyRun], reference: Reference, cost: str) -> Figure:
    """A panel for each key figure: errors with 95 % intervals against cost, a line for each order."""
    keys = [key for key in PANELS if key in reference.published.values]
    columns = min(4, len(keys))
    rows = -(-len(keys) // columns)
    figure = new_figure(3.6 * columns, 3.3 * rows + 0.4)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True)
    for axes, key in zip(grid.flat, keys, strict=False):
        _error_against_cost(axes, runs, reference, key, cost)
    grid[0, 0].legend(loc="best")
    for n, axes in enumerate(grid.flat):
        axes.set_visible(n < len(keys))
        if n % columns != 0:
            axes.set_ylabel("")
        if n + columns >= len(keys):
            axes.tick_params(labelbottom=True)
        else:
            axes.set_xlabel("")
    figure.suptitle(f"against {reference.published.name}", fontsize=12)
    return figure


def _error_against_cost(axes: Axes, runs: Sequence[StudyRun], reference: Reference, key: str, cost: str) -> Axes:
    """Errors of one key figure in % with 95 % intervals against the cost, a line for each order."""
    axes.axhline(0, **THIN)
    largest = 0.0
    for order in sorted({run.order for run in runs}):
        colour, marker = _STYLE.get(order, (GREEN, "d"))
        of_order = [run for run in runs if run.order == order]
        errors, widths = np.array([error_of(run, reference, key) for run in of_order]).T
        axes.errorbar(
            [COSTS[cost](run) for run in of_order], errors, np.nan_to_num(widths),
            color=colour, marker=marker, markersize=5, linewidth=1.4, capsize=2.5, label=f"order {order}",
        )  # fmt: skip
        largest = max(largest, float(np.nanmax(np.abs(errors) + np.nan_to_num(widths), initial=0)))
    axes.set_title(PANELS[key], loc="left")
    axes.set_ylim(-1.1 * largest or -1, 1.1 * largest or 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+g}" if value else "0"))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(COST_LABELS[cost])
    axes.set_ylabel("error, %")
    return axes


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
        return _error_against_cost(current_axes(ax), self.runs, self.reference, key, cost)


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
