"""Figures of averages by phase, one panel each, drawn into the axes that are given; bands are 95 % intervals."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from sluice_post.phases import COMPONENTS, PhaseAverages
from sluice_post.style import BLACK, BLUE, COMPONENT, GREEN, VERMILLION, line_with_band

PROFILES_SHOWN = 8
PHASE = r"phase $t/T$"


def profiles(axes: Axes, found: PhaseAverages) -> Axes:
    """The velocity at up to 8 phases against z/h; dashed: the mean."""
    step = max(1, -(-found.phase.size // PROFILES_SHOWN))
    for n in range(0, found.phase.size, step):
        colour = colormaps["twilight_shifted"](0.1 + 0.8 * n / found.phase.size)
        band = found.widths["U"][:, n]
        line_with_band(axes, found.z, found.centre["U"][:, n], band, color=colour, label=f"{found.phase[n]:.3f}")
    axes.plot(found.z, found.harmonic["mean_u"], color=BLACK, linewidth=1.0, linestyle=(0, (5, 3)), label="mean")
    axes.set_xlim(found.z_face[0], found.z_face[-1])
    axes.legend(title=PHASE, fontsize=9, ncols=3)
    axes.set_xlabel("$z/h$")
    axes.set_ylabel(r"$\langle u\rangle_\phi/U$")
    return axes


def _against_phase(axes: Axes, found: PhaseAverages, lines: dict[str, tuple[str | None, str]], label: str) -> Axes:
    for name, (colour, text) in lines.items():
        line_with_band(axes, found.phase, found.line[name], found.widths[name], color=colour, label=text, marker="o",
                       markersize=3.5)  # fmt: skip
    axes.set_xlim(0, 1)
    axes.set_xlabel(PHASE)
    axes.set_ylabel(label)
    if len(lines) > 1:
        axes.legend()
    return axes


def wall_shear(axes: Axes, found: PhaseAverages) -> Axes:
    """The shear stress on both walls along x against the phase; along y, too, if there is any."""
    lines: dict[str, tuple[str | None, str]] = {
        "shear_x_bottom": (BLUE, "bottom, $x$"),
        "shear_x_top": (VERMILLION, "top, $x$"),
    }
    largest = np.abs(found.line["shear_x_bottom"]).max()
    if np.abs(found.line["shear_y_bottom"]).max() > 0.05 * largest:
        lines["shear_y_bottom"] = (GREEN, "bottom, $y$")
    return _against_phase(axes, found, lines, r"$\tau_w/\rho U^2$")


def bulk_velocity(axes: Axes, found: PhaseAverages) -> Axes:
    """The bulk velocity against the phase."""
    return _against_phase(axes, found, {"bulk_velocity": (None, "")}, "$U_b/U$")


def _periodic(found: PhaseAverages) -> list[str]:
    """The components to show: those that are periodic to a notable degree."""
    largest = {c: float(found.harmonic[f"amplitude_{c}"].max()) for c in COMPONENTS}
    return [c for c in COMPONENTS if largest[c] >= 0.05 * max(largest.values())]


def _against_height(axes: Axes, found: PhaseAverages, label: str) -> Axes:
    axes.set_xlim(found.z_face[0], found.z_face[-1])
    axes.legend()
    axes.set_xlabel("$z/h$")
    axes.set_ylabel(label)
    return axes


def amplitude(axes: Axes, found: PhaseAverages) -> Axes:
    """The amplitude of the first harmonic of u and v against z/h."""
    for c in _periodic(found):
        name = f"amplitude_{c}"
        line_with_band(axes, found.z, found.harmonic[name], found.widths[name], color=COMPONENT[c], label=f"${c}$")
    axes.set_ylim(bottom=0)
    return _against_height(axes, found, "amplitude / $U$")


def lag(axes: Axes, found: PhaseAverages) -> Axes:
    """The phase at which the first harmonic of u and v is largest against z/h."""
    for c in _periodic(found):
        values = np.unwrap(found.harmonic[f"lag_{c}"], period=1.0)
        line_with_band(axes, found.z, values, found.widths[f"lag_{c}"], color=COMPONENT[c], label=f"${c}$")
    return _against_height(axes, found, "phase of the maximum")


def variances(axes: Axes, found: PhaseAverages) -> Axes:
    """The variances of u and v in their periodic part and their fluctuation against z/h."""
    for c in _periodic(found):
        for part, dashes in (("periodic", (0, (5, 2))), ("fluctuation", (0, ()))):
            name = f"{c}{c}_{part}"
            line_with_band(axes, found.z, found.harmonic[name], found.widths[name], color=COMPONENT[c],
                           linestyle=dashes, label=f"${c}$, {part}")  # fmt: skip
    axes.set_ylim(bottom=0)
    return _against_height(axes, found, "variance / $U^2$")
