"""Graphs of the time series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, LinearAxis, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.figures_run import is_constant, settled_range, thinned
from sluice_post.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from sluice_post.timeseries import TimeSeries, walls_with_shear
from sluice_post.watch.follow import Snapshot
from sluice_post.watch.graphs import FollowingRange, add_hover, new_graph, place_legend

Array = NDArray[np.float64]

MAX_ROWS = 1500  # shown after thinning; twice as many before it is repeated
_TIME = "t U/h"
_WALLS = {layout.RE_TAU_BOTTOM: (BLUE, "bottom wall"), layout.RE_TAU_TOP: (VERMILLION, "top wall")}


@dataclass
class _Panel:
    graph: figure
    columns: tuple[str, ...]
    range: FollowingRange
    limits: Callable[[Array], tuple[float, float] | None]


def _decades(values: Array) -> tuple[float, float] | None:
    positive = values[np.isfinite(values) & (values > 0)]
    if len(positive) == 0:
        return None
    low, high = np.floor(np.log10(positive.min())), np.ceil(np.log10(positive.max()))
    return float(10.0 ** (low - 0.6)), float(
        10.0 ** (max(high, low + 1) + 0.6)
    )  # labels at powers of 10 only


def _all(values: Array) -> tuple[float, float] | None:
    """All of the values: there are too few to tell a transient from the rest."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return None
    margin = max(0.1 * float(np.ptp(known)), 1e-2 * float(np.abs(known).max()), 1e-12)
    return float(known.min()) - margin, float(known.max()) + margin


def _settled(values: Array) -> tuple[float, float] | None:
    return settled_range(values) or _all(values)


