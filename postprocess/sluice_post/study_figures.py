"""Figure of a grid study: errors against cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from sluice_post.key_figures import LATEX_LABELS
from sluice_post.study import COSTS, Reference, StudyRun, error_of
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
        error_against_cost(axes, runs, reference, key, cost)
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


def error_against_cost(axes: Axes, runs: Sequence[StudyRun], reference: Reference, key: str, cost: str) -> Axes:
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
