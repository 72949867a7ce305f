"""Figures of budgets. A function that takes axes draws one panel into them and returns them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sluice_post.arrays import Array
from sluice_post.budgets import BUOYANCY, CORIOLIS, IMBALANCE, MAGNETIC, EvaluatedTerms
from sluice_post.compare_budgets import References
from sluice_post.reference import Reference
from sluice_post.style import (
    BLACK,
    BLUE,
    BROWN,
    GREEN,
    GREY,
    OLIVE,
    ORANGE,
    PURPLE,
    SKY,
    TEAL,
    THIN,
    VERMILLION,
    line_with_band,
    log_wall_axis,
    new_figure,
)

LARGE = ("k", "uu", "cc")

SYMBOLS = {
    "k": "k",
    "uu": r"\langle uu\rangle",
    "vv": r"\langle vv\rangle",
    "ww": r"\langle ww\rangle",
    "uw": r"\langle uw\rangle",
    "cc": r"\langle\theta\theta\rangle",
    "uc": r"\langle u\theta\rangle",
    "wc": r"\langle w\theta\rangle",
}
NAMES = {
    "k": "turbulent kinetic energy",
    "uu": "streamwise variance uu",
    "vv": "spanwise variance vv",
    "ww": "wall-normal variance ww",
    "uw": "shear stress uw",
    "cc": "variance",
    "uc": "streamwise flux",
    "wc": "wall-normal flux",
}
_COLOURS = {
    "production": BLUE,
    "turbulent_transport": GREEN,
    "pressure_transport": SKY,
    "pressure_strain": PURPLE,
    "pressure_gradient": PURPLE,
    "viscous_diffusion": ORANGE,
    "molecular_diffusion": ORANGE,
    "dissipation": VERMILLION,
    "source": BROWN,
    CORIOLIS: GREY,
    MAGNETIC: TEAL,
    BUOYANCY: OLIVE,
    IMBALANCE: BLACK,
}
_INVISIBLE = 2e-3  # terms below this part of the largest are not drawn
_CIRCLES: dict[str, Any] = {
    **{"linestyle": "none", "marker": "o", "markersize": 4.2},
    **{"markerfacecolor": "white", "markeredgewidth": 1.1},
}


def budget_figure(evaluated: EvaluatedTerms, stress: str, references: References) -> Figure:
    """Above: the terms of one budget against z+, circles: a published budget. Below: imbalance and storage.

    All in wall units; bands are 95 % intervals.
    """
    large = stress in LARGE
    figure = new_figure(9.6, 5.8) if large else new_figure(6.4, 6.4)
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1.1])
    budget(axes, evaluated, stress, references)
    axes.set_xlabel("")
    imbalance(below, evaluated, stress, references)
    figure.align_ylabels()
    figure.legend(loc="outside right upper" if large else "outside lower center", ncols=1 if large else 3,
                  fontsize=10.5)  # fmt: skip
    return figure


def budget(axes: Axes, evaluated: EvaluatedTerms, stress: str, references: References) -> Axes:
    """The terms of one budget against z+ in wall units, all but the imbalance."""
    terms = evaluated.found.budgets[stress].terms
    log_wall_axis(axes, _z_plus(evaluated, stress))
    off_wall = evaluated.found.z_plus(stress) > 0
    largest = max(float(np.max(np.abs(values[off_wall]))) for values in terms.values())
    for name, values in terms.items():
        invisible = np.max(np.abs(values[off_wall])) < _INVISIBLE * largest
        if name == IMBALANCE or invisible or (stress, name) in evaluated.zero_by_symmetry:
            continue
        _term(axes, evaluated, stress, name, _COLOURS[name], references)
    if stress in references:
        axes.plot([], [], label="published", color=BLACK, **_CIRCLES)
    axes.axhline(0, **THIN)
    axes.margins(y=0.06)
    axes.set_ylabel(rf"budget of ${SYMBOLS[stress]}$ in wall units")
    return axes


def imbalance(axes: Axes, evaluated: EvaluatedTerms, stress: str, references: References) -> Axes:
    """The sum of all terms of a budget, and what the stress stored, against z+ in wall units."""
    z_plus = _z_plus(evaluated, stress)
    log_wall_axis(axes, z_plus)
    _term(axes, evaluated, stress, IMBALANCE, None, references)
    if stress in evaluated.storage:
        storage = evaluated.storage[stress][evaluated.found.z_plus(stress) > 0]
        axes.plot(z_plus, storage, color=GREY, linewidth=1.4, linestyle=(0, (3, 1.5)), label="storage (estimate)")
    axes.axhline(0, **THIN)
    axes.margins(y=0.06)
    axes.set_ylabel("imbalance$^+$")
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))
    return axes


def _z_plus(evaluated: EvaluatedTerms, stress: str) -> Array:
    """Where the terms are, without the wall."""
    z_plus = evaluated.found.z_plus(stress)
    return z_plus[z_plus > 0]


def _term(
    axes: Axes, evaluated: EvaluatedTerms, stress: str, name: str, colour: str | None, references: References
) -> None:
    found = evaluated.found
    off_wall = found.z_plus(stress) > 0
    values, band = found.budgets[stress].terms[name][off_wall], evaluated.bands.get(stress, {}).get(name)
    width = None if band is None else band[off_wall]
    label = name.replace("_", " ")
    colour = line_with_band(axes, _z_plus(evaluated, stress), values, width, color=colour, label=label)
    if stress in references:
        _circles(axes, references[stress], name, colour)


def _circles(axes: Axes, reference: Reference, name: str, colour: str) -> None:
    """At most 26 points of a published term, evenly spaced in log z+."""
    if name not in reference.values:
        return
    left, right = axes.get_xlim()
    xp, fp = reference.z_plus[name], reference.values[name]
    inside = (xp >= left) & (xp <= right)
    xp, fp = xp[inside], fp[inside]
    if len(xp) == 0:
        return
    marks = np.unique(np.searchsorted(xp, np.geomspace(xp[0], xp[-1], 26)))
    marks = marks[marks < len(xp)]
    axes.plot(xp[marks], fp[marks], color=colour, zorder=4, **_CIRCLES)
