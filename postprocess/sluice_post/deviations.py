"""Deviations of a run from published profiles and budgets, and the figure that lays profiles over published ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sluice_post.arrays import Array, interpolate
from sluice_post.budget_terms import STRESSES
from sluice_post.budgets import wall_budgets
from sluice_post.errors import UsageError
from sluice_post.parameters import FlowParameters
from sluice_post.printed import with_interval
from sluice_post.profiles import WallProfiles, wall_profiles
from sluice_post.reference import Reference, References
from sluice_post.statistics import Blocks, Means
from sluice_post.style import COMPONENT, flatness_axis, line_with_band, log_wall_axis, new_figure, published_points
from sluice_post.uncertainty import half_widths95
from sluice_post.wall_view import with_wall

QUANTITIES = {
    "U": r"$U^+$",
    "dUdz": r"$\mathrm{d}U^+/\mathrm{d}z^+$",
    "u_rms": r"$u_\mathrm{rms}^+$",
    "v_rms": r"$v_\mathrm{rms}^+$",
    "w_rms": r"$w_\mathrm{rms}^+$",
    "minus_uw": r"$-\langle uw\rangle^+$",
    "k": r"$k^+$",
    "P": r"$P^+$",
    "p_rms": r"$p_\mathrm{rms}^+$",
    "omega_x_rms": r"$\omega_{x,\mathrm{rms}}^+$",
    "omega_y_rms": r"$\omega_{y,\mathrm{rms}}^+$",
    "omega_z_rms": r"$\omega_{z,\mathrm{rms}}^+$",
    "skew_u": r"$S(u)$",
    "skew_w": r"$S(w)$",
    "flat_u": r"$F(u)$",
    "flat_v": r"$F(v)$",
    "flat_w": r"$F(w)$",
}

# Panels of the figure: quantities that share one pair of axes, and the label of its ordinate.
_PANELS = (
    (("U",), r"$U^+$"),
    (("u_rms", "v_rms", "w_rms"), r"rms velocity / $u_\tau$"),
    (("minus_uw", "dUdz"), "shear stress / wall stress"),
    (("p_rms",), r"$p_\mathrm{rms}^+$"),
    (("k",), r"$k^+$"),
    (("P",), r"$P^+$"),
    (("omega_x_rms", "omega_y_rms", "omega_z_rms"), "rms vorticity in wall units"),
    (("skew_u", "skew_w"), "skewness"),
    (("flat_u", "flat_v", "flat_w"), "flatness"),
)
COLOURS = {
    **dict.fromkeys(("U", "minus_uw", "u_rms", "omega_x_rms", "skew_u", "flat_u"), COMPONENT["u"]),
    **dict.fromkeys(("k", "v_rms", "omega_y_rms", "flat_v"), COMPONENT["v"]),
    **dict.fromkeys(("dUdz", "w_rms", "omega_z_rms", "skew_w", "flat_w"), COMPONENT["w"]),
    **dict.fromkeys(("P", "p_rms"), COMPONENT["p"]),
}


@dataclass(frozen=True)
class Deviation:
    """Run less reference over the common range of z+, in per cent of the reference's largest magnitude.

    Of a budget, of the largest one of all its terms. With half widths of 95 % intervals, of the run alone.
    """

    quantity: str
    largest: float
    at_z_plus: float
    rms: float
    points: int
    largest_half_width: float = float("nan")
    rms_half_width: float = float("nan")


@dataclass(frozen=True)
class BudgetDeviations:
    """Deviations of all terms that a published budget has."""

    stress: str
    re_tau: float
    wall: str  # of which the wall units are, where there is a choice
    reference: Reference
    terms: list[Deviation]


def common_quantities(profiles: WallProfiles, reference: Reference, asked: Sequence[str] | None) -> list[str]:
    """The quantities to compare: those asked for, or all that both sides have."""
    for name in asked or ():
        if name not in QUANTITIES:
            raise UsageError(f"unknown quantity '{name}'; one of {', '.join(QUANTITIES)}")
        if name not in reference.values:
            raise UsageError(f"{reference.label} holds no {name}; it has {', '.join(reference.values)}")
        if not profiles.has(name):
            raise UsageError(f"the run did not record what {name} needs")
    common = [name for name in QUANTITIES if name in reference.values and profiles.has(name)]
    if not common:
        raise UsageError(f"{reference.label} and the run have no profile in common")
    return [name for name in common if not asked or name in asked]


Columns: TypeAlias = "dict[str, tuple[Array, Array]]"  # z+ and values by name


def _deviations(
    blocks: Blocks, columns_of: Callable[[Means], Columns], published: Mapping[str, tuple[Array, Array, float]]
) -> dict[str, Deviation]:
    """Deviations by name. `published`: z+, values, and what per cent are of."""

    def percents(means: Means) -> dict[str, Array]:
        """At each point of the run, NaN outside the reference, and after them their root mean square."""
        found = {}
        for name, (z_plus, values) in columns_of(means).items():
            xp, fp, scale = published[name]
            common = (z_plus >= xp[0]) & (z_plus <= xp[-1])
            percent = np.full(len(z_plus) + 1, np.nan)
            percent[:-1][common] = 100 * (values[common] - interpolate(z_plus[common], xp, fp)) / scale
            known = percent[np.isfinite(percent)]
            percent[-1] = np.sqrt(np.mean(known**2)) if len(known) > 0 else np.nan
            found[name] = percent
        return found

    rows = {}
    heights, widths = columns_of(blocks.means()), half_widths95(percents, blocks)
    for name, percent in percents(blocks.means()).items():
        points = int(np.count_nonzero(np.isfinite(percent[:-1])))
        worst = int(np.nanargmax(np.abs(percent[:-1]))) if points > 0 else -1
        at = float(heights[name][0][worst]) if points > 0 else np.nan
        values, width = percent[[worst, -1]].tolist(), widths[name][[worst, -1]].tolist()
        rows[name] = Deviation(name.split()[-1], values[0], at, values[1], points, *width)
    return rows


def deviations(
    blocks: Blocks, parameters: FlowParameters, reference: Reference, names: Sequence[str], side: str | None = None
) -> list[Deviation]:
    """Deviations of several profiles with their intervals."""

    def columns(means: Means) -> Columns:
        profiles = wall_profiles(means, parameters, side)
        return {name: profiles.column(name) for name in names}

    published = {
        name: (reference.z_plus[name], values, float(np.max(np.abs(values))))
        for name, values in reference.values.items()
    }
    return list(_deviations(blocks, columns, published).values())


def budget_deviations(
    blocks: Blocks, parameters: FlowParameters, references: References, side: str | None = None
) -> list[BudgetDeviations]:
    """Deviations from the published budgets, in the order of STRESSES."""

    def columns(means: Means) -> Columns:
        found = wall_budgets(means, parameters, side)
        return {
            f"{stress} {term}": (found.z_plus(stress), values)
            for stress, reference in references.items()
            for term, values in found.budgets[stress].terms.items()
            if term in reference.values
        }

    published = {}
    for stress, reference in references.items():
        scale = max(float(np.max(np.abs(values))) for values in reference.values.values())
        for term, values in reference.values.items():
            published[f"{stress} {term}"] = (reference.z_plus[term], values, scale)
    rows, found = _deviations(blocks, columns, published), wall_budgets(blocks.means(), parameters, side)
    return [
        BudgetDeviations(stress, found.re_tau, found.wall, references[stress], terms)
        for stress in STRESSES
        if stress in references
        for terms in [[row for name, row in rows.items() if name.startswith(f"{stress} ")]]
    ]


HEADING = f"{'largest':>22}{'at z+':>10}{'rms':>22}"


def _reynolds(re_tau: float, wall: str, reference: Reference) -> str:
    about = "" if reference.re_tau_exact else "about "
    return f"{with_wall('Re_tau', wall)}: run {re_tau:.2f}, reference {about}{reference.re_tau:.2f}"


def _row(row: Deviation) -> str:
    """The numbers under HEADING."""
    largest = with_interval(row.largest, row.largest_half_width, sign="+", may_be_zero=True, scale=100)
    rms = with_interval(row.rms, row.rms_half_width, may_be_zero=True, scale=100)
    return f"{largest:>22}{row.at_z_plus:>10.2f}{rms:>22}"


def table_text(deviations: Sequence[Deviation], profiles: WallProfiles, reference: Reference) -> str:
    """The comparison of profiles as a table for the terminal."""
    ratio = profiles.re_tau / reference.re_tau - 1
    lines = [
        f"reference: {reference.label}",
        f"{_reynolds(profiles.re_tau, profiles.wall, reference)} ({100 * ratio:+.2f} %)",
    ]
    if abs(ratio) > 0.01:
        lines.append("note: the Reynolds numbers differ; part of each deviation is that difference")
    lines += ["", "deviation in % of the largest reference value; +-: 95 % interval of the run"]
    return "\n".join([*lines, f"{'quantity':<14}{HEADING}", *(f"{row.quantity:<14}{_row(row)}" for row in deviations)])


def budget_table_text(deviations: Sequence[BudgetDeviations]) -> str:
    """The comparison of budgets as tables for the terminal, one for each."""
    tables = []
    for budget in deviations:
        lines = [
            f"budget of {budget.stress}, reference: {budget.reference.label}",
            _reynolds(budget.re_tau, budget.wall, budget.reference),
            "deviation in % of the largest reference value of all terms; +-: 95 % interval of the run",
            f"{'term':<22}{HEADING}",
        ]
        lines += [f"{row.quantity.replace('_', ' '):<22}{_row(row)}" for row in budget.terms if row.points > 0]
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _draw(axes: Axes, names: Sequence[str], profiles: WallProfiles, reference: Reference) -> None:
    for name in names:
        z_plus, values = profiles.column(name)
        several = len(names) > 1
        label, colour = (QUANTITIES[name], COLOURS[name]) if several else (None, None)
        colour = line_with_band(axes, z_plus, values, profiles.half_widths.get(name), color=colour, label=label)
        xp, fp = reference.z_plus[name], reference.values[name]
        inside = (xp >= axes.get_xlim()[0]) & (xp <= axes.get_xlim()[1])
        # Evenly spaced in log z+: symbols that touch hide the line below.
        xp, fp = xp[inside], fp[inside]
        marks = np.unique(np.searchsorted(xp, np.geomspace(max(xp[0], 1e-3), xp[-1], 26)))
        marks = marks[marks < len(xp)]
        published_points(axes, xp[marks], fp[marks], colour, markersize=4.2, markeredgewidth=1.1)


def comparison(axes: Axes, quantity: str, profiles: WallProfiles, reference: Reference) -> Axes:
    """One profile, with the band of its 95 % interval, and circles of the reference, against z+."""
    log_wall_axis(axes, profiles.z_plus)
    _draw(axes, [quantity], profiles, reference)
    axes.set_ylabel(QUANTITIES[quantity])
    return axes


def comparison_figure(profiles: WallProfiles, reference: Reference, names: Sequence[str]) -> Figure:
    """Lines: the run, with bands of its 95 % intervals; circles: the reference."""
    panels = [([n for n in group if n in names], label) for group, label in _PANELS]
    panels = [(group, label) for group, label in panels if group]
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(5.0 * columns + (1.4 if columns == 1 else 0), 3.7 * rows + (0.7 if columns == 1 else 0.45))
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, (group, label) in zip(grid.flat, panels, strict=False):
        log_wall_axis(axes, profiles.z_plus)
        _draw(axes, group, profiles, reference)
        axes.set_ylabel(label if len(group) > 1 else QUANTITIES[group[0]])
        low, high = axes.get_ylim()
        if axes.dataLim.ymin >= -1e-3 * axes.dataLim.ymax:
            low = 0.0
        if group[0].startswith("flat"):
            of_run = [profiles.column(name)[1] for name in group]
            values = np.concatenate([*of_run, *(reference.values[name] for name in group)])
            flatness_axis(axes, float(np.nanmin(values)), float(np.nanmax(values)))
        else:
            axes.set_ylim(low, high + (0.1 * (high - low) if len(group) > 1 else 0))
        if len(group) > 1:
            axes.legend(loc="best")
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    files = reference.label if len(reference.label) <= 60 else f"{reference.label[:57]}..."
    run = with_wall("this run", profiles.wall)
    lines = rf"lines: {run}, $Re_\tau={profiles.re_tau:.1f}$"
    circles = rf"circles: {files}, $Re_\tau={reference.re_tau:.1f}$"
    figure.suptitle(f"{lines}\n{circles}" if columns == 1 else f"{lines};  {circles}", fontsize=12)
    return figure
