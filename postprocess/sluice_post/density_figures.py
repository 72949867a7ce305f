"""Figures of densities and quadrants.

A function that takes axes draws one panel into them and returns them; the others return a figure of such panels.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.densities import FIELDS, SHEARS
from sluice_post.evaluated_densities import MIDDLES, EvaluatedDensities
from sluice_post.figures import gaussian_line, near_wall
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
    line_with_band,
    log_wall_axis,
    new_figure,
    panel_grid,
)

_NAMES = {"u": "streamwise", "v": "spanwise", "w": "wall-normal", "p": "pressure"}
_LEAST = 1e-5  # density that is shown
_QUADRANTS = {
    1: ("outward, $u'>0$, $w'>0$", PURPLE),
    2: ("ejections, $u'<0$, $w'>0$", BLUE),
    3: ("inward, $u'<0$, $w'<0$", GREEN),
    4: ("sweeps, $u'>0$, $w'<0$", VERMILLION),
}


def _curve(
    axes: Axes, x: Array, values: Array, width: Array, colour: str | tuple[float, ...] | None, label: str
) -> None:
    """A density with its interval on a logarithmic axis."""
    shown = values >= _LEAST / 10
    x, values, width = x[shown], values[shown], width[shown]
    (line,) = axes.plot(x, values, color=colour, label=label, linewidth=1.5, zorder=3)
    if np.isfinite(width).any():
        low = np.maximum(values - width, 1e-3 * values)
        axes.fill_between(x, low, values + width, color=line.get_color(), alpha=0.22, linewidth=0)


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
        fluctuation_density(axes, evaluated, field)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6))
    return figure


def fluctuation_density(axes: Axes, evaluated: EvaluatedDensities, field: str) -> Axes:
    """Density of the fluctuation of u, v, w or p over its standard deviation at the chosen heights."""
    values, widths = evaluated.values[f"density_{field}"], evaluated.width(f"density_{field}")
    for n, colour in enumerate(height_colours(len(evaluated.names))):
        _curve(axes, MIDDLES, values[n], widths[n], colour, height_label(evaluated.names[n]))
    _gaussian(axes, MIDDLES)
    _density_axis(axes, float(np.nanmax(values)))
    axes.set_xlim(MIDDLES[0], MIDDLES[-1])
    axes.set_xlabel(rf"${field}'/{field}_\mathrm{{rms}}$ {_NAMES[field]}")
    axes.set_ylabel(rf"${field}_\mathrm{{rms}}\,P({field}')$")
    return axes


def wall_shear_figure(evaluated: EvaluatedDensities) -> Figure:
    """Densities of both components of the wall shear over the mean that u_tau is formed from."""
    figure = new_figure(9.6, 4.2)
    for axes, name in zip(figure.subplots(1, 2), SHEARS, strict=True):
        wall_shear_density(axes, evaluated, name)
    return figure


def wall_shear_density(axes: Axes, evaluated: EvaluatedDensities, name: str) -> Axes:
    """Density of one component of the wall shear, shear_x or shear_y, over the mean that u_tau is formed from."""
    edges, values = evaluated.shear_edges[name], evaluated.values[f"density_{name}"]
    x, axis = (edges[1:] + edges[:-1]) / 2, name[-1]
    axes.axvline(0, **THIN)
    _curve(axes, x, values, evaluated.width(f"density_{name}"), None, "this run")
    _gaussian(axes, x, (edges[0] + edges[-1]) / 2, float(evaluated.values[f"rms_{name}"]))
    largest = float(np.nanmax(values))
    _density_axis(axes, largest)
    shown = x[np.nan_to_num(values) > _LEAST]
    axes.set_xlim(min(0.0, float(shown[0])) - 0.1, float(shown[-1]) + 0.1)
    mean = r"|\langle\tau\rangle|" if evaluated.found.view.turns else r"\langle\tau_x\rangle"
    axes.set_xlabel(rf"$\tau_{axis}/{mean}$")
    axes.set_ylabel(rf"${mean}\,P(\tau_{axis})$")
    axes.legend(loc="upper right")
    return axes


def map_figure(evaluated: EvaluatedDensities) -> Figure:
    """The density of u+ at each height, and its mean."""
    figure = new_figure(7.2, 5.0)
    axes = figure.subplots()
    bar = figure.colorbar(density_map(axes, evaluated), ax=axes, pad=0.02)
    bar.set_ticks([-4, -3, -2, -1, 0])
    bar.set_ticklabels([f"$10^{{{n}}}$" for n in (-4, -3, -2, -1)] + ["1"])
    bar.ax.minorticks_off()
    bar.set_label(r"$u_\tau P(u)$")
    return figure


def density_map(axes: Axes, evaluated: EvaluatedDensities) -> QuadContourSet:
    """The density of u+ at each height, and its mean; returns the contours, of the logarithm."""
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
    middle = (edges[1:] + edges[:-1]) / 2
    filled = axes.contourf(z_plus, middle, np.clip(logarithm, -9, None).T, levels=levels, cmap="Blues", extend="max")
    axes.plot(z_plus, evaluated.values["mean_u"], color=BLACK, linewidth=1.5, label="mean")
    log_wall_axis(axes, z_plus)
    axes.set_xlim(1.0, z_plus[-1])
    some = middle[(values > 10.0 ** levels[0]).any(axis=0)]
    axes.set_ylim(float(some[0]) - 0.5, float(some[-1]) + 0.5)
    axes.set_ylabel(r"$u^+$")
    axes.legend(loc="upper left")
    return filled


def moments_figure(evaluated: EvaluatedDensities) -> Figure:
    """Skewness and flatness of the histograms; open symbols where the bins cut values off that matter."""
    figure = new_figure(9.6, 4.6)
    left, right = figure.subplots(1, 2)
    moment_profile(left, evaluated, "skewness")
    moment_profile(right, evaluated, "flatness")
    right.legend(loc="upper right")
    return figure


def moment_profile(axes: Axes, evaluated: EvaluatedDensities, moment: str) -> Axes:
    """Skewness or flatness of the histograms of u, v, w and p against z+."""
    found = evaluated.found
    low, high = 3.0, 3.0
    log_wall_axis(axes, found.plus(found.z("u")))
    for field in FIELDS:
        name = f"{moment}_{field}"
        values, cut_off = evaluated.values[name], evaluated.is_cut_off(name)
        known = np.isfinite(values)
        z_plus, values, cut_off = found.plus(found.z(field))[known], values[known], cut_off[known]
        colour = COMPONENT[field]
        line_with_band(
            axes, z_plus, values, evaluated.width(name)[known], color=colour, label=f"${field}$", **near_wall(z_plus)
        )
        axes.plot(
            z_plus[cut_off], values[cut_off], linestyle="none", marker="o", markersize=5,
            markerfacecolor="white", color=colour, zorder=4,
        )  # fmt: skip
        low, high = min(low, float(values.min())), max(high, float(values.max()))
    gaussian_line(axes, moment)
    if moment == "flatness":
        flatness_axis(axes, low, high)
    else:
        axes.margins(y=0.08)
    return axes


def quadrants_figure(evaluated: EvaluatedDensities) -> Figure:
    """What each quadrant contributes to -u'w', and how much of the time the flow is in it."""
    figure = new_figure(9.6, 4.4)
    left, right = figure.subplots(1, 2)
    quadrant_contributions(left, evaluated)
    quadrant_fractions(right, evaluated)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def quadrant_contributions(axes: Axes, evaluated: EvaluatedDensities) -> Axes:
    """What each quadrant contributes to -u'w', and their sum, against z+."""
    z_plus = _quadrants(axes, evaluated, "minus_uw")
    total = sum(evaluated.values[f"minus_uw_q{quadrant}"][1:] for quadrant in layout.QUADRANTS)
    axes.axhline(0, **THIN)
    axes.plot(z_plus, total, color=BLACK, linestyle="--", linewidth=1.2, label="sum")
    axes.set_ylabel(r"$-\langle u'w'\rangle_q^+$")
    return axes


def quadrant_fractions(axes: Axes, evaluated: EvaluatedDensities) -> Axes:
    """How much of the time the flow is in each quadrant, against z+."""
    _quadrants(axes, evaluated, "fraction")
    axes.axhline(0.25, **THIN)
    axes.set_ylabel("fraction of time")
    return axes


def _quadrants(axes: Axes, evaluated: EvaluatedDensities, name: str) -> Array:
    z_plus = evaluated.found.plus(evaluated.found.z("w"))[1:]
    for quadrant, (label, colour) in _QUADRANTS.items():
        values = evaluated.values[f"{name}_q{quadrant}"][1:]
        width = evaluated.width(f"{name}_q{quadrant}")[1:]
        axes.plot(z_plus, values, color=colour, label=label)
        if evaluated.widths is not None:
            axes.fill_between(z_plus, values - width, values + width, color=colour, alpha=0.22, linewidth=0)
    log_wall_axis(axes, z_plus)
    axes.set_xlim(1.0, z_plus[-1])
    return z_plus


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
        holes(axes, evaluated, n)
        axes.tick_params(labelbottom=n + columns >= z_plus.size)
        if n + columns < z_plus.size:
            axes.set_xlabel("")
        if n % columns != 0:
            axes.set_ylabel("")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 if columns < 3 else 4)
    return figure


def holes(axes: Axes, evaluated: EvaluatedDensities, height: int) -> Axes:
    """What each quadrant contributes outside holes of growing size, at one height of the joint densities, from 0."""
    z_plus = evaluated.found.plus(evaluated.found.joint_z)[height]
    axes.axhline(0, **THIN)
    for of, (label, colour) in enumerate(_QUADRANTS.values()):
        values, width = (evaluated.values["hole_minus_uw"][height, of], evaluated.width("hole_minus_uw")[height, of])
        axes.plot(HOLE_SIZES, values, color=colour, label=label)
        if evaluated.widths is not None:
            axes.fill_between(HOLE_SIZES, values - width, values + width, color=colour, alpha=0.22, linewidth=0)
    axes.set_xlim(0, 12)
    axes.set_title(rf"$z^+={z_plus:.3g}$")
    axes.set_xlabel(r"$H$")
    axes.set_ylabel(r"$-\langle u'w'\rangle_q^+$")
    return axes
