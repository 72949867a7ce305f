"""Figures of the profiles of a scalar, one panel each, drawn into the axes that are given; bands are 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from sluice_post.lines import profile_line, wall_axes
from sluice_post.scalar_numbers import EvaluatedScalar
from sluice_post.style import BLACK, BLUE, THIN, VERMILLION

# Kader, Int. J. Heat Mass Transfer 24, 1541 (1981): Theta+ = 2.12 ln z+ + beta(Pr).
KADER_SLOPE = 2.12


def kader_intercept(prandtl: float) -> float:
    """beta(Pr) of Kader (1981), for Prandtl numbers from 0.006 to 40 000."""
    return float((3.85 * np.cbrt(prandtl) - 1.3) ** 2 + KADER_SLOPE * np.log(prandtl))


def mean(axes: Axes, found: EvaluatedScalar) -> None:
    """Theta+ against z+ with the conductive sublayer and, in turbulence, Kader's logarithmic law."""
    wall_axes(axes, found.data, r"$\Theta^+$")
    prandtl, (left, right) = found.profiles.scalar.prandtl, axes.get_xlim()
    sublayer = np.geomspace(left, right, 200)
    axes.plot(sublayer, prandtl * sublayer, linestyle=(0, (5, 3)), **THIN, label=r"$\Theta^+=Pr\,z^+$")
    if right > 30 and not found.profiles.constant:
        law, intercept = np.geomspace(10.0, right, 100), kader_intercept(prandtl)
        label = rf"Kader (1981): $\Theta^+={KADER_SLOPE:g}\,\ln z^++{intercept:.2f}$"
        values = KADER_SLOPE * np.log(law) + intercept
        axes.plot(law, values, color=BLACK, linewidth=0.9, linestyle=(0, (1, 1.5)), label=label)
    profile_line(axes, found.data, "C", color=None, label="run")
    axes.set_ylim(0, 1.1 * float(found.data["C"].max()))
    axes.legend(loc="upper left")


def fluctuations(axes: Axes, found: EvaluatedScalar) -> None:
    """The rms scalar against z+."""
    wall_axes(axes, found.data, r"$\theta_\mathrm{rms}^+$", ("c_rms", None, ""))
    axes.set_ylim(bottom=0)


def fluxes(axes: Axes, found: EvaluatedScalar) -> None:
    """Turbulent, conductive and total flux over the wall flux against z/h, and the line that the total must follow."""
    z, face = found.profiles.wall.z_face, found.profiles.face
    axes.plot(z, face["balance"], color=BLACK, linewidth=1.0, linestyle=(0, (1, 1.2)), label="balance", zorder=4)
    axes.plot(z, face["total"], color=BLACK, linewidth=3.2, alpha=0.25, label="total", zorder=2)
    turbulent = r"$-\langle w\theta\rangle^+$ turbulent"
    profile_line(axes, found.data, "minus_wc", plus=False, color=BLUE, label=turbulent)
    profile_line(axes, found.data, "conduction", plus=False, color=VERMILLION, label="conductive")
    axes.set_xlim(0, found.profiles.wall.height)
    axes.set_xlabel(r"$z/h$")
    axes.set_ylabel("flux / wall flux")
    axes.legend(loc="best")


def turbulent_prandtl(axes: Axes, found: EvaluatedScalar) -> None:
    """The turbulent Prandtl number against z+; next to the centre, where both gradients vanish, it is left out."""
    wall_axes(axes, found.data, r"$Pr_t=\nu_t/\kappa_t$", ("Pr_t", None, ""))
    axes.axhline(1, **THIN)
    axes.set_ylim(0, 2)


def correlations(axes: Axes, found: EvaluatedScalar) -> None:
    """Correlation coefficients of Theta with u and -w against z+."""
    wall_axes(axes, found.data, "correlation coefficient", ("R_uc", BLUE, r"$R_{u\theta}$"))
    profile_line(axes, found.data, "R_wc", sign=-1, color=VERMILLION, label=r"$-R_{w\theta}$")
    axes.axhline(0, **THIN)
    axes.set_ylim(-0.2, 1.05)
    axes.legend(loc="best")


PANELS: dict[str, Callable[[Axes, EvaluatedScalar], None]] = {
    panel.__name__: panel for panel in (mean, fluctuations, fluxes, turbulent_prandtl, correlations)
}
