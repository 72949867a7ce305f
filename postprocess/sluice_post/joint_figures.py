"""Figures of joint densities.

A function that takes axes draws one panel into them and returns its contours; the others return a figure of panels.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from sluice_post.arrays import Array
from sluice_post.density_figures import decades_bar, figure_of_heights
from sluice_post.evaluated_densities import EvaluatedDensities
from sluice_post.quadrants import JOINT_EDGES, JOINT_MIDDLES, joint_moments, standardized_density
from sluice_post.style import BLACK, DIVERGING_MAP, THIN, height_label, new_figure

_DECADES = np.arange(-4.0, -0.4, 0.5)
_SHEAR_DECADES = np.arange(-4.0, 0.6, 0.5)
_FRACTIONS = (0.05, 0.1, 0.25, 0.5, 0.75)  # of the largest covariance integrand
_LEVELS = [-1.0, *(-f for f in reversed(_FRACTIONS)), *_FRACTIONS, 1.0]
_SHOWN = 4.5  # standard deviations


def _contours(axes: Axes, x: Array, y: Array, values: Array, decades: Array) -> QuadContourSet:
    """Contours of powers of 10."""
    with np.errstate(divide="ignore"):
        logarithm = np.clip(np.log10(values), -9, None).T
    filled = axes.contourf(x, y, logarithm, levels=decades, cmap="Blues", extend="max")
    _black_lines(axes, x, y, logarithm, decades[::2])
    return filled


def _black_lines(axes: Axes, x: Array, y: Array, values: Array, levels: Array | list[float]) -> None:
    axes.contour(x, y, values, levels=levels, colors=BLACK, linewidths=THIN["linewidth"] / 2, linestyles="solid")
    axes.axhline(0, **THIN)
    axes.axvline(0, **THIN)


def _plane_of_fluctuations(axes: Axes, evaluated: EvaluatedDensities, height: int) -> Array:
    """Axes for u' and w' over their standard deviations; returns their joint density."""
    axes.set(aspect="equal", xlim=(-_SHOWN, _SHOWN), ylim=(-_SHOWN, _SHOWN))
    axes.set(xlabel=r"$u'/u_\mathrm{rms}$", ylabel=r"$w'/w_\mathrm{rms}$")
    axes.xaxis.set_major_locator(MultipleLocator(2))
    axes.yaxis.set_major_locator(MultipleLocator(2))
    axes.set_title(height_label(f"{evaluated.found.plus(evaluated.found.joint_z)[height]:.3g}"))
    return standardized_density(evaluated.found.joints()[height])


def joint_density(axes: Axes, evaluated: EvaluatedDensities, height: int) -> QuadContourSet:
    """Joint density of u' and w' over their standard deviations at one height, by its number from 0."""
    density = _plane_of_fluctuations(axes, evaluated, height)
    return _contours(axes, JOINT_MIDDLES, JOINT_MIDDLES, density, _DECADES)


def joint_figure(evaluated: EvaluatedDensities) -> Figure | None:
    """Joint densities of u' and w' over their standard deviations at the heights that the run took them at."""
    if (made := figure_of_heights(evaluated, joint_density, sharey=True)) is None:
        return None
    figure, panels, filled = made
    decades_bar(figure, filled[-1], panels, _DECADES, r"$u_\mathrm{rms}w_\mathrm{rms}P(u',w')$")
    return figure


def covariance_integrand(axes: Axes, evaluated: EvaluatedDensities, height: int) -> QuadContourSet:
    """u'w'P(u', w') over its largest magnitude at one height, by its number from 0."""
    integrand = np.outer(JOINT_MIDDLES, JOINT_MIDDLES) * _plane_of_fluctuations(axes, evaluated, height)
    fraction = (integrand / np.abs(integrand).max()).T
    filled = axes.contourf(JOINT_MIDDLES, JOINT_MIDDLES, fraction, levels=_LEVELS, cmap=DIVERGING_MAP)
    _black_lines(axes, JOINT_MIDDLES, JOINT_MIDDLES, fraction, _LEVELS)
    return filled


def covariance_figure(evaluated: EvaluatedDensities) -> Figure | None:
    """Covariance integrands u'w'P(u', w'), whose integral is <u'w'>, over the largest magnitude of each panel."""
    if (made := figure_of_heights(evaluated, covariance_integrand, sharey=True)) is None:
        return None
    figure, panels, filled = made
    bar = figure.colorbar(filled[-1], ax=panels, shrink=0.8, pad=0.02, spacing="uniform")
    bar.set_ticks(_LEVELS, labels=[f"{level:g}".replace("-", "−") for level in _LEVELS])
    bar.ax.minorticks_off()
    bar.set_label(r"$u'w'P$ over its largest magnitude")
    return figure


def shear_joint_figure(evaluated: EvaluatedDensities) -> Figure:
    """Joint density of both components of the wall shear over the mean of the streamwise one."""
    figure = new_figure(6.4, 4.6)
    axes = figure.subplots()
    filled = wall_shear_joint(axes, evaluated)
    decades_bar(figure, filled, [axes], _SHEAR_DECADES, r"$\langle\tau_x\rangle^2P(\tau_x,\tau_y)$")
    return figure


def wall_shear_joint(axes: Axes, evaluated: EvaluatedDensities) -> QuadContourSet:
    """Joint density of both components of the wall shear over the mean of the streamwise one."""
    joints = evaluated.found.shear_joint()
    x, y = (float(m.mean) + float(m.rms) * JOINT_EDGES for m in joint_moments(joints))
    values = np.mean([joint.density((x, y)) for joint in joints], axis=0)
    x, y = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
    filled = _contours(axes, x, y, values, _SHEAR_DECADES)
    shown = values > 10.0 ** _SHEAR_DECADES[0]
    along, across = x[shown.any(axis=1)], y[shown.any(axis=0)]
    axes.set(aspect="equal", xlim=(min(0.0, along[0]) - 0.2, along[-1] + 0.2), ylim=(across[0] - 0.1, across[-1] + 0.1))
    axes.set(xlabel=r"$\tau_x/\langle\tau_x\rangle$", ylabel=r"$\tau_y/\langle\tau_x\rangle$")
    return filled
