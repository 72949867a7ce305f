"""Figures of derived quantities; bands and bars are 95 % intervals.

A function that takes axes draws one panel into them; the others return a figure of such panels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sluice_post.derived import TENSORS, two_component_limit
from sluice_post.lines import wall_axes
from sluice_post.style import BLACK, BLUE, COMPONENT, ORANGE, PURPLE, THIN, VERMILLION, new_figure

_COLOURS = {"stress": BLUE, "dissipation": VERMILLION}
_MARKS = {5.0: "s", 15.0: "^", 50.0: "D", np.inf: "o"}  # z+, inf: the last point
_OF_COMPONENT = {"uu": COMPONENT["u"], "vv": COMPONENT["v"], "ww": COMPONENT["w"], "uw": PURPLE}
_TEXTS: tuple[tuple[str, tuple[float, float], dict[str, Any]], ...] = (
    ("isotropic", (0.0, -0.012), {"va": "top"}),
    ("one component", (1 / 3, 1 / 3 + 0.012), {"va": "bottom"}),
    ("two components,\naxisymmetric", (-1 / 6, 1 / 6 + 0.016), {"va": "bottom"}),
    ("two components", (0.065, 0.213), {"va": "bottom"}),
    ("axisymmetric,\none large", (0.217, 0.137), {"va": "center", "rotation": 45, "transform_rotates_text": True}),
    ("axisymmetric,\none small", (-0.115, 0.063), {"va": "center", "rotation": -45, "transform_rotates_text": True}),
)


def _tensors_of(derived: xr.Dataset) -> list[str]:
    """The tensors whose anisotropy is known."""
    return [tensor for tensor in TENSORS if f"{tensor}_xi" in derived]


def invariant_map_figure(derived: xr.Dataset) -> Figure:
    """Lumley's triangle with its legend beside it."""
    figure = new_figure(9.6, 5.6)
    invariant_map(figure.add_subplot(), derived)
    figure.legend(loc="outside right upper")
    return figure


def invariant_map(axes: Axes, derived: xr.Dataset) -> None:
    """Lumley's triangle and the way through it from the wall to the centre."""
    xi = np.linspace(-1 / 6, 1 / 3, 200)
    for side in ((xi, two_component_limit(xi)), ([-1 / 6, 0, 1 / 3], [1 / 6, 0, 1 / 3])):
        axes.plot(*side, color=BLACK, linewidth=1.0, zorder=2)
    z_plus = derived["z_plus"].values
    marks = {marker: min(int(np.searchsorted(z_plus, height)), len(z_plus) - 1) for height, marker in _MARKS.items()}
    for tensor in _tensors_of(derived):
        x, y = f"{tensor}_xi", f"{tensor}_eta"
        colour = _COLOURS[tensor]
        axes.plot(derived[x], derived[y], color=colour, label=TENSORS[tensor], zorder=3)
        for marker, n in marks.items():
            bars: dict[str, Any] = {f"{of}err": float(derived[f"{name}_ci95"][n]) for of, name in (("x", x), ("y", y))
                    if f"{name}_ci95" in derived}  # fmt: skip
            axes.errorbar(
                float(derived[x][n]), float(derived[y][n]), **bars, marker=marker, markersize=7, color=colour,
                markerfacecolor="white", capsize=2.5, elinewidth=1.0, zorder=4,
            )  # fmt: skip
    for height, marker in _MARKS.items():
        label = rf"$z^+={z_plus[-1]:.0f}$" if np.isinf(height) else rf"$z^+={height:g}$"
        if np.isinf(height) or height < z_plus[-1]:
            axes.plot([], [], linestyle="none", marker=marker, color=BLACK, markerfacecolor="white", label=label)
    for text, at, style in _TEXTS:
        axes.text(*at, text, fontsize="small", color="#555555", ha="center", **style)
    axes.set_xlim(-0.25, 0.41)
    axes.set_ylim(-0.04, 0.37)
    axes.set_xlabel(r"$\xi$, where $6\xi^3=b_{ij}b_{jk}b_{ki}$")
    axes.set_ylabel(r"$\eta$, where $6\eta^2=b_{ij}b_{ji}$")


def anisotropy_figure(derived: xr.Dataset) -> Figure:
    """Components of the anisotropy of the Reynolds stresses and of their dissipation against z+."""
    tensors = _tensors_of(derived)
    figure = new_figure(4.8 * len(tensors) + 1.2, 4.6)
    panels = figure.subplots(1, len(tensors), squeeze=False, sharey=True)[0]
    for axes, tensor in zip(panels, tensors, strict=True):
        anisotropy(axes, derived, tensor)
        axes.label_outer()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def anisotropy(axes: Axes, derived: xr.Dataset, tensor: str) -> None:
    """Components of the anisotropy against z+. `tensor`: stress or dissipation."""
    lines = [(f"{tensor}_b_{name}", colour, rf"$b_{{{name}}}$") for name, colour in _OF_COMPONENT.items()]
    wall_axes(axes, derived, r"$b_{ij}=t_{ij}/t_{kk}-\delta_{ij}/3$", *lines)
    axes.axhline(0, **THIN)
    axes.set_title(TENSORS[tensor], fontsize=12)


def enstrophy(axes: Axes, derived: xr.Dataset) -> None:
    """Enstrophy of the fluctuations and the dissipation of k, which it equals in homogeneous turbulence."""
    wall_axes(
        axes,
        derived,
        "enstrophy, dissipation in wall units",
        ("enstrophy_plus", BLUE, r"enstrophy $\langle\omega_i\omega_i\rangle\,\nu^2/u_\tau^4$"),
        ("epsilon_plus", VERMILLION, r"dissipation of $k$, $\varepsilon\,\nu/u_\tau^4$"),
    )
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower left")


def kolmogorov_figure(derived: xr.Dataset) -> Figure | None:
    """Kolmogorov's length in wall units, and the size of the cells in this length."""
    if "eta_plus" not in derived:
        return None
    figure = new_figure(9.6, 4.2)
    left, right = figure.subplots(1, 2)
    kolmogorov_length(left, derived)
    cell_sizes(right, derived)
    return figure


def kolmogorov_length(axes: Axes, derived: xr.Dataset) -> None:
    """Kolmogorov's length in wall units against z+."""
    wall_axes(axes, derived, r"Kolmogorov length $\eta^+$", ("eta_plus", None, ""))
    axes.set_ylim(bottom=0)


def cell_sizes(axes: Axes, derived: xr.Dataset) -> None:
    """The size of the cells over Kolmogorov's length against z+."""
    colours = {"dx_over_eta": BLUE, "dy_over_eta": ORANGE, "dz_over_eta": VERMILLION}
    lines = [(name, colour, rf"$\Delta {name[1]}/\eta$") for name, colour in colours.items()]
    wall_axes(axes, derived, r"size of the cells over $\eta$", *lines)
    axes.set_ylim(0, 1.2 * max(float(derived[name].max()) for name in colours))
    axes.legend(loc="upper right", ncols=3)
