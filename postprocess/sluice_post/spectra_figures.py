"""Figures of spectra and two-point correlations.

A function that takes axes draws one panel into them; the others return a figure of such panels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from sluice_post.arrays import Array
from sluice_post.spectra import AXES, CORRELATED, ON_WALL, EvaluatedSpectra, SpectraAtHeights, WallSpectra
from sluice_post.spectra_reference import PublishedSpectra, find_published
from sluice_post.style import (
    BLACK,
    THIN,
    figure_legend,
    height_colours,
    height_label,
    line_with_band,
    log_numbers,
    new_figure,
    published_points,
)

Published = Sequence[PublishedSpectra]

MAPPED = ("uu", "vv", "ww", "minus_uw")
OF_SCALARS = list(product(("cc", "minus_wc"), AXES))  # panels
# Symbol and name of what has spectra, of the flow, of a scalar and on the wall.
NAMES = {
    "uu": ("uu", "streamwise"),
    "vv": ("vv", "spanwise"),
    "ww": ("ww", "wall-normal"),
    "minus_uw": ("uw", "shear stress"),
    "pp": ("pp", "pressure"),
    "cc": (r"\theta\theta", "scalar"),
    "minus_wc": (r"w\theta", "flux"),
    "tau_x": (r"\tau_x", "streamwise shear"),
    "tau_y": (r"\tau_y", "spanwise shear"),
    "p": ("p", "pressure"),
}
_FRACTIONS = (0.1, 0.25, 0.5, 0.75, 0.9)
_DECADES = 8  # of the spectra that are shown


def density_label(quantity: str, wavenumbers: str = "") -> str:
    """Symbol and name of a spectral density times these wavenumbers."""
    sign = "-" if quantity.startswith("minus_") else ""
    symbol, name = NAMES[quantity]
    return f"${sign}{wavenumbers}E_{{{symbol}}}^+$ {name}"


def _log_axis(axes: Axes, which: str, low: float, high: float) -> None:
    axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    log_numbers(getattr(axes, f"{which}axis"), low, high)


def maps(draw: Sequence[Callable[[Axes], QuadContourSet | None]], **share: Any) -> Figure:
    """Four maps with the bar of the colours that all share: fractions of the maximum of each."""
    figure = new_figure(9.6, 7.4)
    panels = figure.subplots(2, 2, **share)
    drawn = [draw_one(axes) for draw_one, axes in zip(draw, panels.flat, strict=True)]
    for axes in panels.flat:
        axes.label_outer()
    if filled := [contours for contours in drawn if contours is not None]:
        bar = figure.colorbar(filled[-1], ax=panels, shrink=0.7, pad=0.02)
        bar.set_ticks(list(_FRACTIONS), labels=[f"{fraction:g}" for fraction in _FRACTIONS])
        bar.ax.minorticks_off()
        bar.set_label("fraction of the maximum")
    return figure


def map_figure(found: WallSpectra, axis: str) -> Figure:
    """Premultiplied spectra over wavelength and height: contours at fractions of the maximum of each panel."""
    draw = [partial(spectra_map, found=found, quantity=quantity, axis=axis) for quantity in MAPPED]
    return maps(draw, sharex=True, sharey=True)


def spectra_map(axes: Axes, found: WallSpectra, quantity: str, axis: str) -> QuadContourSet:
    """A premultiplied spectrum over wavelength and height; contours at fractions of its maximum, which are returned."""
    z_plus, wavelength, values = found.premultiplied(quantity, axis)
    filled, largest, x, y = _fractions(axes, wavelength, z_plus, values)
    _log_axis(axes, "x", wavelength[-1], wavelength[0])
    _log_axis(axes, "y", max(1.0, float(z_plus[0])), found.reach_plus)
    maximum = rf"maximum {largest:.3g} at $\lambda_{axis}^+={x:.0f}$, $z^+={y:.0f}$"
    axes.set_title(f"{density_label(quantity, f'k_{axis}')}: {maximum}", fontsize="small")
    axes.set_xlabel(rf"$\lambda_{axis}^+$")
    axes.set_ylabel(r"$z^+$")
    return filled


def _fractions(axes: Axes, x: Array, y: Array, values: Array) -> tuple[QuadContourSet, float, float, float]:
    """Contours at fractions of the maximum, and a cross there; returns them, the maximum, and where it is."""
    largest = float(values.max())
    row, column = np.unravel_index(int(np.argmax(values)), values.shape)
    fraction = values / largest if largest > 0 else values
    filled = axes.contourf(x, y, np.clip(fraction, 0, 1), levels=[0.0, *_FRACTIONS, 1.0], cmap="Blues", zorder=0)
    axes.contour(x, y, fraction, levels=_FRACTIONS, colors=BLACK, linewidths=THIN["linewidth"])
    axes.plot(x[column], y[row], "+", color="white", markersize=9, markeredgewidth=1.6)
    return filled, largest, float(x[column]), float(y[row])


def plane_figure(found: WallSpectra, height: int) -> Figure:
    """Premultiplied spectra over both wavelengths at a chosen height, by its number from the wall, from 0."""
    draw = [partial(plane_map, found=found, quantity=quantity, height=height) for quantity in MAPPED]
    return maps(draw, sharex=True, sharey=True)


def plane_map(axes: Axes, found: WallSpectra, quantity: str, height: int) -> QuadContourSet | None:
    """A premultiplied spectrum over both wavelengths; returns the contours, None where the spectrum is zero."""
    plane = found.planes[quantity]
    n = plane.nearest(found.planes["uu"].z_plus[height])
    values, wavelength = plane.premultiplied()[n], plane.wavelength_plus
    for axis, along in zip("xy", AXES, strict=True):
        _log_axis(axes, axis, wavelength[along][-1], wavelength[along][0])
        getattr(axes, f"set_{axis}label")(rf"$\lambda_{along}^+$")
    title = rf"{density_label(quantity, 'k_xk_y')}, $z^+={plane.z_plus[n]:.3g}$"
    if values.max() <= 0 or plane.zero_by_symmetry[n]:
        reason = " by symmetry" if plane.zero_by_symmetry[n] else ""
        axes.set_title(f"{title}: zero{reason}", fontsize="small")
        return None
    filled, largest, x, y = _fractions(axes, wavelength["x"], wavelength["y"], values)
    maximum = rf"maximum {largest:.3g} at $\lambda_x^+={x:.0f}$, $\lambda_y^+={y:.0f}$"
    axes.set_title(f"{title}:\n{maximum}", fontsize="small")
    return filled


def wall_figure(evaluated: EvaluatedSpectra) -> Figure:
    """Premultiplied spectra of wall shear stress and wall pressure over the wavelengths; bands are 95 % intervals."""
    figure = new_figure(9.6, 9.4)
    panels = figure.subplots(3, 2, sharex="col", sharey="row")
    for row, quantity in zip(panels, ON_WALL, strict=True):
        top = max(wall_spectrum(axes, evaluated, quantity, axis) for axes, axis in zip(row, AXES, strict=True))
        row[0].set_ylim(0, 1.08 * top if top > 0 else 1)
        for axes in row:
            axes.label_outer()
    return figure


def wall_spectrum(axes: Axes, evaluated: EvaluatedSpectra, quantity: str, axis: str) -> float:
    """Premultiplied spectrum of wall shear stress or wall pressure; returns the largest value shown."""
    name = f"{quantity}_wall_k{axis}"
    top = premultiplied(axes, evaluated, axis, evaluated.values[name], evaluated.width(name))
    axes.set_ylabel(rf"$kE^+_{{{NAMES[quantity][0]}}}$ {NAMES[quantity][1]}")
    return top


def premultiplied(
    axes: Axes, evaluated: SpectraAtHeights, axis: str, energy: Array, width: Array, **style: object
) -> float:
    """A premultiplied spectrum over the wavelengths along an axis; returns the largest value shown."""
    modes, wavelength = evaluated.found.double_modes(axis), evaluated.found.wavelength_plus(axis)
    values, width, x = energy[modes] * modes, width[modes] * modes, wavelength[modes - 1]
    line_with_band(axes, x, values, width, **style)
    _log_axis(axes, "x", x[-1], x[0])
    axes.set_xlabel(rf"$\lambda_{axis}^+$")
    return float(np.max(values + np.nan_to_num(width)))


def styles_of_heights(names: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each chosen height, and colour and label of its line."""
    for n, (name, colour) in enumerate(zip(names, height_colours(len(names)), strict=True)):
        yield n, {"color": colour, "label": height_label(name)}


