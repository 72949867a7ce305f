"""Figures of densities and quadrants. Each function returns one matplotlib figure."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.densities import FIELDS, SHEARS
from sluice_post.evaluated_densities import MIDDLES, EvaluatedDensities
from sluice_post.figures import gaussian_lines, line_with_band, near_wall
from sluice_post.histograms import density
from sluice_post.quadrants import HOLE_SIZES
from sluice_post.style import (
    BLACK,
    BLUE,
    COMPONENT,
    GREEN,
    GREY,
    PURPLE,
    THIN,
    VERMILLION,
    flatness_axis,
    height_colours,
    height_label,
    log_wall_axis,
    new_figure,
    panel_grid,
)

Array = NDArray[np.float64]

_NAMES = {"u": "streamwise", "v": "spanwise", "w": "wall-normal", "p": "pressure"}
_LEAST = 1e-5  # density that is shown
_QUADRANTS = {
    1: ("outward, $u'>0$, $w'>0$", PURPLE),
    2: ("ejections, $u'<0$, $w'>0$", BLUE),
    3: ("inward, $u'<0$, $w'<0$", GREEN),
    4: ("sweeps, $u'>0$, $w'<0$", VERMILLION),
}


def _curve(axes: Axes, x: Array, values: Array, width: Array, colour: object, label: str) -> None:
    """A density with its interval on a logarithmic axis."""
    shown = values >= _LEAST / 10
    x, values, width = x[shown], values[shown], width[shown]
    axes.plot(x, values, color=colour, label=label, linewidth=1.5, zorder=3)
    if np.isfinite(width).any():
        low = np.maximum(values - width, 1e-3 * values)
        axes.fill_between(x, low, values + width, color=colour, alpha=0.22, linewidth=0)


def _gaussian(axes: Axes, x: Array, mean: float = 0.0, rms: float = 1.0) -> None:
    values = np.exp(-(((x - mean) / rms) ** 2) / 2) / (np.sqrt(2 * np.pi) * rms)
    axes.plot(x, values, color=GREY, linestyle="--", linewidth=1.2, label="Gaussian", zorder=2)


def _density_axis(axes: Axes, largest: float) -> None:
    axes.set_yscale("log")
    axes.set_ylim(_LEAST, 4 * largest)
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
    axes.yaxis.set_minor_formatter(NullFormatter())


def densities_figure(evaluated: EvaluatedDensities) -> Figure:
    """Densities of the fluctuations over their standard deviation at the chosen heights."""
    figure = new_figure(9.6, 7.4)
    panels = figure.subplots(2, 2)
    for axes, field in zip(panels.flat, FIELDS, strict=True):
        values, widths = evaluated.values[f"density_{field}"], evaluated.width(f"density_{field}")
        for n, colour in enumerate(height_colours(len(evaluated.names))):
            _curve(axes, MIDDLES, values[n], widths[n], colour, height_label(evaluated.names[n]))
        _gaussian(axes, MIDDLES)
        _density_axis(axes, float(np.nanmax(values)))
        axes.set_xlim(MIDDLES[0], MIDDLES[-1])
        axes.set_xlabel(rf"${field}'/{field}_\mathrm{{rms}}$ {_NAMES[field]}")
        axes.set_ylabel(rf"${field}_\mathrm{{rms}}\,P({field}')$")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6))
    return figure


def wall_shear_figure(evaluated: EvaluatedDensities) -> Figure:
    """Densities of both components of the wall shear over the mean of the streamwise one."""
    figure = new_figure(9.6, 4.2)
    for axes, name, colour in zip(figure.subplots(1, 2), SHEARS, (BLUE, GREEN), strict=True):
        edges, values = evaluated.shear_edges[name], evaluated.values[f"density_{name}"]
        x, axis = (edges[1:] + edges[:-1]) / 2, name[-1]
        axes.axvline(0, **THIN)
        _curve(axes, x, values, evaluated.width(f"density_{name}"), colour, "this run")
        _gaussian(axes, x, (edges[0] + edges[-1]) / 2, float(evaluated.values[f"rms_{name}"]))
        largest = float(np.nanmax(values))
        _density_axis(axes, largest)
        shown = x[np.nan_to_num(values) > _LEAST]
        axes.set_xlim(min(0.0, float(shown[0])) - 0.1, float(shown[-1]) + 0.1)
        axes.set_xlabel(rf"$\tau_{axis}/\langle\tau_x\rangle$")
        axes.set_ylabel(rf"$\langle\tau_x\rangle\,P(\tau_{axis})$")
        axes.legend(loc="upper right")
    return figure


def map_figure(evaluated: EvaluatedDensities) -> Figure:
    """The density of u+ at each height, and its mean."""
    found = evaluated.found
    histograms = [h.linear(1 / found.u_tau) for h in found.histograms("u")]
    low = min(float(h.edges[:, 1].min()) for h in histograms)
    high = max(float(h.edges[:, -2].max()) for h in histograms)
    edges = np.linspace(low, high, 301)
    z_plus = found.plus(found.z("u"))
    values = np.array([density([h.at(n) for h in histograms], edges) for n in range(len(z_plus))])
    with np.errstate(divide="ignore"):
        logarithm = np.log10(np.nan_to_num(values))
    levels = np.arange(-4, 0.25, 0.5)
    figure = new_figure(7.2, 5.0)
    axes = figure.subplots()
    middle = (edges[1:] + edges[:-1]) / 2
    filled = axes.contourf(
        z_plus, middle, np.clip(logarithm, -9, None).T, levels=levels, cmap="Blues", extend="max"
    )
    axes.plot(z_plus, evaluated.values["mean_u"], color=BLACK, linewidth=1.5, label="mean")
    log_wall_axis(axes, z_plus)
    axes.set_xlim(1.0, z_plus[-1])
    some = middle[(values > 10.0 ** levels[0]).any(axis=0)]
    axes.set_ylim(float(some[0]) - 0.5, float(some[-1]) + 0.5)
    axes.set_ylabel(r"$u^+$")
    axes.legend(loc="upper left")
    bar = figure.colorbar(filled, ax=axes, pad=0.02)
    bar.set_ticks([-4, -3, -2, -1, 0])
    bar.set_ticklabels([f"$10^{{{n}}}$" for n in (-4, -3, -2, -1)] + ["1"])
    bar.ax.minorticks_off()
    bar.set_label(r"$u_\tau P(u)$")
    return figure


def moments_figure(evaluated: EvaluatedDensities) -> Figure:
    """Skewness and flatness of the histograms; open symbols where the bins cut values off that matter."""
    found = evaluated.found
    figure = new_figure(9.6, 4.6)
    skewness, flatness = figure.subplots(1, 2)
    low, high = 3.0, 3.0
    for axes, moment in ((skewness, "skewness"), (flatness, "flatness")):
        log_wall_axis(axes, found.plus(found.z("u")))
        for field in FIELDS:
            name = f"{moment}_{field}"
            values, cut_off = evaluated.values[name], evaluated.is_cut_off(name)
            known = np.isfinite(values)
            z_plus, values, cut_off = found.plus(found.z(field))[known], values[known], cut_off[known]
            colour = COMPONENT[field]
            line_with_band(
                axes,
                z_plus,
                values,
                evaluated.width(name)[known],
                color=colour,
                label=f"${field}$",
                **near_wall(z_plus),
            )
            axes.plot(
                z_plus[cut_off], values[cut_off], linestyle="none", marker="o", markersize=5,
                markerfacecolor="white", color=colour, zorder=4,
            )  # fmt: skip
            if moment == "flatness":
                low, high = min(low, float(values.min())), max(high, float(values.max()))
    gaussian_lines(skewness, flatness)
    skewness.margins(y=0.08)
    flatness_axis(flatness, low, high)
    flatness.legend(loc="upper right")
    return figure


def quadrants_figure(evaluated: EvaluatedDensities) -> Figure:
    """What each quadrant contributes to -u'w', and how much of the time the flow is in it."""
    figure = new_figure(9.6, 4.4)
    left, right = figure.subplots(1, 2)
    z_plus = evaluated.found.plus(evaluated.found.z("w"))[1:]
    for axes, name in ((left, "minus_uw"), (right, "fraction")):
        for quadrant, (label, colour) in _QUADRANTS.items():
            values = evaluated.values[f"{name}_q{quadrant}"][1:]
            width = evaluated.width(f"{name}_q{quadrant}")[1:]
            axes.plot(z_plus, values, color=colour, label=label)
            if evaluated.widths is not None:
                axes.fill_between(
                    z_plus, values - width, values + width, color=colour, alpha=0.22, linewidth=0
                )
        log_wall_axis(axes, z_plus)
        axes.set_xlim(1.0, z_plus[-1])
    total = sum(evaluated.values[f"minus_uw_q{quadrant}"][1:] for quadrant in layout.QUADRANTS)
    left.axhline(0, **THIN)
    left.plot(z_plus, total, color=BLACK, linestyle="--", linewidth=1.2, label="sum")
    left.set_ylabel(r"$-\langle u'w'\rangle_q^+$")
    right.axhline(0.25, **THIN)
    right.set_ylabel("fraction of time")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def holes_figure(evaluated: EvaluatedDensities) -> Figure | None:
    """What each quadrant contributes outside holes of growing size; None without joint densities."""
    z_plus = evaluated.found.plus(evaluated.found.joint_z)
    if not z_plus.size:
        return None
    rows, columns = panel_grid(z_plus.size)
    figure = new_figure(3.6 * columns + 0.4, 3.1 * rows + 0.7)
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for n, axes in enumerate(panels.flat):
        if n >= z_plus.size:
            axes.set_visible(False)
            continue
        axes.axhline(0, **THIN)
        for of, (label, colour) in enumerate(_QUADRANTS.values()):
            values, width = evaluated.values["hole_minus_uw"][n, of], evaluated.width("hole_minus_uw")[n, of]
            axes.plot(HOLE_SIZES, values, color=colour, label=label)
            if evaluated.widths is not None:
                axes.fill_between(
                    HOLE_SIZES, values - width, values + width, color=colour, alpha=0.22, linewidth=0
                )
        axes.set_xlim(0, 12)
        axes.set_title(rf"$z^+={z_plus[n]:.3g}$")
        axes.tick_params(labelbottom=n + columns >= z_plus.size)
        if n + columns >= z_plus.size:
            axes.set_xlabel(r"$H$")
        if n % columns == 0:
            axes.set_ylabel(r"$-\langle u'w'\rangle_q^+$")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 if columns < 3 else 4)
    return figure
