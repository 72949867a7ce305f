"""Figures of the spectra of scalars, premultiplied; a function that takes axes draws one panel into them."""

from __future__ import annotations

from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sluice_post.scalar_spectra import QUANTITIES, EvaluatedScalarSpectra
from sluice_post.spectra import AXES
from sluice_post.spectra_figures import density_label, maps, premultiplied, spectra_map, styles_of_heights
from sluice_post.style import THIN, figure_legend, new_figure

PANELS = [(quantity, axis) for quantity in QUANTITIES for axis in AXES]


def map_figure(evaluated: EvaluatedScalarSpectra) -> Figure:
    """Premultiplied spectra over wavelength and height, along x and y: contours at fractions of each maximum."""
    draw = [partial(spectra_map, found=evaluated.found, quantity=quantity, axis=axis) for quantity, axis in PANELS]
    return maps(draw, sharex="col", sharey=True)


def lines_figure(evaluated: EvaluatedScalarSpectra) -> Figure:
    """Premultiplied spectra at the chosen heights, along x and y; bands are 95 % intervals."""
    figure = new_figure(9.6, 7.4)
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    for axes, (quantity, axis) in zip(panels.flat, PANELS, strict=True):
        spectrum(axes, evaluated, quantity, axis).label_outer()
    figure_legend(figure, panels[0, 0])
    return figure


def spectrum(axes: Axes, evaluated: EvaluatedScalarSpectra, quantity: str, axis: str) -> Axes:
    """The premultiplied spectrum of one quantity over the wavelength at the chosen heights."""
    axes.axhline(0, **THIN)
    name = f"{quantity}_k{axis}_at"
    for n, style in styles_of_heights(evaluated.names):
        premultiplied(axes, evaluated, axis, evaluated.values[name][n], evaluated.width(name)[n], **style)
    axes.set_ylabel(density_label(quantity, "k"))
    return axes
