"""Branches of solutions: pseudo-arclength continuation in a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import Error, UsageError
from .search import Condition, SearchError, Solution, _default_condition, find_solution


def follow_branch(
    solution: Solution,
    parameter: str,
    step: float,
    unknowns: Sequence[str] = (),
    *,
    until: Callable[[Solution], bool] | None = None,
    points: int = 100,
    longest: float | None = None,
    tolerance: float | None = None,
    **options: Any,
) -> Iterator[Solution]:
    """Follows the branch of a solution in a parameter, also around folds, where the parameter turns back.

    `parameter`: "flow.reynolds.wall", "flow.rotation.number", "Lx" and others: see FlowMap. `step`: the first change of
    the parameter; its sign gives the direction. The first solution is computed at this fixed parameter. Each later one
    is predicted along the secant through the last two and corrected in the hyperplane orthogonal to it; the step in
    arclength adapts to the number of Newton iterations. `unknowns`: as for find_solution. `longest`: the largest step
    in arclength, relative to the first; 20 by default. `until`: a function of a solution; the branch ends after a
    solution for which it returns True. `points`: the largest number of solutions. Other options are those of
    find_solution. By default, corrections that need more than 7 iterations are tried again with a shorter step, because
    they may lead to another branch, and the tolerance is the residual of the solution, at least 1e-10.

    Yields solutions. Raises UsageError for the laminar flow and for a step of 0. When even steps of 1/1000 of the first
    one fail, raises the error of the last: usually SearchError.
    """
    if step == 0:
        raise UsageError("the step of a branch must not be 0")
    if solution.norm < 1e-6:
        raise UsageError("the solution is the laminar flow, which has no branch to follow: search from a closer guess")
    tolerance = max(solution.residual, 1e-10) if tolerance is None else tolerance
    options.setdefault("iterations", 7)
    space = solution.flow_map.space
    value = solution.parameter(parameter)

    def first() -> Solution:
        change = step
        while True:
            try:
                flow_map = solution.flow_map.at({parameter: value + change})
                return find_solution(flow_map, solution.state, unknowns, tolerance=tolerance, **options)
            except Error:
                change /= 2
                if abs(change) < abs(step) / 1000:
                    raise

    older, newer = solution, first()
    yield newer
    # The parameter counts as much as the state does in the first step.
    scale = max(space.norm(newer.state - older.state), 1e-12) / abs(newer.parameter(parameter) - value)
    factor, made = 1.0, 1
    arc = None
    while made < points and not (until is not None and until(newer)):
        change = newer.state - older.state
        along = newer.parameter(parameter) - older.parameter(parameter)
        length = (space.inner(change, change) + (scale * along) ** 2) ** 0.5
        if arc is None:
            arc = first_arc = length
        arc = min(arc * factor, first_arc * (longest if longest is not None else 20.0))
        while True:
            ratio = arc / length
            state = newer.state + ratio * change
            guess_value = newer.parameter(parameter) + ratio * along
            values = {
                name: newer.parameter(name) + ratio * (newer.parameter(name) - older.parameter(name))
                for name in unknowns
            }
            try:
                flow_map = newer.flow_map.at({parameter: guess_value, **values})
                start = flow_map.project(state)
                arclength = Condition(
                    change / length,
                    {parameter: scale**2 * along / length},
                    space.inner(change / length, start) + scale**2 * along / length * guess_value,
                )
                conditions = [arclength, *(_default_condition(flow_map, name, start) for name in unknowns)]
                found = find_solution(
                    flow_map, start, [parameter, *unknowns], conditions=conditions, tolerance=tolerance, **options
                )
                break
            except Error:  # the flow may also blow up, or the case not accept the parameter
                arc /= 3
                if arc < first_arc / 1000:
                    raise
        taken = len(found.history) - 1
        factor = 1.5 if taken <= 3 else 1.0 if taken <= 5 else 0.6
        older, newer = newer, found
        made += 1
        yield newer


def find_fold(
    around: Sequence[Solution], parameter: str, unknowns: Sequence[str] = (), *, accuracy: float = 1e-6, **options: Any
) -> Solution:
    """The solution at which a parameter turns back along a branch.

    `around`: three successive solutions of follow_branch, of which the middle one has the smallest or the largest
    parameter. The fold is found by successive parabolic interpolation of the parameter as a function of the position
    along the chord between the outer two. `accuracy`: the relative accuracy of the parameter. `unknowns`: as for
    follow_branch. Other options are those of find_solution.

    Raises UsageError if the parameter does not turn back between them, SearchError if 20 steps do not find the fold.
    """
    known = list(around)
    values = [one.parameter(parameter) for one in known]
    if len(known) != 3 or (values[1] - values[0]) * (values[1] - values[2]) <= 0:
        raise UsageError(f"a fold needs three solutions, the middle one with the least or largest {parameter}")
    space = known[0].flow_map.space
    chord = known[2].state - known[0].state
    chord = chord / space.norm(chord)
    places = [space.inner(chord, one.state) for one in known]
    for _ in range(20):
        parabola = np.polyfit(np.array(places) - places[1], values, 2)
        apex = -parabola[1] / (2 * parabola[0])
        expected = float(np.polyval(parabola, apex))
        place = places[1] + apex
        shares = [
            float(np.prod([(place - places[m]) / (places[n] - places[m]) for m in range(3) if m != n]))
            for n in range(3)
        ]
        guess = sum(share * one.state for share, one in zip(shares, known, strict=True))
        start = {
            name: sum(share * one.parameter(name) for share, one in zip(shares, known, strict=True))
            for name in unknowns
        }
        flow_map = known[1].flow_map.at({parameter: expected, **start})
        conditions = [Condition(chord, {}, place), *(_default_condition(flow_map, name, guess) for name in unknowns)]
        found = find_solution(flow_map, guess, [parameter, *unknowns], conditions=conditions, **options)
        value = found.parameter(parameter)
        if abs(value - expected) <= accuracy * abs(value):
            return found
        farthest = max(range(3), key=lambda n: abs(places[n] - place))
        known[farthest], values[farthest], places[farthest] = found, value, place
        order = np.argsort(places)
        known, values, places = ([row[n] for n in order] for row in (known, values, places))
    raise SearchError(f"the fold in {parameter} has not converged to {accuracy:g}", found)