def spectra_figure(evaluated: EvaluatedSpectra, axis: str, published: Published) -> Figure:
    """Spectral densities at the chosen heights in wall units; bands are 95 % intervals, circles are published."""
    return _of_all_quantities(new_figure(9.6, 7.4), spectrum, evaluated, axis, published)


def correlations_figure(evaluated: EvaluatedSpectra, axis: str, published: Published) -> Figure:
    """Two-point correlation coefficients up to half the box; bands are 95 % intervals, circles are published."""
    return _of_all_quantities(new_figure(9.6, 7.0), two_point_correlation, evaluated, axis, published)


def _of_all_quantities(
    figure: Figure,
    draw: Callable[[Axes, EvaluatedSpectra, str, str, Published], list[str]],
    evaluated: EvaluatedSpectra,
    axis: str,
    published: Published,
) -> Figure:
    """Four panels that share a legend."""
    panels, used = figure.subplots(2, 2, sharex=True), []
    for axes, quantity in zip(panels.flat, CORRELATED, strict=True):
        used += draw(axes, evaluated, quantity, axis, published)
    for axes in panels[0]:
        axes.set_xlabel("")
    if used:
        published_points(panels[0, 0], np.zeros(0), np.zeros(0), label="published")
    figure_legend(figure, panels[0, 0])
    return figure


