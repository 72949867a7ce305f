"""Figures of budgets. A function that takes axes draws one panel into them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sluice_post.budget_terms import BUOYANCY, CORIOLIS, IMBALANCE, MAGNETIC
from sluice_post.budgets import STORAGE, EvaluatedBudgets
from sluice_post.lines import profile_line, wall_axes
from sluice_post.reference import References
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
    new_figure,
)

LARGE = ("k", "uu", "cc")
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
    **dict.fromkeys(("pressure_strain", "pressure_gradient"), PURPLE),
    **dict.fromkeys(("viscous_diffusion", "molecular_diffusion"), ORANGE),
    "dissipation": VERMILLION,
    "source": BROWN,
    CORIOLIS: GREY,
    MAGNETIC: TEAL,
    BUOYANCY: OLIVE,
}
_INVISIBLE = 2e-3  # terms below this part of the largest are not drawn
_CIRCLES: dict[str, Any] = {
    **{"linestyle": "none", "marker": "o", "markersize": 4.2},
    **{"markerfacecolor": "white", "markeredgewidth": 1.1},
}


def budget_figure(evaluated: EvaluatedBudgets, name: str, references: References) -> Figure:
    """Above: the terms of one budget against z+, circles: a published budget. Below: imbalance and storage.

    All in wall units; bands are 95 % intervals.
    """
    large = name in LARGE
    figure = new_figure(9.6, 5.8) if large else new_figure(6.4, 6.4)
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1.1])
    budget(axes, evaluated, name, references)
    axes.set_xlabel("")
    imbalance(below, evaluated, name, references)
    figure.align_ylabels()
    figure.legend(loc="outside right upper" if large else "outside lower center", ncols=1 if large else 3,
                  fontsize=10.5)  # fmt: skip
    return figure


def budget(axes: Axes, evaluated: EvaluatedBudgets, name: str, references: References) -> None:
    """The terms of one budget against z+ in wall units, all but the imbalance."""
    symbol = name if name == "k" else rf"\langle {name}\rangle".replace("c", r"\theta")
    wall_axes(axes, evaluated.data[name], rf"budget of ${symbol}$ in wall units")
    off_wall = evaluated.found.z_plus(name) > 0
    largest = {
        term: float(np.max(np.abs(values[off_wall]))) for term, values in evaluated.found.budgets[name].terms.items()
    }
    for term, size in largest.items():
        visible = term != IMBALANCE and size >= _INVISIBLE * max(largest.values())
        if visible and (name, term) not in evaluated.zero_by_symmetry:
            _term(axes, evaluated, name, term, references, color=_COLOURS[term])
    if name in references:
        axes.plot([], [], label="published", color=BLACK, **_CIRCLES)
    _finished(axes)


def imbalance(axes: Axes, evaluated: EvaluatedBudgets, name: str, references: References) -> None:
    """The sum of all terms of a budget, and what the stress stored, against z+ in wall units."""
    data = evaluated.data[name]
    wall_axes(axes, data, "imbalance$^+$")
    _term(axes, evaluated, name, IMBALANCE, references)
    if STORAGE in data:
        z_plus = evaluated.found.z_plus(name)
        stored = data[STORAGE].values[z_plus > 0]
        style: dict[str, Any] = {"color": GREY, "linewidth": 1.4, "linestyle": (0, (3, 1.5))}
        axes.plot(z_plus[z_plus > 0], stored, label="storage (estimate)", **style)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))
    _finished(axes)


def _finished(axes: Axes) -> None:
    axes.axhline(0, **THIN)
    axes.margins(y=0.06)


def _term(axes: Axes, evaluated: EvaluatedBudgets, name: str, term: str, references: References, **style: Any) -> None:
    """A term, and at most 26 points of the published one, evenly spaced in log z+."""
    colour = profile_line(axes, evaluated.data[name], term, label=term.replace("_", " "), **style)
    if name not in references or term not in references[name].values:
        return
    left, right = axes.get_xlim()
    xp, fp = references[name].z_plus[term], references[name].values[term]
    inside = (xp >= left) & (xp <= right)
    xp, fp = xp[inside], fp[inside]
    if len(xp) > 0:
        marks = np.unique(np.searchsorted(xp, np.geomspace(xp[0], xp[-1], 26)))
        marks = marks[marks < len(xp)]
        axes.plot(xp[marks], fp[marks], color=colour, zorder=4, **_CIRCLES)
