"""Figures of joint densities. Each function returns one matplotlib figure, or None where there are none."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from sluice_post.arrays import Array
from sluice_post.evaluated_densities import EvaluatedDensities
from sluice_post.quadrants import JOINT_EDGES, JOINT_MIDDLES, joint_moments, standardized_density
from sluice_post.style import BLACK, DIVERGING_MAP, THIN, new_figure, panel_grid

_DECADES = np.arange(-4.0, -0.4, 0.5)
_SHEAR_DECADES = np.arange(-4.0, 0.6, 0.5)
_FRACTIONS = (0.05, 0.1, 0.25, 0.5, 0.75)  # of the largest covariance integrand
_LEVELS = [-1.0, *(-f for f in reversed(_FRACTIONS)), *_FRACTIONS, 1.0]
_SHOWN = 4.5  # standard deviations


def _logarithmic(axes: Axes, x: Array, y: Array, values: Array, decades: Array) -> object:
    """Contours of powers of 10; returns what a colour bar needs."""
    with np.errstate(divide="ignore"):
        logarithm = np.clip(np.log10(values), -9, None).T
    filled = axes.contourf(x, y, logarithm, levels=decades, cmap="Blues", extend="max")
    axes.contour(x, y, logarithm, levels=decades[::2], colors=BLACK, linewidths=0.6, linestyles="solid")
    axes.axhline(0, **THIN)
    axes.axvline(0, **THIN)
    return filled


def _panels(figure: Figure, count: int) -> list[Axes]:
    """Square panels in rows of up to three, for the plane of u' and w'."""
    rows, columns = panel_grid(count)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for n, axes in enumerate(panels.flat):
        if n >= count:
            axes.set_visible(False)
            continue
        _plane_of_fluctuations(axes)
        last = n + columns >= count
        axes.tick_params(labelbottom=last)
        if not last:
            axes.set_xlabel("")
        if n % columns != 0:
            axes.set_ylabel("")
    return list(panels.flat)[:count]


def _plane_of_fluctuations(axes: Axes) -> None:
    axes.set_aspect("equal")
    axes.set_xlim(-_SHOWN, _SHOWN)
    axes.set_ylim(-_SHOWN, _SHOWN)
    axes.xaxis.set_major_locator(MultipleLocator(2))
    axes.yaxis.set_major_locator(MultipleLocator(2))
    axes.set_xlabel(r"$u'/u_\mathrm{rms}$")
    axes.set_ylabel(r"$w'/w_\mathrm{rms}$")


def joint_density(axes: Axes, evaluated: EvaluatedDensities, height: int) -> Axes:
    """Joint density of u' and w' over their standard deviations at one height, by its number from 0."""
    _plane_of_fluctuations(axes)
    _joint_contours(axes, evaluated, height)
    return axes


def _joint_contours(axes: Axes, evaluated: EvaluatedDensities, height: int) -> object:
    values = standardized_density(evaluated.found.joints()[height])
    axes.set_title(rf"$z^+={evaluated.found.plus(evaluated.found.joint_z)[height]:.3g}$")
    return _logarithmic(axes, JOINT_MIDDLES, JOINT_MIDDLES, values, _DECADES)


def covariance_integrand(axes: Axes, evaluated: EvaluatedDensities, height: int) -> Axes:
    """u'w'P(u', w') over its largest magnitude at one height, by its number from 0."""
    _plane_of_fluctuations(axes)
    _covariance_contours(axes, evaluated, height)
    return axes


def _covariance_contours(axes: Axes, evaluated: EvaluatedDensities, height: int) -> QuadContourSet:
    density = standardized_density(evaluated.found.joints()[height])
    integrand = np.outer(JOINT_MIDDLES, JOINT_MIDDLES) * density
    fraction = (integrand / np.abs(integrand).max()).T
    filled = axes.contourf(JOINT_MIDDLES, JOINT_MIDDLES, fraction, levels=_LEVELS, cmap=DIVERGING_MAP)
    style: dict[str, Any] = {"colors": BLACK, "linewidths": 0.5, "linestyles": "solid"}
    axes.contour(JOINT_MIDDLES, JOINT_MIDDLES, fraction, levels=_LEVELS, **style)
    axes.axhline(0, **THIN)
    axes.axvline(0, **THIN)
    axes.set_title(rf"$z^+={evaluated.found.plus(evaluated.found.joint_z)[height]:.3g}$")
    return filled


def _new_figure(count: int) -> Figure:
    rows, columns = panel_grid(count)
    return new_figure(2.9 * columns + 1.6, 3.0 * rows + 0.6)


def joint_figure(evaluated: EvaluatedDensities) -> Figure | None:
    """Joint densities of u' and w' over their standard deviations at the heights that the run took them at."""
    z_plus = evaluated.found.plus(evaluated.found.joint_z)
    if not z_plus.size:
        return None
    figure, filled = _new_figure(z_plus.size), None
    panels = _panels(figure, z_plus.size)
    for height, axes in enumerate(panels):
        filled = _joint_contours(axes, evaluated, height)
    _decade_bar(figure, filled, panels, _DECADES, r"$u_\mathrm{rms}w_\mathrm{rms}P(u',w')$")
    return figure


def _decade_bar(figure: Figure, filled: object, panels: list[Axes], decades: Array, label: str) -> None:
    bar = figure.colorbar(filled, ax=panels, shrink=0.8, pad=0.02)  # type: ignore[arg-type]
    bar.set_ticks(list(decades[::2]))
    bar.set_ticklabels([f"$10^{{{exponent:.0f}}}$" for exponent in decades[::2]])
    bar.ax.minorticks_off()
    bar.set_label(label)


def covariance_figure(evaluated: EvaluatedDensities) -> Figure | None:
    """Covariance integrands u'w'P(u', w'), whose integral is <u'w'>, over the largest magnitude of each panel."""
    z_plus = evaluated.found.plus(evaluated.found.joint_z)
    if not z_plus.size:
        return None
    figure, filled = _new_figure(z_plus.size), None
    panels = _panels(figure, z_plus.size)
    for height, axes in enumerate(panels):
        filled = _covariance_contours(axes, evaluated, height)
    assert filled is not None
    bar = figure.colorbar(filled, ax=panels, shrink=0.8, pad=0.02, spacing="uniform")
    bar.set_ticks(_LEVELS)
    bar.set_ticklabels([f"{level:g}".replace("-", "−") for level in _LEVELS])
    bar.ax.minorticks_off()
    bar.set_label(r"$u'w'P$ over its largest magnitude")
    return figure


def shear_joint_figure(evaluated: EvaluatedDensities) -> Figure:
    """Joint density of both components of the wall shear over the mean of the streamwise one."""
    figure = new_figure(6.4, 4.6)
    axes = figure.subplots()
    filled = _shear_contours(axes, evaluated)
    _decade_bar(figure, filled, [axes], _SHEAR_DECADES, r"$\langle\tau_x\rangle^2P(\tau_x,\tau_y)$")
    return figure


def wall_shear_joint(axes: Axes, evaluated: EvaluatedDensities) -> Axes:
    """Joint density of both components of the wall shear over the mean of the streamwise one."""
    _shear_contours(axes, evaluated)
    return axes


def _shear_contours(axes: Axes, evaluated: EvaluatedDensities) -> object:
    joints = evaluated.found.shear_joint()
    scales = joint_moments(joints)
    edges = [float(m.mean) + float(m.rms) * JOINT_EDGES for m in scales]
    middles = [(e[1:] + e[:-1]) / 2 for e in edges]
    values = np.mean([joint.density((edges[0], edges[1])) for joint in joints], axis=0)
    filled = _logarithmic(axes, middles[0], middles[1], values, _SHEAR_DECADES)
    some = [middles[n][(values > 10.0 ** _DECADES[0]).any(axis=1 - n)] for n in (0, 1)]
    axes.set_xlim(min(0.0, float(some[0][0])) - 0.2, float(some[0][-1]) + 0.2)
    axes.set_ylim(float(some[1][0]) - 0.1, float(some[1][-1]) + 0.1)
    axes.set_aspect("equal")
    axes.set_xlabel(r"$\tau_x/\langle\tau_x\rangle$")
    axes.set_ylabel(r"$\tau_y/\langle\tau_x\rangle$")
    return filled