def scalar_map_figure(found: WallSpectra) -> Figure:
    """The maps of the spectra of a scalar and of its flux, along x and y."""
    draw = [partial(spectra_map, found=found, quantity=quantity, axis=axis) for quantity, axis in OF_SCALARS]
    return maps(draw, sharex="col", sharey=True)


def scalar_spectra_figure(evaluated: SpectraAtHeights) -> Figure:
    """Premultiplied spectra of a scalar and of its flux at the chosen heights, along x and y."""
    figure = new_figure(9.6, 7.4)
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    for axes, (quantity, axis) in zip(panels.flat, OF_SCALARS, strict=True):
        scalar_spectrum(axes, evaluated, quantity, axis)
        axes.label_outer()
    figure_legend(figure, panels[0, 0])
    return figure


def scalar_spectrum(axes: Axes, evaluated: SpectraAtHeights, quantity: str, axis: str) -> None:
    """A premultiplied spectrum of a scalar or of its flux at the chosen heights; bands are 95 % intervals."""
    axes.axhline(0, **THIN)
    name = f"{quantity}_k{axis}_at"
    for n, style in styles_of_heights(evaluated.names):
        premultiplied(axes, evaluated, axis, evaluated.values[name][n], evaluated.width(name)[n], **style)
    axes.set_ylabel(density_label(quantity, "k"))


def spectrum(axes: Axes, evaluated: EvaluatedSpectra, quantity: str, axis: str, published: Published) -> list[str]:
    """Spectral density of one quantity at the chosen heights; returns the labels of what is published of it."""
    found, name, used = evaluated.found, f"{quantity}_k{axis}_at", []
    modes = found.double_modes(axis)
    spacing = 2 * np.pi / found.length[axis] / found.re_tau  # of k+
    values, width = evaluated.values[name][:, modes] / spacing, evaluated.width(name)[:, modes] / spacing
    k_plus = np.asarray(modes * spacing, dtype=np.float64)
    _log_axis(axes, "x", spacing, modes[-1] * spacing)
    axes.set_xlim(0.9 * spacing, 1.1 * modes[-1] * spacing)
    decades_axis(axes, max(float(values.min()) / 2, float(values.max()) * 10.0**-_DECADES), 3 * float(values.max()))
    for n, style in styles_of_heights(evaluated.names):
        line_with_band(axes, k_plus, values[n], width[n], **style)
        other = find_published(published, axis, evaluated.heights[n])
        if other is not None and quantity in other.energy:
            k, density = other.density_plus(quantity)
            marks = np.unique(np.geomspace(1, len(k), 26).astype(int)) - 1
            published_points(axes, k[marks], density[marks], style["color"])
            used.append(other.label)
    axes.set_ylabel(density_label(quantity))
    axes.set_xlabel(rf"$k_{axis}^+$")
    return used


def decades_axis(axes: Axes, low: float, high: float) -> None:
    """A logarithmic ordinate over many powers of 10."""
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
    axes.yaxis.set_minor_formatter(NullFormatter())


def two_point_correlation(
    axes: Axes, evaluated: EvaluatedSpectra, quantity: str, axis: str, published: Published
) -> list[str]:
    """Correlation coefficient of one quantity at the chosen heights; returns the labels of what is published of it."""
    name, distance, used = f"R_{quantity}_{axis}", evaluated.distances(axis), []
    values, width = evaluated.values[name], evaluated.width(name)
    low, end = min(0.0, float(values.min())), float(distance[-1])
    axes.axhline(0, **THIN)
    for n, style in styles_of_heights(evaluated.names):
        line_with_band(axes, distance, values[n], width[n], **style)
        other = find_published(published, axis, evaluated.heights[n])
        if other is not None and quantity in other.energy:
            half = np.pi / float(other.wavenumber[1] - other.wavenumber[0])
            at = np.linspace(0, min(end, half), 26)
            theirs = other.coefficient(quantity, at)
            published_points(axes, at, theirs, style["color"])
            low = min(low, float(theirs.min()))
            used.append(other.label)
    axes.set_xlim(0, end)
    axes.set_ylim(min(-0.1, 1.3 * low), 1.05)
    symbol, about = NAMES[quantity]
    axes.set_ylabel(rf"$R_{{{symbol}}}(r_{axis})/R_{{{symbol}}}(0)$ {about}")
    axes.set_xlabel(rf"$r_{axis}/h$")
    return used