class History:
    """Re_tau, the bulk velocity or the force that keeps it, the time step, and the divergence against time."""

    def __init__(self) -> None:
        self._source = ColumnDataSource({name: np.empty(0) for name in layout.TIMESERIES_COLUMNS})
        self._time = FollowingRange()
        self._sent = (0, 0)  # generation and rows of what the source has
        self._restarts: tuple[tuple[int, float], ...] = ()
        self._lines: list[Span] = []
        self._re_tau = self._panel("Re_τ", *_WALLS)
        self._drive = self._panel("pressure gradient · h/U²", layout.FORCING_COLUMN, colour=ORANGE)
        self._bulk = self._panel("U_b/U", layout.BULK_VELOCITY, colour=GREEN)
        self._dt = self._panel("Δt U/h", layout.DT, colour=BLUE)
        self._divergence = self._panel("max |div u| h/U", layout.MAX_DIVERGENCE, colour=PURPLE, log=True)
        for graph in self.graphs.values():
            graph.visible = False
        self._friction_velocity: LinearAxis | None = None

    @property
    def graphs(self) -> dict[str, figure]:
        """By name; the pressure gradient and the bulk velocity take turns."""
        return {
            "re_tau": self._re_tau.graph,
            "drive": self._drive.graph,
            "bulk": self._bulk.graph,
            "dt": self._dt.graph,
            "divergence": self._divergence.graph,
        }

    @property
    def _panels(self) -> tuple[_Panel, ...]:
        return self._re_tau, self._drive, self._bulk, self._dt, self._divergence

    def _panel(self, label: str, *columns: str, colour: str = BLACK, log: bool = False) -> _Panel:
        ordinate = FollowingRange()
        if log:
            ordinate.follow(1e-16, 1e-12)
        graph = new_graph(
            _TIME, label, x_range=self._time.model, y_range=ordinate.model,
            y_axis_type="log" if log else "linear",
        )  # fmt: skip
        lines = []
        for name in columns:
            line_colour, legend = _WALLS.get(name, (colour, ""))
            options = {"legend_label": legend} if legend else {}
            lines.append(
                graph.line(
                    layout.TIME, name, source=self._source, color=line_colour, line_width=1.5, **options
                )
            )
        if len(columns) > 1:
            place_legend(graph, "top_right", columns=2)
        values = [
            (_WALLS.get(name, ("", name.replace("_", " ")))[1], f"@{name}{{0.00000e}}") for name in columns
        ]
        if columns[0] in _WALLS:
            values = [(_WALLS[name][1], f"@{name}{{0.00}}") for name in columns]
        add_hover(
            graph, lines[:1], ("step", f"@{layout.STEP}"), ("time", f"@{layout.TIME}{{0.000}}"), *values
        )
        return _Panel(graph, columns, ordinate, _decades if log else _settled)

    def update(self, snapshot: Snapshot) -> None:
        """Adds the rows that are new; all of them if earlier ones have changed or there are too many."""
        series = snapshot.series
        rows = 0 if series is None else len(series)
        self._mark(snapshot.restarts)
        if (snapshot.generation, rows) == self._sent:
            return
        generation, sent = self._sent
        self._sent = (snapshot.generation, rows)
        if series is None:
            self._show(False, False)
            self._source.data = {name: np.empty(0) for name in self._source.data}
            return
        shown = len(self._source.data[layout.TIME])
        if generation == snapshot.generation and sent > 0 and shown + rows - sent <= 2 * MAX_ROWS:
            self._source.stream({name: series[name][sent:] for name in layout.TIMESERIES_COLUMNS})
        else:
            chosen = thinned(series, MAX_ROWS)
            self._source.data = {name: series[name][chosen] for name in layout.TIMESERIES_COLUMNS}
        self._scale(snapshot)

    def _scale(self, snapshot: Snapshot) -> None:
        data = {name: np.asarray(values) for name, values in self._source.data.items()}
        time = data[layout.TIME]
        self._time.follow(float(time[0]), float(time[-1]) if time[-1] > time[0] else float(time[0]) + 1)
        series = TimeSeries(data, True)
        walls = walls_with_shear(series)
        for panel in self._panels:
            names = [name for name in panel.columns if name not in _WALLS or name in walls]
            values = np.stack([data[name] for name in names or panel.columns]).T.ravel()
            if (limits := panel.limits(values)) is not None:
                panel.range.follow(*limits)
        legend = self._re_tau.graph.legend[0]
        for line, item, name in zip(self._re_tau.graph.renderers, legend.items, _WALLS, strict=True):
            line.visible = item.visible = name in walls
        self._show(len(time) > 1, is_constant(data[layout.BULK_VELOCITY]))
        if snapshot.case is not None and self._friction_velocity is None:
            self._add_friction_velocity(snapshot.case.viscosity)

    def _show(self, lines: bool, imposed: bool) -> None:
        """`lines`: whether there are any; `imposed`: whether the bulk velocity is kept, so that the force varies."""
        for panel in (self._re_tau, self._dt, self._divergence):
            panel.graph.visible = lines
        self._drive.graph.visible, self._bulk.graph.visible = lines and imposed, lines and not imposed

    def _add_friction_velocity(self, viscosity: float) -> None:
        """u_tau as a second ordinate of Re_tau: the same numbers times nu/h."""
        left = self._re_tau.graph.yaxis[0]
        self._friction_velocity = LinearAxis(
            axis_label="u_τ/U",
            formatter=CustomJSTickFormatter(args={"nu": viscosity}, code="return (tick * nu).toPrecision(3)"),
            axis_label_text_font_size=left.axis_label_text_font_size,
            axis_label_text_color=left.axis_label_text_color,
            major_label_text_font_size=left.major_label_text_font_size,
            major_tick_out=0, minor_tick_out=0, major_tick_in=6, minor_tick_in=3,
        )  # fmt: skip
        self._re_tau.graph.add_layout(self._friction_velocity, "right")

    def _mark(self, restarts: tuple[tuple[int, float], ...]) -> None:
        """A dashed line in all graphs at the time of each restart."""
        if restarts == self._restarts:
            return
        self._restarts = restarts
        for panel in self._panels:
            panel.graph.center = [model for model in panel.graph.center if model not in self._lines]
        self._lines = []
        for _, time in restarts:
            for panel in self._panels:
                line = Span(
                    location=time, dimension="height", line_color=BLACK, line_dash="dashed", line_width=1
                )
                panel.graph.add_layout(line)
                self._lines.append(line)
