"""Figures of the profiles; bands are 95 % intervals.

A function that takes axes draws one panel into them; the others return a figure of such panels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MultipleLocator

from sluice_post import literature
from sluice_post.arrays import Array
from sluice_post.fitting import NOTE
from sluice_post.profiles import WallProfiles
from sluice_post.style import (
    BLACK,
    BLUE,
    COMPONENT,
    THIN,
    VERMILLION,
    WIDE,
    flatness_axis,
    legend,
    line_with_band,
    log_wall_axis,
    new_figure,
    published_points,
)
from sluice_post.symmetry import Symmetry

NEAR_WALL = 5.0  # z+ below which points are marked


def _headroom(axes: Axes, top: float, fraction: float = 0.12, bottom: float = 0.0) -> None:
    axes.set_ylim(bottom, top + fraction * (top - bottom))


def _note(axes: Axes, text: str, x: float, y: float, **style: object) -> None:
    if any(note.get_text() == text for note in axes.texts):  # of another run
        return
    outline = [withStroke(linewidth=3, foreground="white")]  # legible where it crosses a line
    options = {"fontsize": "small", "color": "#555555", "zorder": 5, "path_effects": outline, "gid": NOTE, **style}
    axes.annotate(text, (x, y), **options)  # type: ignore[arg-type]


def mean_velocity(axes: Axes, profiles: WallProfiles) -> None:
    """U+ against z+ with the law of the wall; a laminar flow with its exact profile."""
    if profiles.laminar:
        _laminar_velocity(axes, profiles)
    else:
        _law_of_the_wall(axes, profiles)
        colour = _line(axes, profiles, profiles.along_stress)
        near = profiles.z_plus < NEAR_WALL
        axes.plot(profiles.z_plus[near], profiles.centre[profiles.along_stress][near], "o", color=colour, zorder=3)
    along = " along the wall stress" if profiles.turns and not profiles.laminar else ""
    axes.set_ylabel(rf"$U^+${along}")


def _line(axes: Axes, profiles: WallProfiles, name: str, **style: Any) -> Any:
    """A profile against z+ where it is known, and the band of its interval; returns their colour."""
    z_plus, values = profiles.column(name)
    known, half_width = np.isfinite(values), profiles.half_widths.get(name)
    band = None if half_width is None else half_width[known]
    return line_with_band(axes, z_plus[known], values[known], band, **style)


def _law_of_the_wall(axes: Axes, profiles: WallProfiles) -> None:
    log_wall_axis(axes, profiles.z_plus)
    left, right = axes.get_xlim()
    dashes = (0, (5, 3))
    sublayer = np.geomspace(left, min(12.0, right), 100)
    axes.plot(sublayer, sublayer, linestyle=dashes, **THIN)
    _note(axes, r"$U^+=z^+$", 6.0, 3.6)
    top = 1.1 * float(np.max(profiles.centre[profiles.along_stress]))
    if right > 30:
        kappa, b = literature.LOG_LAW_KAPPA, literature.LOG_LAW_B
        log_layer = np.geomspace(8.0, right, 100)
        axes.plot(log_layer, np.log(log_layer) / kappa + b, linestyle=dashes, **THIN)
        at = 1.3 * right**0.5
        _note(axes, rf"$U^+=\ln(z^+)/{kappa:g}+{b:g}$", at, np.log(at) / kappa + b - 3.4)
    axes.set_ylim(0, top)
    if 8 < top < 40:
        axes.yaxis.set_major_locator(MultipleLocator(5))


def _laminar_velocity(axes: Axes, profiles: WallProfiles) -> None:
    """Linear axes and the exact solution, the integral of the stress: in a channel U+ = z+ - z+^2/(2 Re_tau)."""
    z, stress = profiles.z_face, profiles.face["balance"]
    steps = (stress[1:] + stress[:-1]) / 2 * np.diff(profiles.z_face_plus)
    exact = np.append(0.0, np.cumsum(steps))
    line_with_band(axes, profiles.z, profiles.centre["U"], label="run")
    every = max(1, len(z) // 16)
    published_points(axes, z[::every], exact[::every], label="laminar solution")
    axes.set_xlim(0, profiles.height)
    _headroom(axes, float(max(exact.max(), profiles.centre["U"].max())))
    axes.set_xlabel(r"$z/h$")
    legend(axes, loc="lower right")


_RMS_LABELS = {
    "u_rms": r"$u_\mathrm{rms}^+$ streamwise",
    "v_rms": r"$v_\mathrm{rms}^+$ spanwise",
    "w_rms": r"$w_\mathrm{rms}^+$ wall-normal",
    "p_rms": r"$p_\mathrm{rms}^+$ pressure",
}


def _component_label(label: str, profiles: WallProfiles) -> str:
    """Where the mean flow is not along x at every height, neither x nor y is streamwise."""
    if profiles.view.parameters.runs_along_x:
        return label
    return label.replace("streamwise", "along x").replace("spanwise", "along y")


def fluctuations(axes: Axes, profiles: WallProfiles) -> None:
    """Root-mean-square velocities and pressure against z+."""
    log_wall_axis(axes, profiles.z_plus)
    top = 0.0
    for name, label in _RMS_LABELS.items():
        if profiles.has(name):
            _line(axes, profiles, name, color=COMPONENT[name[0]], label=_component_label(label, profiles))
            top = max(top, float(np.max(profiles.centre[name])))
    _headroom(axes, top or 1.0, fraction=0.3)
    axes.set_ylabel("rms in wall units")
    legend(axes, loc="upper left", ncols=2)


def shear_stress_figure(profiles: WallProfiles) -> Figure:
    """Viscous, Reynolds and total shear stress against z/h; below, the total less the total of a steady flow."""
    figure = new_figure(6.4, 5.6)
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.15])
    shear_stress(axes, profiles)
    axes.set_xlabel("")
    stress_residual(below, profiles)
    figure.align_ylabels()
    return figure


def shear_stress(axes: Axes, profiles: WallProfiles) -> None:
    """Viscous, Reynolds and total shear stress over the wall stress against z/h, and the total of a steady flow."""
    z, face = profiles.z_face, profiles.face
    components = [("u", "U", "", "solid")] + ([("v", "V", "_y", "dashed")] if profiles.turns else [])
    lowest = 0.0
    for small, large, ending, dashes in components:
        total, balance = ("total", "balance") if not ending else (None, None)
        dots = {"linewidth": THIN["linewidth"], "linestyle": (0, (1, 1.2)), "zorder": 4}
        axes.plot(z, face[f"balance{ending}"], color=BLACK, label=balance, **dots)
        lowest = min(lowest, 1.1 * float(face[f"total{ending}"].min())) if profiles.turns else lowest
        axes.plot(z, face[f"total{ending}"], color=BLACK, linewidth=WIDE, alpha=0.25, label=total, zorder=2)
        for name, colour, label in (
            (f"minus_{small}w", BLUE, rf"$-\langle {small}w\rangle^+$ Reynolds"),
            (f"d{large}dz", VERMILLION, rf"$\mathrm{{d}}{large}^+/\mathrm{{d}}z^+$ viscous"),
        ):
            line_with_band(
                axes, z, face[name], profiles.half_widths.get(name), color=colour, label=label, linestyle=dashes
            )
            lowest = min(lowest, 1.1 * float(face[name].min()))
    axes.set_ylim(lowest, 1.08)
    axes.set_ylabel("shear stress / wall stress")
    flat = profiles.view.symmetry is Symmetry.ROTATION
    legend(axes, loc="best" if flat else "upper right")
    axes.set_xlabel(r"$z/h$")
    axes.set_xlim(0, profiles.height)


def stress_residual(axes: Axes, profiles: WallProfiles) -> None:
    """The total shear stress less the total of a steady flow, over the wall stress, against z/h."""
    largest, reach, colour = 1e-15, 0.0, None
    for name, dashes in [("residual", "solid")] + ([("residual_y", "dashed")] if profiles.turns else []):
        residual, band = profiles.face[name], profiles.half_widths.get(name)
        colour = line_with_band(axes, profiles.z_face, residual, band, color=colour, linestyle=dashes)
        largest = max(float(np.max(np.abs(residual))), largest)
        if band is not None:
            reach = max(float(np.max(np.abs(residual) + np.nan_to_num(band))), reach)
    axes.axhline(0, **THIN)
    axes.set_ylabel("total − balance\n/ wall stress")
    axes.set_xlabel(r"$z/h$")
    limit = max(1.25 * largest, 1.1 * reach)
    axes.set_ylim(-limit, limit)
    axes.set_xlim(0, profiles.height)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))


def higher_moments(profiles: WallProfiles) -> Figure | None:
    """Skewness and flatness of the three components; None if not recorded or laminar."""
    names = [f"{kind}_{letter}" for kind in ("skew", "flat") for letter in "uvw"]
    if profiles.laminar or not all(profiles.has(name) for name in names):
        return None
    figure = new_figure(8.6, 4.2)
    left, right = figure.subplots(1, 2)
    skewness(left, profiles)
    flatness(right, profiles)
    legend(right, loc="upper right")
    return figure


def skewness(axes: Axes, profiles: WallProfiles) -> None:
    """Skewness of the three components against z+."""
    _moments(axes, profiles, "skew")
    gaussian_line(axes, "skewness")
    axes.margins(y=0.08)


def flatness(axes: Axes, profiles: WallProfiles) -> None:
    """Flatness of the three components against z+."""
    extremes = _moments(axes, profiles, "flat")
    gaussian_line(axes, "flatness")
    flatness_axis(axes, *extremes)


def _moments(axes: Axes, profiles: WallProfiles, kind: str) -> tuple[float, float]:
    """Draws a moment of the three components; returns the range of its values and that of a Gaussian flatness."""
    low, high = 3.0, 3.0
    log_wall_axis(axes, profiles.z_plus)
    for letter in "uvw":
        z_plus, values = profiles.column(f"{kind}_{letter}")
        known = np.isfinite(values)
        if known.any():  # else this component does not fluctuate
            style = {"color": COMPONENT[letter], "label": f"${letter}$", **near_wall(z_plus[known])}
            _line(axes, profiles, f"{kind}_{letter}", **style)
            low, high = min(low, float(values[known].min())), max(high, float(values[known].max()))
    return low, high


def near_wall(z_plus: Array) -> dict[str, object]:
    """The style that marks the points near a wall, where a line of straight pieces shows few of them."""
    return {"marker": "o", "markevery": np.flatnonzero(z_plus < NEAR_WALL).tolist()}


def gaussian_line(axes: Axes, moment: str) -> None:
    """The value of a Gaussian, and the label of the ordinate; `moment` is skewness or flatness."""
    value, label = {"skewness": (0.0, "skewness $S$"), "flatness": (3.0, "flatness $F$")}[moment]
    axes.axhline(value, linestyle=(0, (5, 3)), **THIN)
    axes.set_ylabel(label)


_VORTICITY = {
    "omega_x_rms": ("u", r"$\omega_{x,\mathrm{rms}}^+$ streamwise"),
    "omega_y_rms": ("v", r"$\omega_{y,\mathrm{rms}}^+$ spanwise"),
    "omega_z_rms": ("w", r"$\omega_{z,\mathrm{rms}}^+$ wall-normal"),
}


def has_vorticity(profiles: WallProfiles) -> bool:
    """Whether the run recorded vorticity and is turbulent."""
    return not profiles.laminar and all(profiles.has(name) for name in _VORTICITY)


def vorticity(axes: Axes, profiles: WallProfiles) -> None:
    """Root-mean-square vorticity in wall units against z+."""
    log_wall_axis(axes, profiles.z_plus)
    top = 0.0
    for name, (letter, label) in _VORTICITY.items():
        _line(axes, profiles, name, color=COMPONENT[letter], label=_component_label(label, profiles))
        top = max(top, float(np.max(profiles.centre[name])))
    _headroom(axes, top)
    axes.set_ylabel("rms vorticity in wall units")
    legend(axes, loc="upper right")
