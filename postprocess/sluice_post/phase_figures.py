"""Figures of averages by phase, one panel each, drawn into the axes that are given; bands are 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes

from sluice_post.phases import COMPONENTS
from sluice_post.style import BLACK, BLUE, COMPONENT, GREEN, VERMILLION, line_with_band

PROFILES_SHOWN = 8
PHASE = r"phase $t/T$"


def _line(axes: Axes, found: xr.Dataset, name: str, **style: object) -> None:
    """A variable against its only dimension; a phase without steps from 1 to 0."""
    values = found[name]
    y = np.unwrap(values, period=1.0) if name.startswith("lag") else values.values
    band = found.get(f"{name}_ci95")
    line_with_band(axes, found[values.dims[0]].values, y, None if band is None else band.values, **style)


def _finish(axes: Axes, found: xr.Dataset, along: str, label: str) -> None:
    if along == "phase":
        axes.set_xlim(0, 1)
        axes.set_xlabel(PHASE)
    else:
        axes.set_xlim(found.z_face[0], found.z_face[-1])
        axes.set_xlabel("$z/h$")
    axes.set_ylabel(label)


def profiles(axes: Axes, found: xr.Dataset) -> None:
    """The velocity at up to 8 phases against z/h; dashed: the mean."""
    bins = found.phase.size
    for n in range(0, bins, max(1, -(-bins // PROFILES_SHOWN))):
        colour = colormaps["twilight_shifted"](0.1 + 0.8 * n / bins)
        _line(axes, found.isel(phase=n), "U", color=colour, label=f"{found.phase[n]:.3f}")
    axes.plot(found.z, found.mean_u, color=BLACK, linewidth=1.0, linestyle=(0, (5, 3)), label="mean")
    axes.legend(title=PHASE, fontsize=9, ncols=3)
    _finish(axes, found, "z", r"$\langle u\rangle_\phi/U$")


def wall_shear(axes: Axes, found: xr.Dataset) -> None:
    """The shear stress on both walls along x against the phase; along y, too, if there is any."""
    lines = {"shear_x_bottom": (BLUE, "bottom, $x$"), "shear_x_top": (VERMILLION, "top, $x$")}
    if abs(found.shear_y_bottom).max() > 0.05 * abs(found.shear_x_bottom).max():
        lines["shear_y_bottom"] = (GREEN, "bottom, $y$")
    for name, (colour, text) in lines.items():
        _line(axes, found, name, color=colour, label=text, marker="o", markersize=3.5)
    axes.legend()
    _finish(axes, found, "phase", r"$\tau_w/\rho U^2$")


def bulk_velocity(axes: Axes, found: xr.Dataset) -> None:
    """The bulk velocity against the phase."""
    _line(axes, found, "bulk_velocity", color=None, label="", marker="o", markersize=3.5)
    _finish(axes, found, "phase", "$U_b/U$")


def _of_components(axes: Axes, found: xr.Dataset, kinds: Mapping[str, tuple[str, object]], label: str) -> None:
    """Of the components that are periodic to a notable degree: name, ending of the label and dashes of each line."""
    largest = {c: float(found[f"amplitude_{c}"].max()) for c in COMPONENTS}
    for c in (c for c in COMPONENTS if largest[c] >= 0.05 * max(largest.values())):
        for name, (ending, dashes) in kinds.items():
            style = {"linestyle": dashes} if dashes else {}
            _line(axes, found, name.format(c=c), color=COMPONENT[c], label=f"${c}${ending}", **style)
    axes.legend()
    _finish(axes, found, "z", label)


def amplitude(axes: Axes, found: xr.Dataset) -> None:
    """The amplitude of the first harmonic of u and v against z/h."""
    _of_components(axes, found, {"amplitude_{c}": ("", None)}, "amplitude / $U$")
    axes.set_ylim(bottom=0)


def lag(axes: Axes, found: xr.Dataset) -> None:
    """The phase at which the first harmonic of u and v is largest against z/h."""
    _of_components(axes, found, {"lag_{c}": ("", None)}, "phase of the maximum")


def variances(axes: Axes, found: xr.Dataset) -> None:
    """The variances of u and v in their periodic part and their fluctuation against z/h."""
    kinds = {"{c}{c}_periodic": (", periodic", (0, (5, 2))), "{c}{c}_fluctuation": (", fluctuation", (0, ()))}
    _of_components(axes, found, kinds, "variance / $U^2$")
    axes.set_ylim(bottom=0)
