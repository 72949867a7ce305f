"""Panels of the history: one or more columns of the time series against time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.figures_run import settled_range
from sluice_post.watch.graphs import FollowingRange, add_hover, new_graph, place_legend

_TIME = "t U/h"


@dataclass
class Panel:
    """A graph of columns of one source, with an ordinate that follows their values."""

    graph: figure
    columns: tuple[str, ...]
    range: FollowingRange
    limits: Callable[[Array], tuple[float, float] | None]

    def scale(self, data: Mapping[str, Array], columns: tuple[str, ...] = ()) -> None:
        """Fits the ordinate to these columns, all of the panel if none are named."""
        values = np.stack([data[name] for name in columns or self.columns]).T.ravel()
        if (limits := self.limits(values)) is not None:
            self.range.follow(*limits)


@dataclass(frozen=True)
class Line:
    """A column, its colour, and its name in the legend: none, where it is the only one of its panel."""

    column: str
    colour: str
    legend: str = ""
    digits: str = "0.00000e"  # of the value beside the pointer


def decades(values: Array) -> tuple[float, float] | None:
    """Limits of a logarithmic ordinate with labels at powers of 10 only."""
    positive = values[np.isfinite(values) & (values > 0)]
    if len(positive) == 0:
        return None
    low, high = np.floor(np.log10(positive.min())), np.ceil(np.log10(positive.max()))
    return float(10.0 ** (low - 0.6)), float(10.0 ** (max(high, low + 1) + 0.6))


def _all(values: Array) -> tuple[float, float] | None:
    """All of the values: there are too few to tell a transient from the rest."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return None
    margin = max(0.1 * float(np.ptp(known)), 1e-2 * float(np.abs(known).max()), 1e-12)
    return float(known.min()) - margin, float(known.max()) + margin


def settled(values: Array) -> tuple[float, float] | None:
    """Limits of an ordinate without a transient at the start."""
    return settled_range(values) or _all(values)


def new_panel(source: ColumnDataSource, time: FollowingRange, label: str, *lines: Line, log: bool = False) -> Panel:
    """Lines of the source against time, whose range all panels share."""
    ordinate = FollowingRange()
    if log:
        ordinate.follow(1e-16, 1e-12)
    graph = new_graph(_TIME, label, x_range=time.model, y_range=ordinate.model, y_axis_type="log" if log else "linear")
    drawn = []
    for line in lines:
        options = {"legend_label": line.legend} if line.legend else {}
        drawn.append(graph.line(layout.TIME, line.column, source=source, color=line.colour, line_width=1.5, **options))
    if any(line.legend for line in lines):
        place_legend(graph, "top_right", columns=2)
    values = [(line.legend or line.column.replace("_", " "), f"@{{{line.column}}}{{{line.digits}}}") for line in lines]
    add_hover(graph, drawn[:1], ("step", f"@{layout.STEP}"), ("time", f"@{layout.TIME}{{0.000}}"), *values)
    return Panel(graph, tuple(line.column for line in lines), ordinate, decades if log else settled)
