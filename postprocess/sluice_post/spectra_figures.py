"""Figures of spectra and two-point correlations.

A function that takes axes draws one panel into them; the others return a figure of such panels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

from sluice_post.arrays import Array
from sluice_post.spectra import AXES, CORRELATED, ON_WALL, EvaluatedSpectra, WallSpectra, last_double_mode
from sluice_post.spectra_reference import PublishedSpectra, find_published
from sluice_post.style import BLACK, THIN, height_colours, height_label, log_numbers, new_figure

Published = Sequence[PublishedSpectra]

MAPPED = ("uu", "vv", "ww", "minus_uw")
_FRACTIONS = (0.1, 0.25, 0.5, 0.75, 0.9)
_SYMBOLS = {"uu": "uu", "vv": "vv", "ww": "ww", "minus_uw": "-uw", "pp": "pp"}
_SYMBOLS |= {"cc": r"\theta\theta", "minus_wc": r"-w\theta"}
NAMES = {
    "uu": "streamwise",
    "vv": "spanwise",
    "ww": "wall-normal",
    "minus_uw": "shear stress",
    "pp": "pressure",
    "cc": "scalar",
    "minus_wc": "flux",
}
_DECADES = 8  # of the spectra that are shown


def subscript(quantity: str) -> str:
    """E with the symbol of a quantity."""
    return f"E_{{{_SYMBOLS[quantity].removeprefix('-')}}}"


def map_figure(found: WallSpectra, axis: str) -> Figure:
    """Premultiplied spectra over wavelength and height: contours at fractions of the maximum of each panel."""
    figure = new_figure(9.6, 7.4)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    filled = None
    for axes, quantity in zip(panels.flat, MAPPED, strict=True):
        filled = spectra_map(axes, found, quantity, axis)
        axes.label_outer()
    assert filled is not None
    bar_of_fractions(figure, filled, panels)
    return figure


def spectra_map(axes: Axes, found: WallSpectra, quantity: str, axis: str) -> QuadContourSet:
    """A premultiplied spectrum over wavelength and height; contours at fractions of its maximum, which are returned."""
    z_plus, wavelength, values = found.premultiplied(quantity, axis)
    largest = float(values.max())
    at = np.unravel_index(int(np.argmax(values)), values.shape)
    fraction = values / largest if largest > 0 else values
    levels = [0.0, *_FRACTIONS, 1.0]
    filled = axes.contourf(wavelength, z_plus, np.clip(fraction, 0, 1), levels=levels, cmap="Blues", zorder=0)
    axes.contour(wavelength, z_plus, fraction, levels=_FRACTIONS, colors=BLACK, linewidths=0.7)
    axes.plot(wavelength[at[1]], z_plus[at[0]], "+", color="white", markersize=9, markeredgewidth=1.6)
    axes.set_xscale("log")
    axes.set_yscale("log")
    low = max(1.0, float(z_plus[0]))
    axes.set_ylim(low, found.reach_plus)
    axes.set_xlim(wavelength[-1], wavelength[0])
    log_numbers(axes.xaxis, wavelength[-1], wavelength[0])
    log_numbers(axes.yaxis, low, found.reach_plus)
    sign = "-" if quantity.startswith("minus_") else ""
    axes.set_title(
        rf"${sign}k_{axis}{subscript(quantity)}^+$ {NAMES[quantity]}: maximum {largest:.3g} at "
        rf"$\lambda_{axis}^+={wavelength[at[1]]:.0f}$, $z^+={z_plus[at[0]]:.0f}$",
        fontsize=11,
    )
    axes.set_xlabel(rf"$\lambda_{axis}^+$")
    axes.set_ylabel(r"$z^+$")
    return filled


def wall_figure(evaluated: EvaluatedSpectra) -> Figure:
    """Premultiplied spectra of wall shear stress and wall pressure over the wavelengths; bands are 95 % intervals."""
    figure = new_figure(9.6, 9.4)
    panels = figure.subplots(3, 2, sharex="col", sharey="row")
    for row, quantity in zip(panels, ON_WALL, strict=True):
        largest = [wall_spectrum(axes, evaluated, quantity, axis) for axes, axis in zip(row, AXES, strict=True)]
        top = max(largest)
        row[0].set_ylim(0, 1.08 * top if top > 0 else 1)
        for axes in row:
            axes.label_outer()
    return figure


_ON_WALL = {"tau_x": (r"\tau_x", "streamwise shear"), "tau_y": (r"\tau_y", "spanwise shear"), "p": ("p", "pressure")}


def wall_spectrum(axes: Axes, evaluated: EvaluatedSpectra, quantity: str, axis: str) -> float:
    """Premultiplied spectrum of wall shear stress or wall pressure; returns the largest value shown."""
    found = evaluated.found
    modes = np.arange(1, last_double_mode(found.cells[axis]) + 1)
    wavelength = found.wavelength_plus(axis)[modes - 1]
    values = evaluated.lines.on_wall[quantity, axis][modes] * modes
    (line,) = axes.plot(wavelength, values, linewidth=1.5, zorder=3)
    top = float(values.max())
    if evaluated.bands:
        width = evaluated.bands.on_wall[quantity, axis][modes] * modes
        low = np.maximum(values - width, 0)
        axes.fill_between(wavelength, low, values + width, color=line.get_color(), alpha=0.2, linewidth=0)
        top = max(top, float((values + width).max()))
    axes.set_xscale("log")
    axes.set_xlim(wavelength[-1], wavelength[0])
    log_numbers(axes.xaxis, wavelength[-1], wavelength[0])
    symbol, name = _ON_WALL[quantity]
    axes.set_ylabel(rf"$kE^+_{{{symbol}}}$ {name}")
    axes.set_xlabel(rf"$\lambda_{axis}^+$")
    return top


def plane_figure(found: WallSpectra, height: int) -> Figure:
    """Premultiplied spectra over both wavelengths at a chosen height, by its number from the wall, from 0.

    Contours are at fractions of the maximum of each panel.
    """
    figure = new_figure(9.6, 7.4)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    drawn = [plane_map(axes, found, of, height) for axes, of in zip(panels.flat, MAPPED, strict=True)]
    for axes in panels.flat:
        axes.label_outer()
    filled = [contours for contours in drawn if contours is not None]
    if filled:
        bar_of_fractions(figure, filled[-1], panels)
    return figure


def plane_map(axes: Axes, found: WallSpectra, quantity: str, height: int) -> QuadContourSet | None:
    """A premultiplied spectrum over both wavelengths; returns the contours, None where the spectrum is zero."""
    plane = found.planes[quantity]
    n = plane.nearest(found.planes["uu"].z_plus[height])
    values = plane.premultiplied()[n]
    x, y = plane.wavelength_plus["x"], plane.wavelength_plus["y"]
    axes.set_xlabel(r"$\lambda_x^+$")
    axes.set_ylabel(r"$\lambda_y^+$")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(x[-1], x[0])
    axes.set_ylim(y[-1], y[0])
    log_numbers(axes.xaxis, x[-1], x[0])
    log_numbers(axes.yaxis, y[-1], y[0])
    sign = "-" if quantity == "minus_uw" else ""
    title = rf"${sign}k_xk_y{subscript(quantity)}^+$ {NAMES[quantity]}, $z^+={plane.z_plus[n]:.3g}$"
    largest = float(values.max())
    if largest <= 0 or plane.zero_by_symmetry[n]:
        reason = " by symmetry" if plane.zero_by_symmetry[n] else ""
        axes.set_title(f"{title}: zero{reason}", fontsize=11)
        return None
    at = np.unravel_index(int(np.argmax(values)), values.shape)
    fraction = values / largest
    filled = axes.contourf(x, y, np.clip(fraction, 0, 1), levels=[0.0, *_FRACTIONS, 1.0], cmap="Blues", zorder=0)
    axes.contour(x, y, fraction, levels=_FRACTIONS, colors=BLACK, linewidths=0.7)
    axes.plot(x[at[1]], y[at[0]], "+", color="white", markersize=9, markeredgewidth=1.6)
    axes.set_title(
        f"{title}:\n"
        rf"maximum {largest:.3g} at $\lambda_x^+={x[at[1]]:.0f}$, $\lambda_y^+={y[at[0]]:.0f}$",
        fontsize=11,
    )
    return filled


def bar_of_fractions(figure: Figure, filled: QuadContourSet, panels: NDArray[np.object_]) -> None:
    """The bar of the colours that all panels share."""
    bar = figure.colorbar(filled, ax=panels, shrink=0.7, pad=0.02)
    bar.set_ticks(list(_FRACTIONS))
    bar.set_ticklabels([f"{fraction:g}" for fraction in _FRACTIONS])
    bar.ax.minorticks_off()
    bar.set_label("fraction of the maximum")


def _circles(axes: Axes, x: Array, y: Array, colour: tuple[float, ...]) -> None:
    axes.plot(
        x, y, linestyle="none", marker="o", markersize=4, markerfacecolor="white", markeredgewidth=1.0,
        color=colour, zorder=4,
    )  # fmt: skip


def _legend(figure: Figure, panel: Axes, published: Sequence[str]) -> None:
    handles, labels = panel.get_legend_handles_labels()
    if published:
        handles += panel.plot([], [], linestyle="none", marker="o", markersize=4, markerfacecolor="white", color=BLACK)
        labels.append("published")
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6))


def spectra_figure(evaluated: EvaluatedSpectra, axis: str, published: Published) -> Figure:
    """Spectral densities at the chosen heights in wall units; bands are 95 % intervals, circles are published."""
    return _of_all_quantities(new_figure(9.6, 7.4), spectrum, evaluated, axis, published)


def _of_all_quantities(
    figure: Figure,
    draw: Callable[[Axes, EvaluatedSpectra, str, str, Published], list[str]],
    evaluated: EvaluatedSpectra,
    axis: str,
    published: Published,
) -> Figure:
    """Four panels that share a legend."""
    panels = figure.subplots(2, 2, sharex=True)
    used = []
    for axes, quantity in zip(panels.flat, CORRELATED, strict=True):
        used += draw(axes, evaluated, quantity, axis, published)
    for axes in panels[0]:
        axes.set_xlabel("")
    _legend(figure, panels[0, 0], used)
    return figure


def spectrum(axes: Axes, evaluated: EvaluatedSpectra, quantity: str, axis: str, published: Published) -> list[str]:
    """Spectral density of one quantity at the chosen heights; returns the labels of what is published of it."""
    found = evaluated.found
    modes = np.arange(1, last_double_mode(found.cells[axis]) + 1)
    spacing = 2 * np.pi / found.length[axis] / found.re_tau  # of k+
    used = []
    top, bottom = 0.0, np.inf
    for n, colour in enumerate(height_colours(len(evaluated.names))):
        values = evaluated.lines.energy[quantity, axis][n, modes] / spacing
        width = evaluated.bands.energy[quantity, axis][n, modes] / spacing if evaluated.bands else None
        label = height_label(evaluated.names[n])
        axes.plot(modes * spacing, values, color=colour, label=label, linewidth=1.5, zorder=3)
        if width is not None:
            low = np.maximum(values - width, 1e-3 * values)  # the axis is logarithmic
            axes.fill_between(modes * spacing, low, values + width, color=colour, alpha=0.22, linewidth=0)
        top, bottom = max(top, float(values.max())), min(bottom, float(values.min()))
        other = find_published(published, axis, evaluated.heights[n])
        if other is not None and quantity in other.energy:
            k, density = other.density_plus(quantity)
            marks = np.unique(np.geomspace(1, len(k), 26).astype(int)) - 1
            _circles(axes, k[marks], density[marks], colour)
            used.append(other.label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(0.9 * spacing, 1.1 * modes[-1] * spacing)
    log_numbers(axes.xaxis, spacing, modes[-1] * spacing)
    axes.set_ylim(max(bottom / 2, top * 10.0**-_DECADES), 3 * top)
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(rf"${subscript(quantity)}^+$ {NAMES[quantity]}")
    axes.set_xlabel(rf"$k_{axis}^+$")
    return used


def correlations_figure(evaluated: EvaluatedSpectra, axis: str, published: Published) -> Figure:
    """Two-point correlation coefficients up to half the box; bands are 95 % intervals, circles are published."""
    return _of_all_quantities(new_figure(9.6, 7.0), two_point_correlation, evaluated, axis, published)


def two_point_correlation(
    axes: Axes, evaluated: EvaluatedSpectra, quantity: str, axis: str, published: Published
) -> list[str]:
    """Correlation coefficient of one quantity at the chosen heights; returns the labels of what is published of it."""
    distance = evaluated.distances(axis)
    used = []
    axes.axhline(0, **THIN)
    low = 0.0
    for n, colour in enumerate(height_colours(len(evaluated.names))):
        values = evaluated.lines.coefficient[quantity, axis][n]
        width = evaluated.bands.coefficient[quantity, axis][n] if evaluated.bands else None
        label = height_label(evaluated.names[n])
        axes.plot(distance, values, color=colour, label=label, linewidth=1.5, zorder=3)
        if width is not None:
            axes.fill_between(distance, values - width, values + width, color=colour, alpha=0.22, linewidth=0)
        low = min(low, float(values.min()))
        other = find_published(published, axis, evaluated.heights[n])
        if other is not None and quantity in other.energy:
            half = np.pi / float(other.wavenumber[1] - other.wavenumber[0])
            at = np.linspace(0, min(float(distance[-1]), half), 26)
            theirs = other.coefficient(quantity, at)
            low = min(low, float(theirs.min()))
            _circles(axes, at, theirs, colour)
            used.append(other.label)
    axes.set_xlim(0, float(distance[-1]))
    axes.set_ylim(min(-0.1, 1.3 * low), 1.05)
    axes.set_ylabel(rf"$R_{{{_SYMBOLS[quantity]}}}(r_{axis})/R_{{{_SYMBOLS[quantity]}}}(0)$ {NAMES[quantity]}")
    axes.set_xlabel(rf"$r_{axis}/h$")
    return used
