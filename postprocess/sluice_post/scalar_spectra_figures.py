"""Figures of the spectra of scalars, premultiplied; a function that takes axes draws one panel into them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sluice_post.scalar_spectra import QUANTITIES, EvaluatedScalarSpectra
from sluice_post.spectra import AXES, last_double_mode
from sluice_post.spectra_figures import NAMES, bar_of_fractions, spectra_map, subscript
from sluice_post.style import THIN, height_colours, height_label, log_numbers, new_figure


def map_figure(evaluated: EvaluatedScalarSpectra) -> Figure:
    """Premultiplied spectra over wavelength and height, along x and y: contours at fractions of each maximum."""
    figure = new_figure(9.6, 7.4)
    panels = figure.subplots(2, 2, sharex="col", sharey=True)
    for row, quantity in zip(panels, QUANTITIES, strict=True):
        for axes, axis in zip(row, AXES, strict=True):
            filled = spectra_map(axes, evaluated.found, quantity, axis)
            axes.label_outer()
    bar_of_fractions(figure, filled, panels)
    return figure


def lines_figure(evaluated: EvaluatedScalarSpectra) -> Figure:
    """Premultiplied spectra at the chosen heights, along x and y; bands are 95 % intervals."""
    figure = new_figure(9.6, 7.4)
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    for row, quantity in zip(panels, QUANTITIES, strict=True):
        for axes, axis in zip(row, AXES, strict=True):
            spectrum(axes, evaluated, quantity, axis)
            axes.label_outer()
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6))
    return figure


def spectrum(axes: Axes, evaluated: EvaluatedScalarSpectra, quantity: str, axis: str) -> Axes:
    """The premultiplied spectrum of one quantity over the wavelength at the chosen heights."""
    found = evaluated.found
    modes = np.arange(1, last_double_mode(found.cells[axis]) + 1)
    wavelength = found.wavelength_plus(axis)[modes - 1]
    axes.axhline(0, **THIN)
    for n, colour in enumerate(height_colours(len(evaluated.names))):
        values = evaluated.energy[quantity, axis][n, modes] * modes
        label = height_label(evaluated.names[n])
        axes.plot(wavelength, values, color=colour, label=label, linewidth=1.5, zorder=3)
        if evaluated.bands:
            width = evaluated.bands[quantity, axis][n, modes] * modes
            axes.fill_between(wavelength, values - width, values + width, color=colour, alpha=0.22, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlim(wavelength[-1], wavelength[0])
    log_numbers(axes.xaxis, wavelength[-1], wavelength[0])
    sign = "-" if quantity == "minus_wc" else ""
    axes.set_xlabel(rf"$\lambda_{axis}^+$")
    axes.set_ylabel(rf"${sign}k{subscript(quantity)}^+$ {NAMES[quantity]}")
    return axes
