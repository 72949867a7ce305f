"""A grid study: key figures of several runs of one flow, their errors, what they cost, and the cost at equal error."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isclose, isfinite, log, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sluice_post import layout, literature
from sluice_post.errors import UsageError
from sluice_post.flow import Held, flow_of, held_reynolds
from sluice_post.flow_words import REYNOLDS
from sluice_post.key_figures import Figure, Resolution, key_figures, percent_difference, published_of, resolution
from sluice_post.literature import Published
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import wall_profiles
from sluice_post.reference import merged, read_reference
from sluice_post.run import load_statistics, read_provenance
from sluice_post.timeseries import read_timeseries


@dataclass(frozen=True)
class StudyRun:
    """One run of the study. dt is the mean step while statistics were sampled; costs are per h/u_tau of this run."""

    directory: Path
    order: int  # of differences along x and y
    parameters: FlowParameters
    held: Held | None  # the Reynolds number that the case holds fixed
    resolution: Resolution
    figures: dict[str, Figure]
    dt: float
    steps: float
    seconds: float  # NaN if not recorded
    device: str  # on which most steps were taken
    times: tuple[float, float]  # over which it was averaged

    @property
    def cells(self) -> str:
        """For example 384 x 256 x 144."""
        return " x ".join(str(n) for n in self.parameters.cells)

    @property
    def point_steps(self) -> float:
        """Grid points times steps per h/u_tau."""
        return float(np.prod(self.parameters.cells)) * self.steps


@dataclass(frozen=True)
class Reference:
    """What the errors are differences from; the half widths of its intervals where it is a run."""

    published: Published
    half_widths: dict[str, float]


Cost = Callable[[StudyRun], float]
COSTS: dict[str, Cost] = {"point_steps": lambda run: run.point_steps, "seconds": lambda run: run.seconds}


def _mean_step(directory: Path, begin: float, end: float) -> float:
    """Mean time step between two times, from the time series; NaN if it has fewer than two rows there."""
    series = read_timeseries(directory / layout.TIMESERIES_FILE)
    if series is None:
        return nan
    inside = np.flatnonzero((series.time >= begin) & (series.time <= end))
    if len(inside) < 2:
        return nan
    rows = inside[[0, -1]]
    (time,), (steps,) = np.diff(series.time[rows]), np.diff(series[layout.STEP][rows])
    return float(time / steps)


def _speed(record: dict[str, Any]) -> tuple[float, str]:
    """Seconds per step over all starts of a run on the device that took most of its steps, and that device."""
    taken: dict[str, list[tuple[float, float]]] = {}
    starts = record.get("runs")
    for start in starts if isinstance(starts, list) else [record]:
        try:
            steps, seconds = float(start["steps_taken"]), float(start["stepping_seconds"])
            # Where a GPU's host memory is differs between hosts of one kind; steps on one GPU do not depend on it.
            device = re.sub(", host memory .*", "", str(start["machine"]["device"]))
            ranks = int(start["ranks"])
        except (KeyError, TypeError, ValueError):
            continue
        taken.setdefault(device if ranks == 1 else f"{ranks} ranks, {device}", []).append((steps, seconds))
    totals = {device: np.sum(starts, axis=0) for device, starts in taken.items()}
    if not totals:
        return nan, ""
    device, (steps, seconds) = max(totals.items(), key=lambda item: item[1][0])
    return (float(seconds / steps) if steps > 0 else nan), device


def read_run(directory: Path, begin: float | None = None, end: float | None = None) -> StudyRun:
    """One run from its statistics, time series and run.json; the last two may be missing."""
    parameters, blocks = load_statistics(directory, begin, end)
    sampled = blocks.sampled_parameters()
    size = resolution(blocks, parameters, profiles := wall_profiles(blocks.means(), parameters))
    times = float(blocks.time_begin[0]), float(blocks.time_end[-1])
    dt = _mean_step(directory, *times)
    steps = 1 / profiles.u_tau / dt
    seconds_per_step, device = _speed(read_provenance(directory / layout.RUN_FILE, []))
    figures = key_figures(blocks, parameters)
    return StudyRun(
        directory=directory,
        order=int(str(sampled.get(layout.SET_ORDER, 2))),
        parameters=parameters,
        held=held_reynolds(parameters, {figure.key: figure.value for figure in figures}),
        resolution=size,
        figures={figure.key: figure for figure in figures},
        dt=dt,
        steps=steps,
        seconds=steps * seconds_per_step,
        device=device,
        times=times,
    )


def read_study(
    directories: Sequence[Path],
    begin: float | None = None,
    end: float | None = None,
    reference: Sequence[Path] | None = None,
) -> list[StudyRun]:
    """The runs by order and number of points. They must be of the same flow in the same box.

    A directory that is the reference, too, is left out.
    """
    references = {path.resolve() for path in reference or ()}
    chosen = [directory for directory in directories if directory.resolve() not in references]
    if not chosen:
        raise UsageError(f"{directories[0]}: is the reference itself; give other runs to compare with it")
    runs = [read_run(directory, begin, end) for directory in chosen]
    for run in runs[1:]:
        require_same_flow(run, runs[0], "a study compares runs of one flow that differ in grid and order")
    return sorted(runs, key=lambda run: (run.order, np.prod(run.parameters.cells)))


def require_same_flow(run: StudyRun, other: StudyRun, why: str) -> None:
    """An error if two runs differ in the flow, the viscosity, the walls or the box."""
    for name in ("viscosity", "size", "velocity_bottom", "velocity_top"):
        theirs, ours = getattr(run.parameters, name), getattr(other.parameters, name)
        if theirs != ours:
            raise UsageError(f"{run.directory}: {name} is {theirs}, but {ours} in {other.directory}; {why}")
    theirs, ours = flow_of(run.parameters), flow_of(other.parameters)
    different = theirs.differences(ours)
    held, others = run.held, other.held
    if held is not None and others is not None and held.key == others.key and held.by_case and others.by_case:
        different += [] if isclose(held.value, others.value) else [f"{REYNOLDS[held.key]} that the case sets"]
    if different:
        raise UsageError(
            f"{run.directory}: {theirs.name}, but {other.directory}: {ours.name}; they differ in "
            f"{', '.join(different)}, and {why}"
        )


def find_reference(
    paths: Sequence[Path] | None, runs: Sequence[StudyRun], begin: float | None = None, end: float | None = None
) -> Reference:
    """The key figures of the files or the run that the user names, else of the published simulation of this flow.

    Of a run, between the times `begin` and `end`.
    """
    first = runs[0]
    if paths and any(path.is_dir() for path in paths):
        if len(paths) > 1:
            raise UsageError("--reference takes the directory of one run, or files of profiles")
        run = read_run(paths[0], begin, end)
        if flow_of(run.parameters).differences(flow_of(first.parameters)):
            require_same_flow(run, first, "errors are differences from a run of the same flow")
        values = {key: figure.value for key, figure in run.figures.items()}
        flow = flow_of(run.parameters)
        published = Published(str(paths[0]), str(paths[0]), flow, values["re_tau"], values)
        return Reference(published, {key: figure.half_width for key, figure in run.figures.items()})
    if paths:
        profiles = merged([read_reference(path) for path in paths])
        return Reference(published_of(profiles, flow_of(first.parameters)), {})
    return Reference(literature.require(flow_of(first.parameters), first.held, first.figures["re_tau"].value), {})


def error_of(run: StudyRun, reference: Reference, key: str) -> tuple[float, float]:
    """Difference from the reference in %, and the half width of its 95 % interval; NaN where either has no value."""
    figure, expected = run.figures.get(key), reference.published.values.get(key)
    if figure is None or expected is None:
        return nan, nan
    return percent_difference(figure, expected, reference.half_widths.get(key, 0.0))


def cost_at_error(costs: Sequence[float], errors: Sequence[float], wanted: float) -> tuple[float, float]:
    """Bounds of the cost from which on the errors are at most `wanted`; log-log interpolation between runs.

    `costs` increase; errors are magnitudes. The bounds are equal, unless all errors are below `wanted`, or the last is
    above.
    """
    above = [n for n, error in enumerate(errors) if error > wanted]
    if not above:
        return 0.0, costs[0]
    n = above[-1]
    if n == len(costs) - 1:
        return costs[n], inf
    if wanted == 0:
        return costs[n + 1], costs[n + 1]
    below = log(errors[n + 1]) if errors[n + 1] > 0 else -inf
    fraction = (log(errors[n]) - log(wanted)) / (log(errors[n]) - below)
    cost = costs[n] * (costs[n + 1] / costs[n]) ** fraction
    return cost, cost


class Bounded(NamedTuple):
    """A number and its bounds; NaN if there are only bounds, which are 0 or infinite if there are none."""

    value: float
    low: float
    high: float


def cost_ratio(runs: Sequence[StudyRun], run: StudyRun, reference: Reference, key: str, cost: Cost) -> Bounded:
    """Cost of order 2 at the error of `run`, over the cost of `run`.

    Bounds: all errors at the less and at the more favourable ends of their 95 % intervals.
    """
    second = [other for other in runs if other.order == 2]
    costs = [cost(other) for other in second]
    errors, widths = np.abs([error_of(other, reference, key) for other in second]).T
    widths = np.nan_to_num(widths)
    wanted, width = np.abs(error_of(run, reference, key))
    width = np.nan_to_num(width)
    if not (np.isfinite(errors).all() and isfinite(wanted) and np.isfinite([*costs, cost(run)]).all()):
        return Bounded(nan, 0.0, inf)
    least, greatest = cost_at_error(costs, list(errors), wanted)
    low, _ = cost_at_error(costs, list(np.maximum(errors - widths, 0)), wanted + width)
    _, high = cost_at_error(costs, list(errors + widths), max(wanted - width, 0.0))
    value = least if least == greatest else nan
    return Bounded(value / cost(run), low / cost(run), high / cost(run))


def costs_of(runs: Sequence[StudyRun]) -> list[str]:
    """The costs that all runs recorded; seconds only if they did on the same device."""
    same_device = len({run.device for run in runs}) == 1
    known = [name for name, cost in COSTS.items() if all(isfinite(cost(run)) for run in runs)]
    return [name for name in known if name != "seconds" or same_device]
