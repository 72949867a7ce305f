"""Figures of budgets."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sluice_post.budgets import IMBALANCE, EvaluatedBudgets
from sluice_post.compare_budgets import References
from sluice_post.reference import Reference
from sluice_post.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    THIN,
    VERMILLION,
    log_wall_axis,
    new_figure,
)

Array = NDArray[np.float64]

LARGE = ("k", "uu")

SYMBOLS = {
    "k": "k",
    "uu": r"\langle uu\rangle",
    "vv": r"\langle vv\rangle",
    "ww": r"\langle ww\rangle",
    "uw": r"\langle uw\rangle",
}
NAMES = {
    "k": "turbulent kinetic energy",
    "uu": "streamwise variance uu",
    "vv": "spanwise variance vv",
    "ww": "wall-normal variance ww",
    "uw": "shear stress uw",
}
_COLOURS = {
    "production": BLUE,
    "turbulent_transport": GREEN,
    "pressure_transport": SKY,
    "pressure_strain": PURPLE,
    "viscous_diffusion": ORANGE,
    "dissipation": VERMILLION,
    IMBALANCE: BLACK,
}
_INVISIBLE = 2e-3  # terms below this part of the largest are not drawn
_CIRCLES: dict[str, Any] = {
    **{"linestyle": "none", "marker": "o", "markersize": 4.2},
    **{"markerfacecolor": "white", "markeredgewidth": 1.1},
}


def budget_figure(evaluated: EvaluatedBudgets, stress: str, references: References) -> Figure:
    """Above: the terms of one budget against z+, circles: a published budget. Below: imbalance and storage.

    All in wall units; bands are 95 % intervals.
    """
    found = evaluated.found
    z_plus = found.z_plus(stress)
    off_wall = z_plus > 0
    z_plus = z_plus[off_wall]
    terms = {name: values[off_wall] for name, values in found.budgets[stress].terms.items()}
    bands = {name: values[off_wall] for name, values in evaluated.bands.get(stress, {}).items()}
    large = stress in LARGE
    figure = new_figure(9.6, 5.8) if large else new_figure(6.4, 6.4)
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1.1])
    log_wall_axis(axes, z_plus, label=False)
    log_wall_axis(below, z_plus)
    largest = max(float(np.max(np.abs(values))) for values in terms.values())
    for name, values in terms.items():
        panel = below if name == IMBALANCE else axes
        invisible = np.max(np.abs(values)) < _INVISIBLE * largest
        if panel is axes and (invisible or (stress, name) in evaluated.zero_by_symmetry):
            continue
        panel.plot(z_plus, values, color=_COLOURS[name], label=name.replace("_", " "), zorder=3)
        if name in bands:
            low, high = values - bands[name], values + bands[name]
            panel.fill_between(z_plus, low, high, color=_COLOURS[name], alpha=0.22, linewidth=0, zorder=2)
        if stress in references:
            _circles(panel, references[stress], name)
    if stress in evaluated.storage:
        storage = evaluated.storage[stress][off_wall]
        below.plot(
            z_plus, storage, color=GREY, linewidth=1.4, linestyle=(0, (3, 1.5)), label="storage (estimate)"
        )
    if stress in references:
        axes.plot([], [], label="published", color=BLACK, **_CIRCLES)
    for panel in (axes, below):
        panel.axhline(0, **THIN)
        panel.margins(y=0.06)
    axes.set_ylabel(rf"budget of ${SYMBOLS[stress]}$ in wall units")
    below.set_ylabel("imbalance$^+$")
    below.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))
    figure.align_ylabels()
    figure.legend(loc="outside right upper" if large else "outside lower center", ncols=1 if large else 3,
                  fontsize=10.5)  # fmt: skip
    return figure


def _circles(axes: Axes, reference: Reference, name: str) -> None:
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
    axes.plot(xp[marks], fp[marks], color=_COLOURS[name], zorder=4, **_CIRCLES)
