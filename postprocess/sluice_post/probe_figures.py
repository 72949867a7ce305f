"""Figures of probes, in the units h and U of the run. A function that takes axes draws one panel into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from sluice_post.convection import Convection
from sluice_post.probes import FrequencySpectrum, shown_heights
from sluice_post.style import BLACK, COMPONENT, DIVERGING_MAP, LINE_STYLES, THIN, legend, line_with_band, new_figure


def spectra_figure(spectra: Sequence[FrequencySpectrum]) -> Figure:
    """Premultiplied frequency spectra, a panel for each field and a line for each height."""
    figure = new_figure(3.6 * len(spectra) + 0.8, 3.8)
    panels = figure.subplots(1, len(spectra), squeeze=False)[0]
    for axes, spectrum in zip(panels, spectra, strict=True):
        frequency_spectrum(axes, spectrum)
    return figure


def frequency_spectrum(axes: Axes, spectrum: FrequencySpectrum) -> Axes:
    """The premultiplied frequency spectrum of one field, a line for each height."""
    frequency = spectrum.frequency[1:]
    chosen = shown_heights(spectrum.z.size)
    colour: dict[str, Any] = {}
    for order, n in enumerate(chosen):
        label, shade = f"$z/h={spectrum.z[n]:.3g}$", 1 - 0.7 * order / max(1, len(chosen) - 1)
        style = {"label": label, "alpha": shade, "linestyle": LINE_STYLES[order % len(LINE_STYLES)]}
        values = frequency * spectrum.density[n, 1:]
        colour = {"color": line_with_band(axes, frequency, values, **colour, **style)}
    axes.set_xscale("log")
    axes.set_xlabel("$f\\,h/U$")
    if spectrum.field in COMPONENT:
        unit = r"(\rho U^2)^2" if spectrum.field == "p" else "U^2"
        axes.set_ylabel(rf"$f S_{{{spectrum.field * 2}}}/{unit}$")
    else:
        axes.set_ylabel(f"$f S$ of {spectrum.field}")
    axes.set_ylim(bottom=0)
    legend(axes)
    return axes


def convection_figure(found: Sequence[Convection]) -> Figure:
    """Space-time correlations, in the frame of the grid, of the first and the last height of each field."""
    of_field = {one.field: [other for other in found if other.field == one.field] for one in found}
    rows = [ones[:1] + ones[1:][-1:] for ones in of_field.values()]
    columns = max(map(len, rows))
    figure = new_figure(4.6 * columns + 1.0, 3.4 * len(rows))
    panels = figure.subplots(len(rows), columns, squeeze=False)
    for n, row in enumerate(rows):
        for axes, one in zip(panels[n], row, strict=False):
            figure.colorbar(space_time_correlation(axes, one), ax=axes, label=rf"$R_{{{one.field * 2}}}$")
        for axes in panels[n, len(row) :]:
            axes.set_visible(False)
    return figure


def space_time_correlation(axes: Axes, one: Convection) -> QuadMesh:
    """The space-time correlation at one height in the frame of the grid, and the path of its peak; returns the mesh."""
    image = axes.pcolormesh(
        one.separation, one.lag, one.correlation, cmap=DIVERGING_MAP, vmin=-1, vmax=1, shading="nearest"
    )
    length = one.separation.size * (one.separation[1] - one.separation[0])
    drift = one.grid_peak[one.used]
    axes.plot((drift + length / 2) % length - length / 2, one.lag[one.used], ".", color=BLACK, markersize=2)
    axes.axvline(0, **THIN)
    axes.set_xlabel("$r_x/h$")
    axes.set_ylabel(r"$\tau\,U/h$")
    velocity = f"$U_c/U$ {one.text}" if one.reason else f"$U_c/U=$ {one.text}".replace("+-", r"$\pm$")
    axes.set_title(f"${one.field}$ at $z/h={one.z:.3g}$: {velocity}")
    return image
