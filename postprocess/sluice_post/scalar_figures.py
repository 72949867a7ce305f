"""Figures of the profiles of a scalar, one panel each, drawn into the axes that are given; bands are 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes

from sluice_post.arrays import Array
from sluice_post.scalar_numbers import EvaluatedScalar
from sluice_post.style import BLACK, BLUE, THIN, VERMILLION, line_with_band, log_wall_axis

Panel: TypeAlias = Callable[[Axes, EvaluatedScalar], Axes]

# Kader, Int. J. Heat Mass Transfer 24, 1541 (1981): Theta+ = 2.12 ln z+ + beta(Pr).
KADER_SLOPE = 2.12


def kader_intercept(prandtl: float) -> float:
    """beta(Pr) of Kader (1981), for Prandtl numbers from 0.006 to 40 000."""
    return float((3.85 * np.cbrt(prandtl) - 1.3) ** 2 + KADER_SLOPE * np.log(prandtl))


def _line(axes: Axes, found: EvaluatedScalar, name: str, colour: str | None, label: str = "", sign: int = 1) -> Array:
    """A profile at its own points against z+, without those where it is not defined."""
    wall, profiles = found.profiles.wall, found.profiles
    z, values = (wall.z_plus, profiles.centre[name]) if name in profiles.centre else (
        wall.z_face_plus, profiles.face[name]
    )  # fmt: skip
    known = np.isfinite(values) & (z > 0)
    band = found.bands.get(name)
    line_with_band(
        axes, z[known], sign * values[known], None if band is None else band[known], color=colour, label=label
    )
    return sign * values[known]


def mean(axes: Axes, found: EvaluatedScalar) -> Axes:
    """Theta+ against z+ with the conductive sublayer and, in turbulence, Kader's logarithmic law."""
    wall, prandtl = found.profiles.wall, found.profiles.scalar.prandtl
    log_wall_axis(axes, wall.z_plus)
    left, right = axes.get_xlim()
    dashes = (0, (5, 3))
    top = 1.1 * float(np.max(found.profiles.centre["C"]))
    sublayer = np.geomspace(left, right, 200)
    axes.plot(sublayer, prandtl * sublayer, linestyle=dashes, **THIN, label=r"$\Theta^+=Pr\,z^+$")
    if right > 30 and not found.profiles.constant:
        law = np.geomspace(10.0, right, 100)
        label = rf"Kader (1981): $\Theta^+={KADER_SLOPE:g}\,\ln z^++{kader_intercept(prandtl):.2f}$"
        values = KADER_SLOPE * np.log(law) + kader_intercept(prandtl)
        axes.plot(law, values, color=BLACK, linewidth=0.9, linestyle=(0, (1, 1.5)), label=label)
    _line(axes, found, "C", None, "run")
    axes.set_ylim(0, top)
    axes.set_ylabel(r"$\Theta^+$")
    axes.legend(loc="upper left")
    return axes


def fluctuations(axes: Axes, found: EvaluatedScalar) -> Axes:
    """The rms scalar against z+."""
    log_wall_axis(axes, found.profiles.wall.z_plus)
    _line(axes, found, "c_rms", None)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(r"$\theta_\mathrm{rms}^+$")
    return axes


def fluxes(axes: Axes, found: EvaluatedScalar) -> Axes:
    """Turbulent, conductive and total flux over the wall flux against z/h, and the line that the total must follow."""
    face, wall = found.profiles.face, found.profiles.wall
    z = wall.z_face
    axes.plot(z, face["balance"], color=BLACK, linewidth=1.0, linestyle=(0, (1, 1.2)), label="balance", zorder=4)
    axes.plot(z, face["total"], color=BLACK, linewidth=3.2, alpha=0.25, label="total", zorder=2)
    for name, colour, label in (
        ("minus_wc", BLUE, r"$-\langle w\theta\rangle^+$ turbulent"),
        ("conduction", VERMILLION, "conductive"),
    ):
        line_with_band(axes, z, face[name], found.bands.get(name), color=colour, label=label)
    axes.set_xlim(0, wall.height)
    axes.set_xlabel(r"$z/h$")
    axes.set_ylabel("flux / wall flux")
    axes.legend(loc="best")
    return axes


def turbulent_prandtl(axes: Axes, found: EvaluatedScalar) -> Axes:
    """The turbulent Prandtl number against z+; next to the centre, where both gradients vanish, it is left out."""
    log_wall_axis(axes, found.profiles.wall.z_plus)
    axes.axhline(1, **THIN)
    _line(axes, found, "Pr_t", None)
    axes.set_ylim(0, 2)
    axes.set_ylabel(r"$Pr_t=\nu_t/\kappa_t$")
    return axes


def correlations(axes: Axes, found: EvaluatedScalar) -> Axes:
    """Correlation coefficients of Theta with u and -w against z+."""
    log_wall_axis(axes, found.profiles.wall.z_plus)
    axes.axhline(0, **THIN)
    _line(axes, found, "R_uc", BLUE, r"$R_{u\theta}$")
    _line(axes, found, "R_wc", VERMILLION, r"$-R_{w\theta}$", sign=-1)
    axes.set_ylim(-0.2, 1.05)
    axes.set_ylabel("correlation coefficient")
    axes.legend(loc="best")
    return axes


PANELS: dict[str, Panel] = {
    "mean": mean,
    "fluctuations": fluctuations,
    "fluxes": fluxes,
    "turbulent_prandtl": turbulent_prandtl,
    "correlations": correlations,
}
