"""Figures of derived quantities; bands and bars are 95 % intervals.

A function that takes axes draws one panel into them and returns them; the others return a figure of such panels.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sluice_post.derived import COMPONENTS, SPACINGS, TENSORS, Derived, two_component_limit
from sluice_post.style import (
    BLACK,
    BLUE,
    COMPONENT,
    ORANGE,
    PURPLE,
    THIN,
    VERMILLION,
    line_with_band,
    log_wall_axis,
    new_figure,
)

_COLOURS = {"stress": BLUE, "dissipation": VERMILLION}
_NAMES = {"stress": "Reynolds stresses", "dissipation": "dissipation tensor"}
_MARKS = {5.0: "s", 15.0: "^", 50.0: "D", np.inf: "o"}  # z+, inf: the last point
_OF_COMPONENT = {"uu": COMPONENT["u"], "vv": COMPONENT["v"], "ww": COMPONENT["w"], "uw": PURPLE}


def tensors_of(derived: Derived) -> list[str]:
    """The tensors whose anisotropy is known."""
    return [tensor for tensor in TENSORS if f"{tensor}_xi" in derived.values]


def invariant_map_figure(derived: Derived) -> Figure:
    """Lumley's triangle with its legend beside it."""
    figure = new_figure(9.6, 5.6)
    invariant_map(figure.add_subplot(), derived)
    figure.legend(loc="outside right upper")
    return figure


def invariant_map(axes: Axes, derived: Derived) -> Axes:
    """Lumley's triangle and the way through it from the wall to the centre."""
    xi = np.linspace(-1 / 6, 1 / 3, 200)
    side = {"color": BLACK, "linewidth": 1.0, "zorder": 2}
    axes.plot(xi, two_component_limit(xi), **side)  # type: ignore[arg-type]
    axes.plot([-1 / 6, 0, 1 / 3], [1 / 6, 0, 1 / 3], **side)  # type: ignore[arg-type]
    far = len(derived.z_plus) - 1
    for tensor in tensors_of(derived):
        x, y = derived.values[f"{tensor}_xi"], derived.values[f"{tensor}_eta"]
        colour = _COLOURS[tensor]
        axes.plot(x, y, color=colour, label=_NAMES[tensor], zorder=3)
        for height, marker in _MARKS.items():
            n = min(int(np.searchsorted(derived.z_plus, height)), far)
            width = {} if not derived.bands else {
                "xerr": derived.bands[f"{tensor}_xi"][n], "yerr": derived.bands[f"{tensor}_eta"][n]
            }  # fmt: skip
            axes.errorbar(
                x[n], y[n], **width, marker=marker, markersize=7, color=colour, markerfacecolor="white",
                capsize=2.5, elinewidth=1.0, zorder=4,
            )  # fmt: skip
    for height, marker in _MARKS.items():
        label = rf"$z^+={derived.z_plus[far]:.0f}$" if np.isinf(height) else rf"$z^+={height:g}$"
        if np.isinf(height) or height < derived.z_plus[far]:
            axes.plot([], [], linestyle="none", marker=marker, color=BLACK, markerfacecolor="white", label=label)
    grey = {"fontsize": 11, "color": "#555555", "ha": "center"}
    for text, at, vertical in (
        ("isotropic", (0.0, -0.012), "top"),
        ("one component", (1 / 3, 1 / 3 + 0.012), "bottom"),
        ("two components,\naxisymmetric", (-1 / 6, 1 / 6 + 0.016), "bottom"),
        ("two components", (0.03, 0.208), "bottom"),
    ):
        axes.text(*at, text, va=vertical, **grey)  # type: ignore[arg-type]
    for text, at, angle in (
        ("axisymmetric, one large", (0.215, 0.165), 45),
        ("axisymmetric, one small", (-0.105, 0.075), -45),
    ):
        axes.text(*at, text, va="center", rotation=angle, transform_rotates_text=True, **grey)  # type: ignore[arg-type]
    axes.set_xlim(-0.24, 0.4)
    axes.set_ylim(-0.04, 0.37)
    axes.set_xlabel(r"$\xi$, where $6\xi^3=b_{ij}b_{jk}b_{ki}$")
    axes.set_ylabel(r"$\eta$, where $6\eta^2=b_{ij}b_{ji}$")
    return axes


def anisotropy_figure(derived: Derived) -> Figure:
    """Components of the anisotropy of the Reynolds stresses and of their dissipation against z+."""
    tensors = tensors_of(derived)
    figure = new_figure(4.8 * len(tensors) + 1.2, 4.6)
    panels = figure.subplots(1, len(tensors), squeeze=False, sharey=True)[0]
    for axes, tensor in zip(panels, tensors, strict=True):
        anisotropy(axes, derived, tensor)
        axes.label_outer()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def anisotropy(axes: Axes, derived: Derived, tensor: str) -> Axes:
    """Components of the anisotropy against z+. `tensor`: stress or dissipation."""
    log_wall_axis(axes, derived.z_plus)
    axes.axhline(0, **THIN)
    for name in COMPONENTS:
        _line(axes, derived, f"{tensor}_b_{name}", _OF_COMPONENT[name], rf"$b_{{{name}}}$")
    axes.set_title(_NAMES[tensor], fontsize=12)
    axes.set_ylabel(r"$b_{ij}=t_{ij}/t_{kk}-\delta_{ij}/3$")
    return axes


def enstrophy(axes: Axes, derived: Derived) -> Axes:
    """Enstrophy of the fluctuations and the dissipation of k, which it equals in homogeneous turbulence."""
    log_wall_axis(axes, derived.z_plus)
    label = r"enstrophy $\langle\omega_i\omega_i\rangle\,\nu^2/u_\tau^4$"
    _line(axes, derived, "enstrophy_plus", BLUE, label)
    if "epsilon_plus" in derived.values:
        _line(axes, derived, "epsilon_plus", VERMILLION, r"dissipation of $k$, $\varepsilon\,\nu/u_\tau^4$")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("enstrophy, dissipation in wall units")
    axes.legend(loc="lower left")
    return axes


def kolmogorov_figure(derived: Derived) -> Figure | None:
    """Kolmogorov's length in wall units, and the size of the cells in this length."""
    if "eta_plus" not in derived.values:
        return None
    figure = new_figure(9.6, 4.2)
    left, right = figure.subplots(1, 2)
    kolmogorov_length(left, derived)
    cell_sizes(right, derived)
    return figure


def kolmogorov_length(axes: Axes, derived: Derived) -> Axes:
    """Kolmogorov's length in wall units against z+."""
    log_wall_axis(axes, derived.z_plus)
    _line(axes, derived, "eta_plus", None, "")
    axes.set_ylabel(r"Kolmogorov length $\eta^+$")
    axes.set_ylim(bottom=0)
    return axes


def cell_sizes(axes: Axes, derived: Derived) -> Axes:
    """The size of the cells over Kolmogorov's length against z+."""
    log_wall_axis(axes, derived.z_plus)
    for name, colour in zip(SPACINGS, (BLUE, ORANGE, VERMILLION), strict=True):
        _line(axes, derived, f"{name}_over_eta", colour, rf"$\Delta {name[-1]}/\eta$")
    axes.set_ylabel(r"size of the cells over $\eta$")
    axes.set_ylim(0, 1.2 * max(float(np.max(derived.values[f"{name}_over_eta"])) for name in SPACINGS))
    axes.legend(loc="upper right", ncols=3)
    return axes


def _line(axes: Axes, derived: Derived, name: str, colour: str | None, label: str) -> None:
    line_with_band(axes, derived.z_plus, derived.values[name], derived.bands.get(name), color=colour, label=label)
