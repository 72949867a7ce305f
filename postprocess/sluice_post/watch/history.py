"""Graphs of the time series."""

from __future__ import annotations

import numpy as np
from bokeh.core.validation import silence
from bokeh.core.validation.warnings import EMPTY_LAYOUT
from bokeh.models import Column, ColumnDataSource, CustomJSTickFormatter, LinearAxis, Row, Span
from bokeh.plotting import figure

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.figures_run import is_constant, thinned
from sluice_post.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from sluice_post.timeseries import TimeSeries, walls_with_shear
from sluice_post.watch.follow import Snapshot
from sluice_post.watch.further import plans, with_nusselt_numbers
from sluice_post.watch.graphs import FollowingRange
from sluice_post.watch.panels import Line, Panel, new_panel

silence(EMPTY_LAYOUT, True)  # of History.further, which is empty in most cases
MAX_ROWS = 1500  # shown after thinning; twice as many before it is repeated
_WALLS = (
    Line(layout.RE_TAU_BOTTOM, BLUE, "bottom wall", "0.00"),
    Line(layout.RE_TAU_TOP, VERMILLION, "top wall", "0.00"),
)


class History:
    """Re_tau, the bulk velocity or the force that keeps it, the time step, and the divergence against time.

    And what columns show that only some cases have (watch/further.py).
    """

    def __init__(self) -> None:
        self._source = ColumnDataSource({name: np.empty(0) for name in layout.TIMESERIES_COLUMNS})
        self._time = FollowingRange()
        self._sent = (0, 0)  # generation and rows of what the source has
        self._restarts: tuple[tuple[int, float], ...] = ()
        self._lines: list[Span] = []
        self._re_tau = self._panel("Re_τ", *_WALLS)
        self._drive = self._panel("pressure gradient · h/U²", Line(layout.FORCING_COLUMN, ORANGE))
        self._bulk = self._panel("U_b/U", Line(layout.BULK_VELOCITY, GREEN))
        self._dt = self._panel("Δt U/h", Line(layout.DT, BLUE))
        self._divergence = self._panel("max |div u| h/U", Line(layout.MAX_DIVERGENCE, PURPLE), log=True)
        self._further: list[Panel] = []
        # Graphs that the page gets when the columns are known: two beside each other.
        self.further = Column(children=[], sizing_mode="stretch_width", spacing=16, margin=(16, 0, 0, 0))
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
    def _panels(self) -> tuple[Panel, ...]:
        return self._re_tau, self._drive, self._bulk, self._dt, self._divergence, *self._further

    def _panel(self, label: str, *lines: Line, log: bool = False) -> Panel:
        return new_panel(self._source, self._time, label, *lines, log=log)

    def _set_columns(self, columns: dict[str, Array]) -> None:
        """New rows; if there are other columns than before, their panels replace the further ones."""
        are_others = set(columns) != set(self._source.data)
        self._source.data = dict(columns)
        if not are_others:
            return
        self._further = [self._panel(plan.label, *plan.lines) for plan in plans(list(columns))]
        graphs = [panel.graph for panel in self._further]
        self.further.children = [
            Row(children=graphs[n : n + 2], sizing_mode="stretch_width", spacing=16) for n in range(0, len(graphs), 2)
        ]
        restarts, self._restarts = self._restarts, ()
        self._mark(restarts)

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
            self._set_columns({name: np.empty(0) for name in layout.TIMESERIES_COLUMNS})
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
        time = data[layout.TIME]
        self._time.follow(float(time[0]), float(time[-1]) if time[-1] > time[0] else float(time[0]) + 1)
        series = TimeSeries(data, True)
        walls = walls_with_shear(series)
        for panel in self._panels:
            panel.scale(data, tuple(walls) if panel is self._re_tau else ())
        legend = self._re_tau.graph.legend[0]
        for line, item, wall in zip(self._re_tau.graph.renderers, legend.items, _WALLS, strict=True):
            line.visible = item.visible = wall.column in walls
        self._show(len(time) > 1, is_constant(data[layout.BULK_VELOCITY]))
        if snapshot.case is not None and self._friction_velocity is None:
            self._add_friction_velocity(snapshot.case.viscosity)

    def _show(self, lines: bool, imposed: bool) -> None:
        """`lines`: whether there are any; `imposed`: whether the bulk velocity is kept, so that the force varies."""
        for panel in (self._re_tau, self._dt, self._divergence, *self._further):
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
                line = Span(location=time, dimension="height", line_color=BLACK, line_dash="dashed", line_width=1)
                panel.graph.add_layout(line)
                self._lines.append(line)
