"""Graphs of the time series: columns that all cases have, and those of scalars, controlled walls and other forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, InlineStyleSheet, LinearAxis, Pane

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.control import POWER_COLUMNS
from sluice_post.figures_run import is_constant, settled_range, thinned
from sluice_post.style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from sluice_post.timeseries import TimeSeries, walls_with_shear
from sluice_post.watch.case import Case
from sluice_post.watch.follow import Snapshot
from sluice_post.watch.graphs import LABELS, TICKS, FollowingRange, add_hover, new_graph, place_legend

MAX_ROWS = 1500  # shown after thinning; twice as many before it is repeated
_COLOURS = {"bottom": BLUE, "top": VERMILLION}
_NUSSELT = {"bottom": "{}_nusselt_bottom", "top": "{}_nusselt_top"}
_OF_SCALARS = (layout.SCALAR_MEAN, *layout.SCALAR_FLUX.values(), *_NUSSELT.values())


class Line(NamedTuple):
    """A column, its colour, and its name in the legend: none, where it is the only one of its panel."""

    column: str
    colour: str
    legend: str = ""
    digits: str = "0.00000e"  # of the value beside the pointer


class Plan(NamedTuple):
    """The label of a panel, its lines, and whether its ordinate is logarithmic."""

    label: str
    lines: tuple[Line, ...]
    log: bool = False


_FIXED = {
    "re_tau": Plan(
        "Re_τ",
        (
            Line(layout.RE_TAU_BOTTOM, BLUE, "bottom wall", "0.00"),
            Line(layout.RE_TAU_TOP, VERMILLION, "top wall", "0.00"),
        ),
    ),
    # These two take turns.
    "drive": Plan("pressure gradient · h/U²", (Line(layout.FORCING_COLUMN, ORANGE),)),
    "bulk": Plan("U_b/U", (Line(layout.BULK_VELOCITY, GREEN),)),
    "dt": Plan("Δt U/h", (Line(layout.DT, BLUE),)),
    "divergence": Plan("max |div u| h/U", (Line(layout.MAX_DIVERGENCE, PURPLE),), log=True),
}
# Other columns that only some cases have; one that is not listed has its name as its label.
_SINGLE = {
    "power": Plan("power of the force · h/U³", (Line("power", PURPLE),)),
    "forcing_y": Plan("pressure gradient along y · h/U²", (Line("forcing_y", ORANGE),)),
    "bulk_velocity_y": Plan("V_b/U", (Line("bulk_velocity_y", GREEN),)),
}


def with_nusselt_numbers(series: TimeSeries, case: Case | None) -> dict[str, Array]:
    """The columns, and the Nusselt numbers at both walls of scalars between walls of different values."""
    columns = dict(series.columns)
    for name, flux in case.conducted_fluxes.items() if case is not None else ():
        for (wall, nusselt), sign in zip(_NUSSELT.items(), (1, -1), strict=True):
            if (column := layout.SCALAR_FLUX[wall].format(name)) in columns:
                columns[nusselt.format(name)] = sign * columns[column] / flux
    return columns


def _walls(columns: Sequence[str], label: str, names: Sequence[str]) -> list[Plan]:
    """Columns of the bottom and the top wall in one panel; `names`: of both, in this order; none if none is there."""
    lines = [
        Line(name, colour, f"{wall} wall")
        for name, (wall, colour) in zip(names, _COLOURS.items(), strict=True)
        if name in columns
    ]
    return [Plan(label, tuple(lines))] if lines else []


def _plans(columns: Sequence[str]) -> list[Plan]:
    """The panels of columns that not all cases have: Nusselt numbers in place of fluxes where they are known."""
    suffix, found = layout.SCALAR_MEAN.format(""), []
    scalars = [name.removesuffix(suffix) for name in columns if name.endswith(suffix)]
    for name in scalars:
        nusselt, fluxes = ([text.format(name) for text in kind.values()] for kind in (_NUSSELT, layout.SCALAR_FLUX))
        found += _walls(columns, f"Nu of {name}", nusselt) or _walls(columns, f"flux of {name} into the fluid", fluxes)
        found.append(Plan(f"mean of {name}", (Line(layout.SCALAR_MEAN.format(name), GREEN),)))
    found += _walls(columns, "power of the walls / U³", POWER_COLUMNS)
    shown = [*layout.TIMESERIES_COLUMNS, *POWER_COLUMNS, *(one.format(name) for name in scalars for one in _OF_SCALARS)]
    return found + [_SINGLE.get(name, Plan(name, (Line(name, PURPLE),))) for name in columns if name not in shown]


def _decades(values: Array) -> tuple[float, float] | None:
    """Limits of a logarithmic ordinate with labels at powers of 10 only."""
    positive = values[np.isfinite(values) & (values > 0)]
    if len(positive) == 0:
        return None
    low, high = np.floor(np.log10(positive.min())), np.ceil(np.log10(positive.max()))
    return float(10.0 ** (low - 0.6)), float(10.0 ** (max(high, low + 1) + 0.6))


def _settled(values: Array) -> tuple[float, float] | None:
    """Limits without a transient at the start; of all values where these are too few to tell it from the rest."""
    known = values[np.isfinite(values)]
    if (limits := settled_range(values)) is not None or len(known) == 0:
        return limits
    margin = max(0.1 * float(np.ptp(known)), 1e-2 * float(np.abs(known).max()), 1e-12)
    return float(known.min()) - margin, float(known.max()) + margin


class Panel:
    """A graph of columns of the source against time, and dashed lines where the run was restarted."""

    def __init__(self, plan: Plan, source: ColumnDataSource, time: FollowingRange, restarts: ColumnDataSource) -> None:
        self._plan, self._ordinate = plan, FollowingRange()
        if plan.log:
            self._ordinate.follow(1e-16, 1e-12)
        ranges = {"x_range": time.model, "y_range": self._ordinate.model}
        self.graph = new_graph("t U/h", plan.label, y_axis_type="log" if plan.log else "linear", **ranges)
        self.lines = []
        for name, colour, legend, _ in plan.lines:
            options = {"legend_label": legend} if legend else {}
            line = self.graph.line(layout.TIME, name, source=source, color=colour, line_width=1.5, **options)
            self.lines.append(line)
        if plan.lines[0].legend:
            place_legend(self.graph, "top_right", columns=2)
        self.graph.vspan(x="time", source=restarts, color=GREY, line_dash="dashed")
        values = [
            (one.legend or one.column.replace("_", " "), f"@{{{one.column}}}{{{one.digits}}}") for one in plan.lines
        ]
        add_hover(
            self.graph, self.lines[:1], ("step", f"@{layout.STEP}"), ("time", f"@{layout.TIME}{{0.000}}"), *values
        )

    def scale(self, data: Mapping[str, Array], columns: Sequence[str] = ()) -> None:
        """Fits the ordinate to these columns, all of the panel if none are named."""
        values = np.stack([data[name] for name in columns or [line.column for line in self._plan.lines]]).T.ravel()
        if (limits := (_decades if self._plan.log else _settled)(values)) is not None:
            self._ordinate.follow(*limits)

    def show_only(self, columns: Sequence[str]) -> None:
        """Hides the lines of other columns, and their entries in the legend."""
        for line, item in zip(self.lines, self.graph.legend[0].items, strict=True):
            line.visible = item.visible = line.glyph.y in columns


class History:
    """All graphs against time. `root`: as many beside each other as there is room for."""

    def __init__(self, style: InlineStyleSheet) -> None:
        self._source = ColumnDataSource({name: np.empty(0) for name in layout.TIMESERIES_COLUMNS})
        self._restarts = ColumnDataSource({"time": np.empty(0)})
        self._time = FollowingRange()
        self._sent = (0, 0)  # generation and rows of what the source has
        self._fixed = {name: self._panel(plan) for name, plan in _FIXED.items()}
        for name, panel in self._fixed.items():
            panel.graph.update(name=name, visible=False)
        self._further: list[Panel] = []
        graphs = [panel.graph for panel in self._fixed.values()]
        self.root = Pane(elements=graphs, name="history", stylesheets=[style], css_classes=["graphs"])
        self._friction_velocity: LinearAxis | None = None

    def _panel(self, plan: Plan) -> Panel:
        return Panel(plan, self._source, self._time, self._restarts)

    def _set_columns(self, columns: dict[str, Array]) -> None:
        """New rows; if there are other columns than before, their panels replace the further ones."""
        are_others = set(columns) != set(self._source.data)
        self._source.data = dict(columns)
        if are_others:
            self._further = [self._panel(plan) for plan in _plans(list(columns))]
            self.root.elements = [panel.graph for panel in (*self._fixed.values(), *self._further)]

    def update(self, snapshot: Snapshot) -> None:
        """Adds the rows that are new; all of them if earlier ones have changed or there are too many."""
        series = snapshot.series
        rows = 0 if series is None else len(series)
        restarts = np.array([time for _, time in snapshot.restarts])
        if not np.array_equal(restarts, self._restarts.data["time"]):
            self._restarts.data = {"time": restarts}
        (generation, sent), now = self._sent, (snapshot.generation, rows)
        if now == self._sent:
            return
        self._sent = now
        if series is None:
            self._set_columns({name: np.empty(0) for name in layout.TIMESERIES_COLUMNS})
            self._show(False, False)
            return
        columns = with_nusselt_numbers(series, snapshot.case)
        shown = len(self._source.data[layout.TIME])
        continued = generation == snapshot.generation and set(columns) == set(self._source.data)
        if continued and sent > 0 and shown + rows - sent <= 2 * MAX_ROWS:
            self._source.stream({name: values[sent:] for name, values in columns.items()})
        else:
            chosen = thinned(series, MAX_ROWS)
            self._set_columns({name: values[chosen] for name, values in columns.items()})
        self._scale(snapshot)

    def _scale(self, snapshot: Snapshot) -> None:
        data = {name: np.asarray(values) for name, values in self._source.data.items()}
        time, re_tau = data[layout.TIME], self._fixed["re_tau"]
        self._time.follow(float(time[0]), float(time[-1]) if time[-1] > time[0] else float(time[0]) + 1)
        walls = walls_with_shear(TimeSeries(data, True))
        for panel in (*self._fixed.values(), *self._further):
            panel.scale(data, walls if panel is re_tau else ())
        re_tau.show_only(walls)
        self._show(len(time) > 1, is_constant(data[layout.BULK_VELOCITY]))
        if snapshot.case is not None and self._friction_velocity is None:
            nu = {"nu": snapshot.case.viscosity}  # u_tau as a second ordinate of Re_tau: the same numbers times nu/h
            formatter = CustomJSTickFormatter(args=nu, code="return (tick * nu).toPrecision(3)")
            self._friction_velocity = LinearAxis(axis_label="u_τ/U", formatter=formatter, **LABELS, **TICKS)
            re_tau.graph.add_layout(self._friction_velocity, "right")

    def _show(self, lines: bool, imposed: bool) -> None:
        """`lines`: whether there are any; `imposed`: whether the bulk velocity is kept, so that the force varies."""
        for name, panel in self._fixed.items():
            panel.graph.visible = lines and {"drive": imposed, "bulk": not imposed}.get(name, True)
        for panel in self._further:
            panel.graph.visible = lines
