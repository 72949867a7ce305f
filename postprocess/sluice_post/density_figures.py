"""Figures of densities and quadrants.

A function that takes axes draws one panel into them; the others return a figure of such panels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from scipy.stats import norm

from sluice_post import style
from sluice_post.arrays import Array
from sluice_post.densities import FIELDS, SHEARS
from sluice_post.evaluated_densities import MIDDLES, EvaluatedDensities
from sluice_post.figures import gaussian_line, near_wall
from sluice_post.histograms import density
from sluice_post.quadrants import HOLE_SIZES
from sluice_post.spectra_figures import decades_axis, styles_of_heights
from sluice_post.style import figure_legend, legend, line_with_band, published_points

_NAMES = {"u": "streamwise", "v": "spanwise", "w": "wall-normal", "p": "pressure"}
_LEAST = 1e-5  # density that is shown
_DECADES = np.arange(-4, 0.25, 0.5)
_QUADRANTS = {
    1: ("outward, $u'>0$, $w'>0$", style.PURPLE),
    2: ("ejections, $u'<0$, $w'>0$", style.BLUE),
    3: ("inward, $u'<0$, $w'<0$", style.GREEN),
    4: ("sweeps, $u'>0$, $w'<0$", style.VERMILLION),
}


def _curve(axes: Axes, x: Array, values: Array, width: Array, **line: Any) -> None:
    """A density with its interval, where it is large enough to be shown."""
    shown = values >= _LEAST / 10
    line_with_band(axes, x[shown], values[shown], width[shown], **line)


def _gaussian(axes: Axes, x: Array, mean: float = 0.0, rms: float = 1.0) -> None:
    axes.plot(x, norm.pdf(x, mean, rms), color=style.GREY, linestyle="--", label="Gaussian", zorder=2)


def densities_figure(evaluated: EvaluatedDensities) -> Figure:
    """Densities of the fluctuations over their standard deviation at the chosen heights."""
    figure = style.new_figure(9.6, 7.4)
    panels = figure.subplots(2, 2)
    for axes, field in zip(panels.flat, FIELDS, strict=True):
        fluctuation_density(axes, evaluated, field)
    figure_legend(figure, panels[0, 0])
    return figure


def fluctuation_density(axes: Axes, evaluated: EvaluatedDensities, field: str) -> None:
    """Density of the fluctuation of u, v, w or p over its standard deviation at the chosen heights."""
    values, widths = evaluated.values[f"density_{field}"], evaluated.width(f"density_{field}")
    decades_axis(axes, _LEAST, 4 * float(np.nanmax(values)))
    for n, line in styles_of_heights(evaluated.names):
        _curve(axes, MIDDLES, values[n], widths[n], **line)
    _gaussian(axes, MIDDLES)
    axes.set_xlim(MIDDLES[0], MIDDLES[-1])
    axes.set_xlabel(rf"${field}'/{field}_\mathrm{{rms}}$ {_NAMES[field]}")
    axes.set_ylabel(rf"${field}_\mathrm{{rms}}\,P({field}')$")


def wall_shear_figure(evaluated: EvaluatedDensities) -> Figure:
    """Densities of both components of the wall shear over the mean that u_tau is formed from."""
    figure = style.new_figure(9.6, 4.2)
    for axes, name in zip(figure.subplots(1, 2), SHEARS, strict=True):
        wall_shear_density(axes, evaluated, name)
    return figure


def wall_shear_density(axes: Axes, evaluated: EvaluatedDensities, name: str) -> None:
    """Density of one component of the wall shear, shear_x or shear_y, over the mean that u_tau is formed from."""
    edges, values = evaluated.shear_edges[name], evaluated.values[f"density_{name}"]
    x = (edges[1:] + edges[:-1]) / 2
    decades_axis(axes, _LEAST, 4 * float(np.nanmax(values)))
    axes.axvline(0, **style.THIN)
    _curve(axes, x, values, evaluated.width(f"density_{name}"), label="this run")
    _gaussian(axes, x, (edges[0] + edges[-1]) / 2, float(evaluated.values[f"rms_{name}"]))
    shown = x[np.nan_to_num(values) > _LEAST]
    axes.set_xlim(min(0.0, float(shown[0])) - 0.1, float(shown[-1]) + 0.1)
    mean = r"|\langle\tau\rangle|" if evaluated.found.view.turns else r"\langle\tau_x\rangle"
    axes.set_xlabel(rf"$\tau_{name[-1]}/{mean}$")
    axes.set_ylabel(rf"${mean}\,P(\tau_{name[-1]})$")
    legend(axes, loc="upper right")


def map_figure(evaluated: EvaluatedDensities) -> Figure:
    """The density of u+ at each height, and its mean."""
    figure = style.new_figure(7.2, 5.0)
    axes = figure.subplots()
    decades_bar(figure, density_map(axes, evaluated), axes, _DECADES, r"$u_\tau P(u)$")
    return figure


def decades_bar(figure: Figure, filled: QuadContourSet, panels: Any, decades: Array, label: str) -> None:
    """The bar of the colours of contours of powers of 10, at every other of `decades`."""
    bar = figure.colorbar(filled, ax=panels, shrink=0.8, pad=0.02)
    bar.set_ticks(list(decades[::2]), labels=[f"$10^{{{exponent:.0f}}}$" for exponent in decades[::2]])
    bar.ax.minorticks_off()
    bar.set_label(label)


def density_map(axes: Axes, evaluated: EvaluatedDensities) -> QuadContourSet:
    """The density of u+ at each height, and its mean; returns the contours, of the logarithm."""
    found = evaluated.found
    histograms = [h.linear(1 / found.u_tau) for h in found.histograms("u")]
    low = min(float(h.edges[:, 1].min()) for h in histograms)
    high = max(float(h.edges[:, -2].max()) for h in histograms)
    edges, z_plus = np.linspace(low, high, 301), found.plus(found.z("u"))
    values = np.array([density([h.at(n) for h in histograms], edges) for n in range(len(z_plus))])
    with np.errstate(divide="ignore"):
        logarithm = np.clip(np.log10(np.nan_to_num(values)), -9, None).T
    middle = (edges[1:] + edges[:-1]) / 2
    filled = axes.contourf(z_plus, middle, logarithm, levels=_DECADES, cmap="Blues", extend="max")
    line_with_band(axes, z_plus, evaluated.values["mean_u"], None, color=style.BLACK, label="mean")
    style.log_wall_axis(axes, z_plus)
    axes.set_xlim(1.0, z_plus[-1])
    some = middle[(values > 10.0 ** _DECADES[0]).any(axis=0)]
    axes.set_ylim(float(some[0]) - 0.5, float(some[-1]) + 0.5)
    axes.set_ylabel(r"$u^+$")
    legend(axes, loc="upper left")
    return filled


def moments_figure(evaluated: EvaluatedDensities) -> Figure:
    """Skewness and flatness of the histograms; open symbols where the bins cut values off that matter."""
    figure = style.new_figure(9.6, 4.6)
    left, right = figure.subplots(1, 2)
    moment_profile(left, evaluated, "skewness")
    moment_profile(right, evaluated, "flatness")
    legend(right, loc="upper right")
    return figure


def moment_profile(axes: Axes, evaluated: EvaluatedDensities, moment: str) -> None:
    """Skewness or flatness of the histograms of u, v, w and p against z+."""
    found, shown = evaluated.found, [3.0]
    style.log_wall_axis(axes, found.plus(found.z("u")))
    for field, colour in style.COMPONENT.items():
        name = f"{moment}_{field}"
        known = np.isfinite(evaluated.values[name])
        z_plus, values = found.plus(found.z(field))[known], evaluated.values[name][known]
        line = {"color": colour, "label": f"${field}$", **near_wall(z_plus)}
        line_with_band(axes, z_plus, values, evaluated.width(name)[known], **line)
        cut_off = evaluated.is_cut_off(name)[known]
        published_points(axes, z_plus[cut_off], values[cut_off], colour)
        shown += values.tolist()
    gaussian_line(axes, moment)
    if moment == "flatness":
        style.flatness_axis(axes, min(shown), max(shown))
    else:
        axes.margins(y=0.08)


def quadrants_figure(evaluated: EvaluatedDensities) -> Figure:
    """What each quadrant contributes to -u'w', and how much of the time the flow is in it."""
    figure = style.new_figure(9.6, 4.4)
    left, right = figure.subplots(1, 2)
    quadrant_contributions(left, evaluated)
    quadrant_fractions(right, evaluated)
    figure_legend(figure, left, ncols=3)
    return figure


def quadrant_contributions(axes: Axes, evaluated: EvaluatedDensities) -> None:
    """What each quadrant contributes to -u'w', and their sum, against z+."""
    z_plus = _quadrants(axes, evaluated, "minus_uw")
    axes.axhline(0, **style.THIN)
    axes.plot(z_plus, evaluated.values["minus_uw_all"][1:], color=style.BLACK, linestyle="--", label="sum")
    axes.set_ylabel(r"$-\langle u'w'\rangle_q^+$")


def quadrant_fractions(axes: Axes, evaluated: EvaluatedDensities) -> None:
    """How much of the time the flow is in each quadrant, against z+."""
    _quadrants(axes, evaluated, "fraction")
    axes.axhline(0.25, **style.THIN)
    axes.set_ylabel("fraction of time")


def _quadrants(axes: Axes, evaluated: EvaluatedDensities, name: str) -> Array:
    z_plus = evaluated.found.plus(evaluated.found.z("w"))[1:]
    for quadrant, (label, colour) in _QUADRANTS.items():
        values, width = (of(f"{name}_q{quadrant}")[1:] for of in (evaluated.values.__getitem__, evaluated.width))
        line_with_band(axes, z_plus, values, width, color=colour, label=label)
    style.log_wall_axis(axes, z_plus)
    axes.set_xlim(1.0, z_plus[-1])
    return z_plus


def figure_of_heights(
    evaluated: EvaluatedDensities, draw: Callable[[Axes, EvaluatedDensities, int], Any], sharey: bool
) -> tuple[Figure, list[Axes], list[Any]] | None:
    """A panel for each height of the joint densities; with what `draw` returned. None without any."""
    count = evaluated.found.joint_z.size
    if not count:
        return None
    rows, columns = style.panel_grid(count)
    figure = style.new_figure(2.9 * columns + 1.6, 3.0 * rows + 0.7)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=sharey)
    for axes in panels.flat[count:]:
        axes.set_visible(False)
    drawn = [draw(axes, evaluated, n) for n, axes in enumerate(panels.flat[:count])]
    columns = panels.flat[0].get_subplotspec().get_gridspec().ncols  # there may be fewer in print
    for n, axes in enumerate(panels.flat[:count]):
        is_lowest = n + columns >= count
        axes.tick_params(labelbottom=is_lowest)
        axes.set(xlabel=axes.get_xlabel() if is_lowest else "", ylabel="" if n % columns else axes.get_ylabel())
    return figure, list(panels.flat[:count]), drawn


def holes_figure(evaluated: EvaluatedDensities) -> Figure | None:
    """What each quadrant contributes outside holes of growing size; None without joint densities."""
    if (made := figure_of_heights(evaluated, holes, sharey=False)) is None:
        return None
    figure, panels, _ = made
    figure_legend(figure, panels[0], ncols=4 if len(panels) == 3 or len(panels) > 4 else 2)
    return figure


def holes(axes: Axes, evaluated: EvaluatedDensities, height: int) -> None:
    """What each quadrant contributes outside holes of growing size, at one height of the joint densities, from 0."""
    values, width = evaluated.values["hole_minus_uw"][height], evaluated.width("hole_minus_uw")[height]
    axes.axhline(0, **style.THIN)
    for of, (label, colour) in enumerate(_QUADRANTS.values()):
        line_with_band(axes, HOLE_SIZES, values[of], width[of], color=colour, label=label)
    axes.set_xlim(0, 12)
    axes.set_title(style.height_label(f"{evaluated.found.plus(evaluated.found.joint_z)[height]:.3g}"))
    axes.set_xlabel(r"$H$")
    axes.set_ylabel(r"$-\langle u'w'\rangle_q^+$")
