"""What walls that control a flow save, beside the flow without control: drag and power, with intervals.

All figures come from timeseries.csv. With the force f per volume, the bulk velocity U_b and the height Lz, the force
gives the fluid the power f U_b per volume, and walls whose columns are power_bottom and power_top give it their sum
over Lz.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from pathlib import Path

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.case_text import value_at
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.inputs import read_text
from sluice_post.printed import with_interval
from sluice_post.run import check_directory
from sluice_post.timeseries import read_timeseries, rows_between
from sluice_post.uncertainty import MeanEstimate, mean_with_interval

POWER_COLUMNS = ("power_bottom", "power_top")
SAME_BULK_VELOCITY = 0.01


@dataclass(frozen=True)
class Powers:
    """Means of a run: bulk velocity; f/U_b^2, half of C_f/Lz; power per volume of the force, of the walls, of both."""

    bulk_velocity: MeanEstimate
    drag: MeanEstimate
    force: MeanEstimate
    walls: MeanEstimate
    total: MeanEstimate


@dataclass(frozen=True)
class Savings:
    """Fractions of what the flow without control needs; the net saving only if both have one bulk velocity."""

    controlled: Powers
    reference: Powers
    drag_reduction: MeanEstimate
    walls: MeanEstimate
    net_saving: MeanEstimate | None


def height_of(directory: Path) -> float:
    """Lz of a run, from its resolved case."""
    path = directory / layout.CASE_FILE
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputOutputError(f"{path}: cannot be read ({error})") from error
    size = value_at(text, "domain", "size")
    if not isinstance(size, list) or len(size) != 3 or not isinstance(size[2], (int, float)):
        raise InputOutputError(f"{path}: has no domain.size")
    return float(size[2])


def powers_of(directory: Path, begin: float | None, end: float | None) -> Powers:
    """The means of a run between two times."""
    path = check_directory(directory) / layout.TIMESERIES_FILE
    series = read_timeseries(path)
    if series is None:
        raise InputOutputError(f"{path}: not there, or without rows")
    rows = rows_between(series, begin, end, path)
    time = series.time[rows]
    even = np.linspace(time[0], time[-1], len(time))

    def column(name: str) -> Array:
        return np.asarray(np.interp(even, time, series[name][rows]))

    bulk, force = column(layout.BULK_VELOCITY), column(layout.FORCING_COLUMN)
    walls = np.zeros(len(even))
    for name in POWER_COLUMNS:
        if name in series.columns:
            walls += column(name) / height_of(directory)
    estimates = (bulk, force / bulk**2, force * bulk, walls, force * bulk + walls)
    return Powers(*(mean_with_interval(values) for values in estimates))


def _fraction(value: MeanEstimate, reference: MeanEstimate) -> MeanEstimate:
    ratio = value.mean / reference.mean
    relative = reference.half_width / reference.mean
    return MeanEstimate(ratio, hypot(value.half_width / reference.mean, ratio * relative))


def savings(controlled: Powers, reference: Powers) -> Savings:
    """What control saves; the intervals of both runs are independent of each other."""
    if reference.force.mean <= 0:
        raise UsageError("the force of the flow without control gives it no power: nothing to compare with")
    drag = _fraction(controlled.drag, reference.drag)
    net = None
    if abs(controlled.bulk_velocity.mean / reference.bulk_velocity.mean - 1) < SAME_BULK_VELOCITY:
        total = _fraction(controlled.total, reference.force)
        net = MeanEstimate(1 - total.mean, total.half_width)
    return Savings(
        controlled,
        reference,
        MeanEstimate(1 - drag.mean, drag.half_width),
        _fraction(controlled.walls, reference.force),
        net,
    )


def table_text(found: Savings) -> str:
    """The savings as text."""

    def percent(value: MeanEstimate | None) -> str:
        if value is None:
            return "none: the bulk velocities differ"
        return with_interval(100 * value.mean, 100 * value.half_width, " %", may_be_zero=True, scale=100)

    def power(value: MeanEstimate) -> str:
        return with_interval(value.mean, value.half_width, may_be_zero=True)

    lines = [
        "                      with control            without",
        f"bulk velocity         {power(found.controlled.bulk_velocity):22}  {power(found.reference.bulk_velocity)}",
        f"power of the force    {power(found.controlled.force):22}  {power(found.reference.force)}",
        f"power of the walls    {power(found.controlled.walls):22}  {power(found.reference.walls)}",
        "",
        f"reduction of C_f      {percent(found.drag_reduction)}",
        f"power of the walls    {percent(found.walls)} of that of the force without control",
        f"net saving            {percent(found.net_saving)}",
        "",
        "Powers are per volume; +- are 95 % intervals.",
    ]
    return "\n".join(lines)
