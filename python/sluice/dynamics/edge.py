"""The edge between laminar and turbulent flow, by bisection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from .flow_map import FlowMap
from .space import Array


@dataclass(frozen=True)
class EdgePoint:
    """A state next to the edge."""

    time: float
    """The time since the start, in units of h/U."""
    state: Array
    """The state on the laminar side of the edge."""
    measure: float
    """The measure of the state."""
    change: float
    """|q(t) - q(t - T)|/T with the time T of the flow map: 0 at an equilibrium."""


def track_edge(
    flow_map: FlowMap,
    turbulent: Array,
    *,
    low: float,
    high: float,
    measure: Callable[[Array], float] | None = None,
    laminar: Array | None = None,
    together: float = 1e-5,
    apart: float = 1e-3,
    longest: float = 1000.0,
) -> Iterator[EdgePoint]:
    """Follows the boundary between the states that become laminar and those that become turbulent, without end.

    The line from `laminar`, by default the laminar flow, to `turbulent` is bisected until two states, one on each side
    of the edge, are closer to each other than `together` times their distance from the laminar flow. Both are advanced
    by the flow map until they are farther apart than `apart` times this distance; then the line between them is
    bisected again. If the flow map has symmetries, this is the edge within their invariant subspace.

    `measure`: a function of a state, below `low` where the flow is about to become laminar and above `high` where it is
    about to become turbulent; by default FlowMap.cross_flow. The total energy is unsuitable, because streaks can grow
    and decay without turbulence. `longest`: the longest time to follow a state in the bisection; a state that has
    crossed neither limit by then is assigned to the limit that is nearer to its last measure.

    Yields an EdgePoint after each application of the flow map to the pair. The points approach the edge state, the
    attractor within the edge: an equilibrium, a travelling wave or a periodic orbit, which find_solution can converge,
    or a chaotic set.
    Raises UsageError if the first state does not become turbulent, or the laminar one does not stay laminar.
    """
    if not 0 <= low < high:
        raise UsageError(f"the limits of an edge need 0 <= low < high, not {low:g} and {high:g}")
    if not 1e-14 < together < apart:
        raise UsageError(f"an edge needs 1e-14 < together < apart, not {together:g} and {apart:g}")
    measured = flow_map.cross_flow if measure is None else measure
    space = flow_map.space

    def becomes_turbulent(state: Array) -> bool:
        time = 0.0
        while True:
            value = measured(state)
            if value <= low:
                return False
            if value >= high:
                return True
            if time >= longest:
                return value - low > high - value
            state = flow_map(state)
            time += flow_map.time

    def bisect(below: Array, above: Array) -> tuple[Array, Array]:
        while True:
            middle = (below + above) / 2
            if space.norm(above - below) <= together * flow_map.norm(middle):
                return below, above
            if becomes_turbulent(middle):
                above = middle
            else:
                below = middle

    below = flow_map.project(flow_map.laminar if laminar is None else laminar)
    above = flow_map.project(turbulent)
    if becomes_turbulent(below):
        raise UsageError(f"the state that should become laminar passes {high:g}")
    if not becomes_turbulent(above):
        raise UsageError(f"the state that should become turbulent falls below {low:g}: take a stronger one")
    time = 0.0
    while True:
        below, above = bisect(below, above)
        while space.norm(above - below) <= apart * flow_map.norm(below):
            before = below
            below, above = flow_map(below), flow_map(above)
            time += flow_map.time
            yield EdgePoint(time, below, measured(below), space.norm(below - before) / flow_map.time)


def edge_state(
    flow_map: FlowMap, turbulent: Array, *, change: float = 1e-4, time: float = 2000.0, **options: Any
) -> EdgePoint:
    """The first point of track_edge whose `change` is at most the given one.

    If there is none within `time`, returns the point with the smallest change, as happens near a travelling wave or an
    orbit. Other options are those of track_edge.
    """
    best: EdgePoint | None = None
    for point in track_edge(flow_map, turbulent, **options):
        if best is None or point.change < best.change:
            best = point
        if point.change <= change or point.time >= time:
            break
    assert best is not None
    return best
