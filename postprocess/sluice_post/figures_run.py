"""Figures of the run itself: its history, and a picture of the streaks.

A function that takes axes draws one panel into them; the others return a figure of such panels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.slices import Plane, Slice, streaks_of
from sluice_post.style import BLACK, BLUE, DIVERGING_MAP, THIN, VERMILLION, legend, line_with_band, new_figure
from sluice_post.timeseries import TimeSeries, walls_with_shear
from sluice_post.uncertainty import MeanEstimate

_FINE = 1.0  # width of lines with many points
MAX_POINTS = 4000  # more than the pixels of a panel: long series are thinned for the picture only


def thinned(series: TimeSeries, limit: int = MAX_POINTS) -> NDArray[np.int64]:
    """Rows to show, equally spaced, and the last; about `limit` of a long series."""
    step = max(1, len(series) // limit)
    rows = np.arange(0, len(series), step)
    return np.append(rows, len(series) - 1) if rows[-1] != len(series) - 1 else rows


def settled_range(values: Array) -> tuple[float, float] | None:
    """Limits of an ordinate without the start-up transient where it would flatten the rest; None: too few values."""
    settled = values[len(values) // 3 :]
    settled = settled[np.isfinite(settled)]
    if len(settled) < 5:
        return None
    low, high = float(settled.min()), float(settled.max())
    margin = max(high - low, 1e-2 * max(abs(high), abs(low)), 1e-12)
    finite = values[np.isfinite(values)]
    bottom, top = max(float(finite.min()), low - 1.5 * margin), min(float(finite.max()), high + 1.5 * margin)
    return bottom - 0.15 * margin, top + 0.4 * margin


def _limits(axes: Axes, values: Array) -> None:
    if (found := settled_range(values)) is not None:
        axes.set_ylim(*found)


def re_tau_history(axes: Axes, series: TimeSeries, mean: MeanEstimate | None) -> None:
    """Re_tau of each wall against time, and over the last third of the run that of the mean wall stress."""
    rows = thinned(series)
    shown = []
    for name, colour, label in ((layout.RE_TAU_BOTTOM, BLUE, "bottom"), (layout.RE_TAU_TOP, VERMILLION, "top")):
        if name in walls_with_shear(series):
            line_with_band(axes, series.time[rows], series[name][rows], color=colour, label=label, linewidth=_FINE)
            shown.append(series[name])
    if shown:
        _limits(axes, np.stack(shown).T.ravel())
    if mean is not None:
        begin = series.time[series.last_third()][0]
        span = np.array([begin, series.time[-1]])
        values = np.full(2, mean.mean)
        label = "mean of both, last third" if len(shown) > 1 else "mean, last third"
        line_with_band(axes, span, values, mean.half_width, color=BLACK, label=label)
    axes.set_ylabel(r"$Re_\tau$")
    if len(shown) > 1 or mean is not None:
        # Above the panel, so that it hides no line.
        legend(axes, ncols=4, fontsize="x-small", columnspacing=1.0, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    _time_axis(axes, series)


def _time_axis(axes: Axes, series: TimeSeries) -> None:
    begin, end = float(series.time[0]), float(series.time[-1])
    axes.set_xlim(begin, end if end > begin else begin + 1)
    axes.set_xlabel(r"$t\,U/h$")


_COLUMNS = {
    layout.BULK_VELOCITY: r"$U_b/U$",
    layout.KINETIC_ENERGY: r"$\langle|\mathbf{u}|^2\rangle/2U^2$",
    layout.FORCING_COLUMN: r"forcing $\times\,h/U^2$",
}


def column_history(axes: Axes, series: TimeSeries, name: str) -> None:
    """bulk_velocity, kinetic_energy or forcing against time, in h and U."""
    axes.set_ylabel(_COLUMNS[name])
    if name in series.columns:
        rows = thinned(series)
        line_with_band(axes, series.time[rows], series[name][rows], linewidth=_FINE)
        _limits(axes, series[name])
    _time_axis(axes, series)


def scalar_history_figure(series: TimeSeries, name: str) -> Figure | None:
    """The mean of a scalar and its fluxes at the walls against time; None if the series has no such columns."""
    if layout.SCALAR_MEAN.format(name) not in series.columns:
        return None
    figure = new_figure(9.6, 3.6)
    left, right = figure.subplots(1, 2)
    scalar_mean_history(left, series, name)
    scalar_flux_history(right, series, name)
    return figure


def scalar_mean_history(axes: Axes, series: TimeSeries, name: str) -> None:
    """The volume mean of a scalar against time."""
    rows, values = thinned(series), series[layout.SCALAR_MEAN.format(name)]
    line_with_band(axes, series.time[rows], values[rows], linewidth=_FINE)
    axes.set_ylabel(f"mean of {name}")
    _time_axis(axes, series)


def scalar_flux_history(axes: Axes, series: TimeSeries, name: str) -> None:
    """The fluxes of a scalar into the fluid at both walls against time."""
    rows = thinned(series)
    for (wall, column), colour in zip(layout.SCALAR_FLUX.items(), (BLUE, VERMILLION), strict=True):
        values = series[column.format(name)][rows]
        line_with_band(axes, series.time[rows], values, color=colour, linewidth=_FINE, label=wall)
    columns = [series[column.format(name)] for column in layout.SCALAR_FLUX.values()]
    _limits(axes, np.stack(columns).T.ravel())
    axes.set_ylabel(f"flux of {name} into the fluid")
    legend(axes, loc="best")
    _time_axis(axes, series)


def divergence_history(axes: Axes, series: TimeSeries) -> None:
    """The largest |div u| against time."""
    rows = thinned(series)
    values = series[layout.MAX_DIVERGENCE][rows]
    positive = np.where(values > 0, values, np.nan)
    axes.set_ylabel(r"$\max|\nabla\cdot\mathbf{u}|\,h/U$")
    _time_axis(axes, series)
    if not np.any(np.isfinite(positive)):
        axes.text(0.5, 0.5, "zero throughout", transform=axes.transAxes, ha="center", va="center")
        return
    axes.set_yscale("log")
    line_with_band(axes, series.time[rows], positive, linewidth=_FINE)
    low, high = np.floor(np.log10(np.nanmin(positive))), np.ceil(np.log10(np.nanmax(positive)))
    axes.set_ylim(10.0 ** (low - 0.5), 10.0 ** (max(high, low + 1) + 0.5))
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=6))
    axes.yaxis.set_minor_formatter(NullFormatter())


def is_constant(values: Array, scale: float = 0.0) -> bool:
    """Whether the values differ by round-off at most. `scale`: the usual size of values that may all be 0."""
    known = values[np.isfinite(values)]
    return known.size == 0 or float(np.ptp(known)) <= 1e-9 * max(float(np.max(np.abs(known))), scale)


def history_panels(series: TimeSeries) -> list[str]:
    """The panels of a history. Left out: Re_tau without a wall, a constant bulk velocity, and a force that is 0."""
    bulk, force = series[layout.BULK_VELOCITY], series[layout.FORCING_COLUMN]
    speed = float(np.sqrt(2 * np.nanmax(series[layout.KINETIC_ENERGY])))
    shown = {
        "re_tau": bool(walls_with_shear(series)),
        layout.BULK_VELOCITY: not is_constant(bulk, speed),
        layout.KINETIC_ENERGY: True,
        layout.FORCING_COLUMN: not is_constant(force) or bool(np.any(force != 0)),
        "divergence": True,
        "time step": True,
    }
    return [name for name, there in shown.items() if there]


def history(series: TimeSeries, re_tau_mean: MeanEstimate | None, averaging_start: float | None = None) -> Figure:
    """Panels against time: Re_tau, bulk velocity, energy, forcing, divergence, time step (history_panels).

    In h and U. `averaging_start`: a time that all panels mark.
    """
    names = history_panels(series)
    if len(names) % 2 == 1:
        names.insert(0, names[0])  # one panel as wide as two
    rows: list[Any] = [names[n : n + 2] for n in range(0, len(names), 2)]
    figure = new_figure(9.6, 2.2 * len(rows))
    panels = figure.subplot_mosaic(rows, sharex=True)
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(wspace=0.05)
    if averaging_start is not None:
        for axes in panels.values():
            axes.axvline(averaging_start, **{**THIN, "color": BLACK}, linestyle=(0, (5, 3)), label="averages start")
    if "re_tau" in panels:
        re_tau_history(panels["re_tau"], series, re_tau_mean)
    for name in _COLUMNS:
        if name in panels:
            column_history(panels[name], series, name)
    divergence_history(panels["divergence"], series)
    time_step_history(panels["time step"], series)
    for name, axes in panels.items():
        is_wide = names.count(name) == 2
        axes.tick_params(axis="x", labelbottom=is_wide or name in rows[-1])  # a wide panel has a time scale of its own
        if not is_wide and name not in rows[-1]:
            axes.set_xlabel("")
    figure.align_ylabels()
    return figure


def time_step_history(axes: Axes, series: TimeSeries) -> None:
    """The time step, and on a second ordinate the time step over its limit, against time."""
    rows = thinned(series)
    axes.set_ylabel(r"$\Delta t\,U/h$")
    if layout.DT in series.columns:
        line_with_band(axes, series.time[rows], series[layout.DT][rows], color=BLUE, linewidth=_FINE)
        _limits(axes, series[layout.DT])
    if layout.CFL in series.columns:
        right = axes.twinx()
        line_with_band(right, series.time[rows], series[layout.CFL][rows], color=VERMILLION, linewidth=_FINE)
        right.set_ylabel(r"$\Delta t/\Delta t_{\lim}$", color=VERMILLION)
        axes.set_ylabel(r"$\Delta t\,U/h$", color=BLUE)
        axes.tick_params(axis="y", which="both", right=False)
        largest = np.nanmax(series[layout.CFL])
        right.set_ylim(0, 1.3 * (largest if largest > 0 else 1.0))
    _time_axis(axes, series)


def _title_time(axes: Axes, time: float) -> None:
    """On the right, where a report takes it away if it shows other times as well."""
    axes.set_title(rf"$t\,U/h={time:.6g}$", loc="right")


def plane_picture(plane: Plane) -> Figure:
    """A slice normal to x or y, in h and U."""
    aspect = float(np.ptp(plane.up) / max(np.ptp(plane.along), 1e-12))
    wide = plane.normal == "y"
    width = 9.6 if wide else 6.4
    figure = new_figure(width, min(max(width * 0.8 * aspect + 1.0, 2.2), 7.0))
    axes = figure.add_subplot()
    mesh = axes.pcolormesh(
        plane.along,
        plane.up,
        plane.values,
        shading="gouraud" if min(plane.values.shape) > 1 else "nearest",
        cmap="viridis",
        rasterized=True,
    )
    axes.set_aspect("equal")
    axes.tick_params(which="both", direction="out", top=False, right=False)
    bar = figure.colorbar(mesh, cax=axes.inset_axes((1.015, 0, 0.018 if wide else 0.027, 1)))
    bar.set_label(rf"${plane.field}/U$" if plane.field != "p" else r"$p/\rho U^2$")
    bar.ax.minorticks_off()
    other = "y" if plane.normal == "x" else "x"
    axes.set_xlabel(rf"${other}/h$")
    axes.set_ylabel(r"$z/h$")
    axes.set_title(rf"${plane.normal}/h={plane.at:.4g}$", loc="left")
    _title_time(axes, plane.time)
    return figure


def streak_picture(plane: Slice, height: float, plus: float | None, u_tau: float | None) -> Figure:
    """The streaks in a figure that has the shape of the plane."""
    length_x, length_y = streaks_of(plane, height, plus, u_tau).size
    aspect = length_y / length_x
    width = 9.6
    figure = new_figure(width, min(max(width * 0.84 * aspect + 1.0, 2.4), 9.0))
    streaks(figure.add_subplot(), plane, height, plus, u_tau)
    return figure


def streaks(axes: Axes, plane: Slice, height: float, plus: float | None, u_tau: float | None) -> None:
    """u' = u - <u> on a plane near the wall, over u_tau and in wall units where these are known, else in h and U.

    `height` is Lz, `plus` is u_tau/nu. With a colour bar beside the axes.
    """
    found = streaks_of(plane, height, plus, u_tau)
    length_x, length_y = found.size
    mesh = axes.imshow(
        found.values,
        cmap=DIVERGING_MAP,
        vmin=-found.limit,
        vmax=found.limit,
        extent=(0, length_x, 0, length_y),
        origin="lower",
        aspect="equal",
        interpolation="bilinear",
    )
    axes.tick_params(which="both", direction="out", top=False, right=False)
    bar = axes.figure.colorbar(mesh, cax=axes.inset_axes((1.015, 0, 0.018, 1)))
    scaled = found.scaled
    bar.set_label(r"$(u-\langle u\rangle)/u_\tau$" if scaled else r"$(u-\langle u\rangle)/U$")
    bar.ax.minorticks_off()
    axes.set_xlabel(r"$x^+$" if scaled else r"$x/h$")
    axes.set_ylabel(r"$y^+$" if scaled else r"$y/h$")
    where = rf"$z^+={found.distance:.1f}$" if scaled else rf"$z/h={plane.at:g}$"
    side = " from the top wall" if found.from_top else ""
    axes.set_title(f"{where}{side}", loc="left")
    _title_time(axes, plane.time)
