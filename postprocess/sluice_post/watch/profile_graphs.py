"""Graphs of the profiles in wall units, with published data."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from sluice_post import literature
from sluice_post.arrays import Array
from sluice_post.reference import Reference
from sluice_post.style import BLUE, COMPONENT, GREY, PURPLE
from sluice_post.watch.graphs import FollowingRange, add_hover, new_graph, place_legend
from sluice_post.watch.statistics import LiveProfiles

# Profile, colour, legend, and the peak of a published simulation.
_MEAN = (("U", BLUE, "U⁺", ""),)
_STRESSES = (
    ("u_rms", COMPONENT["u"], "u′ streamwise", "u_peak"),
    ("v_rms", COMPONENT["v"], "v′ spanwise", "v_peak"),
    ("w_rms", COMPONENT["w"], "w′ wall-normal", "w_peak"),
    ("minus_uw", PURPLE, "−⟨uw⟩", "uw_peak"),
)
_MAX_CIRCLES = 26


def _source(*more: str) -> ColumnDataSource:
    return ColumnDataSource({key: np.empty(0) for key in ("z", "value", *more)})


def _circles(z_plus: Array, values: Array) -> dict[str, Array]:
    """Points of published profiles, evenly spaced in log z+, so that they do not hide the lines."""
    positive = z_plus > 0
    z_plus, values = z_plus[positive], values[positive]
    marks = np.unique(np.searchsorted(z_plus, np.geomspace(max(z_plus[0], 0.3), z_plus[-1], _MAX_CIRCLES)))
    marks = marks[marks < len(z_plus)]
    return {"z": z_plus[marks], "value": values[marks]}


class Profiles:
    """U+, and the rms velocities and the shear stress, against z+; circles are published values."""

    def __init__(self, reference: Reference | None) -> None:
        self._reference = reference
        self._live: LiveProfiles | None = None
        self._z, self._tops = FollowingRange(), (FollowingRange(), FollowingRange())
        self._z.follow(0.1, 200)
        self._lines: dict[str, ColumnDataSource] = {}
        self._points: dict[str, ColumnDataSource] = {}
        self._law, self._sublayer = _source(), _source()
        mean = self._graph("U⁺", _MEAN, self._tops[0])
        stresses = self._graph("rms velocity / u_τ, −⟨uw⟩/u_τ²", _STRESSES, self._tops[1])
        law = f"ln(z⁺)/{literature.LOG_LAW_KAPPA:g} + {literature.LOG_LAW_B:g}"
        for source, label in ((self._sublayer, "z⁺"), (self._law, law)):
            mean.line("z", "value", source=source, color=GREY, line_dash="dashed", legend_label=label)
        place_legend(mean, "top_left")
        place_legend(stresses, "top_left", columns=2)
        self.graphs: dict[str, figure] = {"mean": mean, "stresses": stresses}

    def _graph(self, label: str, rows: tuple[tuple[str, str, str, str], ...], top: FollowingRange) -> figure:
        graph = new_graph("z⁺", label, height=330, x_axis_type="log", x_range=self._z.model, y_range=top.model)
        for name, colour, legend, _ in rows:
            source, points = self._lines[name], self._points[name] = _source("low", "high"), _source()
            graph.varea("z", "low", "high", source=source, color=colour, alpha=0.22)
            line = graph.line("z", "value", source=source, color=colour, line_width=2, legend_label=legend)
            graph.scatter("z", "value", source=points, size=7, line_color=colour, fill_color=None, line_width=1.5)
            add_hover(graph, [line], (legend, "@value{0.000}"), ("z⁺", "@z{0.0}"))
        return graph

    def update(self, live: LiveProfiles | None) -> None:
        """Shows new profiles."""
        if live is self._live or live is None:
            return
        self._live = live
        profiles, tops = live.profiles, []
        for rows in (_MEAN, _STRESSES):
            top = 0.0
            for name, _, _, peak in rows:
                shown = profiles.along_stress if name == "U" else name
                z_plus, values = profiles.column(shown)
                band, known = profiles.half_widths.get(shown), z_plus > 0
                spread = np.zeros(len(values)) if band is None else np.nan_to_num(band)
                columns = {"z": z_plus, "value": values, "low": values - spread, "high": values + spread}
                self._lines[name].data = {key: column[known] for key, column in columns.items()}
                points = self._points[name].data = self._published(name, peak)
                top = max(top, float(np.nanmax(values)), *points["value"].tolist())
            tops.append(top)
        begin, end = max(0.1, min(1.0, 0.9 * float(profiles.z_plus[0]))), 1.04 * float(profiles.z_plus[-1])
        self._z.follow(begin, end)
        self._tops[0].follow(0.0, 1.12 * tops[0])
        self._tops[1].follow(min(0.0, 1.1 * float(np.nanmin(profiles.column("minus_uw")[1]))), 1.35 * tops[1])
        none = np.empty(0)
        sublayer = none if profiles.laminar else np.geomspace(begin, min(12.0, end), 60)
        layer = none if profiles.laminar else np.geomspace(8.0, max(end, 9.0), 2)
        self._sublayer.data = {"z": sublayer, "value": sublayer}
        self._law.data = {"z": layer, "value": np.log(layer) / literature.LOG_LAW_KAPPA + literature.LOG_LAW_B}

    def _published(self, name: str, peak: str) -> dict[str, Array]:
        reference, live = self._reference, self._live
        if reference is not None and name in reference.values:
            return _circles(reference.z_plus[name], reference.values[name])
        values = live.published.values if reference is None and live is not None and live.published else {}
        pairs = {"z": f"{peak}_z", "value": peak} if peak in values else {}
        return {key: np.array([values[pairs[key]]] if pairs else []) for key in ("z", "value")}
