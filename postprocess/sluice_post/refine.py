"""The error of the grid from runs on two or three grids, apart from the sampling error, and the total error bar.

Richardson extrapolation: a figure f on a grid of spacing h is f_0 + C h^p + sampling error, with p the order of the
scheme. Of the figures on a fine grid (1) and on one r times as coarse (2), the error of the fine one is
(f_2 - f_1)/(r^p - 1). See Oliver, Malaya, Ulerich & Moser, Phys. Fluids 26, 035101 (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf, isfinite, nan

import numpy as np
from scipy.optimize import brentq

from sluice_post.errors import UsageError
from sluice_post.printed import rounded, width_text
from sluice_post.study import Bounded, StudyRun
from sluice_post.study_tables import HEADINGS, bounded_text, markdown_table, number_text

ORDERS = (0.5, 20.0)  # range in which the order is looked for


@dataclass(frozen=True)
class Refinement:
    """The error of a figure on the finest grid. Half widths and bounds are those of 95 % intervals."""

    value: float
    half_width: float  # of the sampling error
    error: float  # of the grid; NaN where it cannot be told from the sampling error
    bound: float  # of the magnitude of that error
    order: Bounded  # observed; at most 0 if it does not converge
    total: float  # of the distance from the value on an endlessly fine grid


def _order_of(ratio: float, spacings: Sequence[float]) -> float:
    """The order p for which (h_3^p - h_2^p)/(h_2^p - h_1^p) is `ratio`; 0 or infinite beyond the range of ORDERS."""
    fine, middle, coarse = np.asarray(spacings) / spacings[1]

    def excess(order: float) -> float:
        return float((coarse**order - middle**order) / (middle**order - fine**order) - ratio)

    if excess(ORDERS[0]) > 0:
        return 0.0
    return inf if excess(ORDERS[1]) < 0 else float(brentq(excess, *ORDERS))


def _observed_order(values: Sequence[float], half_widths: Sequence[float], spacings: Sequence[float]) -> Bounded:
    """Order seen on three grids; not known for two grids, 0 at most if it does not converge."""
    if len(values) < 3:
        return Bounded(nan, 0.0, inf)
    near, far = values[1] - values[0], values[2] - values[1]
    near_width, far_width = hypot(*half_widths[:2]), hypot(*half_widths[1:])
    near_known, far_known = abs(near) > near_width, abs(far) > far_width
    if near_known and far_known and near * far < 0:
        return Bounded(nan, 0.0, 0.0)
    low = _order_of((abs(far) - far_width) / (abs(near) + near_width), spacings) if far_known else 0.0
    high = _order_of((abs(far) + far_width) / (abs(near) - near_width), spacings) if near_known else inf
    order = _order_of(far / near, spacings) if near_known and far_known else nan
    return Bounded(order if isfinite(order) and order > 0 else nan, low, high)


def refinement(
    values: Sequence[float], half_widths: Sequence[float], spacings: Sequence[float], order: float
) -> Refinement:
    """The error on the finest grid, which comes first, from two or three grids.

    The highest order that three grids allow takes the place of `order` if it is lower.
    Where figures do not converge, all differences between the grids are taken for errors.
    """
    observed = _observed_order(values, half_widths, spacings)
    value, width = values[0], half_widths[0]
    if observed.high == 0:
        bound = max(abs(other - value) + hypot(width, w) for other, w in zip(values, half_widths, strict=True))
        return Refinement(value, width, nan, bound, observed, bound + width)
    order = min(order, observed.high)
    reduction = (spacings[1] / spacings[0]) ** order - 1
    difference, difference_width = values[1] - value, hypot(*half_widths[:2])
    error = difference / reduction
    # Of the extrapolated value, f_1 - (f_2 - f_1)/reduction.
    extrapolated_width = hypot(width * (1 + 1 / reduction), half_widths[1] / reduction)
    return Refinement(
        value,
        width,
        error if abs(difference) > difference_width else nan,
        abs(error) + difference_width / reduction,
        observed,
        abs(error) + extrapolated_width,
    )


def grid_spacings(runs: Sequence[StudyRun]) -> list[float]:
    """Spacings relative to the finest run, which comes first: the mean over the directions that differ."""
    cells = np.array([run.parameters.cells for run in runs], dtype=float)
    differ = np.ptp(cells, axis=0) > 0
    if not differ.any() or np.any(np.diff(cells[:, differ], axis=0) >= 0):
        raise UsageError(
            "each grid must be finer than the next in the same directions; they are "
            + ", ".join(run.cells for run in runs)
        )
    return [float(h) for h in np.exp(np.log(cells[0] / cells)[:, differ].mean(axis=1))]


def assumed_order(runs: Sequence[StudyRun]) -> int:
    """solver.order, or 2 if the grids also differ along z, where the scheme always has order 2."""
    if len({run.order for run in runs}) > 1:
        raise UsageError("the runs differ in solver.order; give runs of one order")
    return runs[0].order if len({run.parameters.cells[2] for run in runs}) == 1 else 2


def table_text(runs: Sequence[StudyRun]) -> str:
    """The table of key figures, as Markdown. Runs of one order, in any order of grids."""
    if not 2 <= len(runs) <= 3:
        raise UsageError(f"refine takes two or three runs, not {len(runs)}")
    runs = sorted(runs, key=lambda run: -np.prod(run.parameters.cells))
    order, spacings = assumed_order(runs), grid_spacings(runs)
    for run in runs:
        if not isfinite(run.figures["re_tau"].half_width):
            raise UsageError(f"{run.directory}: has a single block of statistics, so its sampling error is not known")
    rows = []
    for key, (heading, factor) in HEADINGS.items():
        figures = [run.figures[key] for run in runs if key in run.figures]
        if len(figures) < len(runs):
            continue
        values = [figure.value * factor for figure in figures]
        widths = [figure.half_width * factor for figure in figures]
        found = refinement(values, widths, spacings, order)
        error = f"{rounded(found.error, 2, '+')}, " if isfinite(found.error) else ""
        row = [heading, *(number_text(value, width) for value, width in zip(values, widths, strict=True))]
        bound, total = width_text(found.bound), width_text(found.total)
        order_seen = bounded_text(found.order) if found.order.high > 0 else "does not converge"
        rows.append([*row, f"{error}< {bound}", order_seen, f"± {total}"])
    headings = ["", *(run.cells for run in runs), "error of the grid", "order seen", "total error"]
    ratios = " and ".join(f"{spacing:.3g}" for spacing in spacings[1:])
    return (
        f"Grids {ratios} times as coarse as the finest; order {order} assumed. 95 % intervals:\n\n"
        f"{markdown_table(headings, rows)}"
    )
