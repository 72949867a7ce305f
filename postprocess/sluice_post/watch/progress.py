"""How fast a run is, and how long it will take."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import isfinite

from sluice_post import layout
from sluice_post.timeseries import TimeSeries, friction_reynolds_series
from sluice_post.watch.case import Case
from sluice_post.watch.lines import LogFollower

WINDOW = 60.0  # seconds over which the speed is measured; rows that are further apart begin a new measurement
MIN_WINDOW = 10.0


def readable_duration(seconds: float) -> str:
    """`42 s`, `3:14:05` or `2 d 03:14` (hours and minutes), as in src/outputs/progress.cpp."""
    day = 86400
    if not seconds >= 0:
        return "unknown time"
    if seconds > 1000 * day:
        return f"{seconds / day:.0f} d"
    total = int(seconds + 0.5)
    if seconds < 120:
        return f"{total} s"
    hours = total // 3600
    if seconds < day:
        return f"{hours}:{total // 60 % 60:02}:{total % 60:02}"
    return f"{hours // 24} d {hours % 24:02}:{total // 60 % 60:02}"


class Pace:
    """Wall-clock seconds per step, output included, over the last minute in which steps were seen."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def see(self, now: float, step: int | None) -> None:
        """`now`: a clock in seconds; `step`: the last one, None if there is none."""
        if step is None or (self._seen and (step < self._seen[-1][1] or now > self._seen[-1][0] + WINDOW)):
            self._seen.clear()
        if step is None or (self._seen and step == self._seen[-1][1]):
            return
        self._seen.append((now, step))
        while len(self._seen) > 2 and self._seen[1][0] <= now - WINDOW:
            self._seen.popleft()

    @property
    def seconds_per_step(self) -> float | None:
        """None until steps were seen for long enough."""
        if len(self._seen) < 3:
            return None
        (start, first), (end, last) = self._seen[0], self._seen[-1]
        return (end - start) / (last - first) if end - start >= MIN_WINDOW else None


@dataclass(frozen=True)
class Progress:
    """The numbers of the last row. NaN or None: not known.

    `walls`: Re_tau of each wall with shear, bottom first. With two, u_tau and C_f belong to the mean of both wall
    stresses.
    """

    step: int
    time: float
    walls: list[float]
    u_tau: float
    friction: float
    dt: float
    cfl: float
    percent: float | None
    ns_per_point: float | None
    seconds_left: float | None


def find_progress(series: TimeSeries, case: Case | None, log: LogFollower, seconds_per_step: float | None) -> Progress:
    """How far the run is. The speed is that of the log until it has been measured."""
    last = TimeSeries({name: values[-1:] for name, values in series.columns.items()}, series.hashed)
    row = {name: float(last[name][0]) for name in layout.TIMESERIES_COLUMNS}
    step, time, dt = int(row[layout.STEP]), row[layout.TIME], row[layout.DT]
    walls, sheared = [row[layout.RE_TAU_BOTTOM], row[layout.RE_TAU_TOP]], friction_reynolds_series(last)
    ns, left, percent = log.ns_per_point, None, None
    u_tau, friction = float("nan"), float("nan")
    if case is not None:
        walls = [value for value, wall in zip(walls, case.wall_velocities, strict=True) if wall is not None]
        if sheared is not None:
            u_tau, friction = sheared[-1] * case.viscosity, case.friction(sheared[-1], row[layout.BULK_VELOCITY])
        percent = min(100.0, case.percent_done(step, time))
        if seconds_per_step is not None:
            ns = seconds_per_step / case.points * 1e9
        if ns is not None:
            left = case.steps_left(step, time, dt, log.until) * ns * case.points / 1e9
    return Progress(
        step, time, [value for value in walls if isfinite(value)], u_tau, friction, dt, row[layout.CFL],
        percent, ns, left if left is not None and isfinite(left) else None,
    )  # fmt: skip
