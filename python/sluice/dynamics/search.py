"""Searches for steady states, travelling waves and periodic orbits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import Error, NumericsError, UsageError
from .flow_map import TIME, FlowMap
from .krylov import gmres
from .space import Array

GRID_VELOCITY = "grid.velocity"
DIFFERENCE = 1e-6
"""The step of finite differences along states, relative to the norm of the difference from the laminar state."""


class SearchError(NumericsError):
    """A search did not converge: `solution` is the best that it found."""

    def __init__(self, message: str, solution: Solution) -> None:
        super().__init__(message)
        self.solution = solution


@dataclass(frozen=True)
class Solution:
    """A state that the flow map maps to itself, up to the residual."""

    flow_map: FlowMap
    """The flow map at the parameters of the solution."""
    state: Array
    residual: float
    """|Phi(q) - q|/T in the norm of the space."""
    history: list[dict[str, float]] = field(default_factory=list, repr=False)
    """For each iteration: residual, radius, krylov (the size of the subspace), calls (of the flow map)."""

    def parameter(self, name: str) -> float:
        """The value of a parameter of the flow map: "flow.reynolds.wall", "grid.velocity", "time"."""
        return self.flow_map.parameter(name)

    @property
    def norm(self) -> float:
        """FlowMap.norm of the state."""
        return self.flow_map.norm(self.state)

    @property
    def drag(self) -> float:
        """FlowMap.drag of the state."""
        return self.flow_map.drag(self.state)


@dataclass(frozen=True)
class Condition:
    """An equation <vector, q> + sum of factor p over parameters p = value, added to a search for an unknown."""

    vector: Array
    factors: Mapping[str, float]
    value: float


def _default_condition(flow_map: FlowMap, name: str, guess: Array) -> Condition:
    """No shift along the direction in which the family of solutions extends."""
    flow_map.parameter(name)  # raises UsageError if there is none
    space = flow_map.space
    if name == GRID_VELOCITY:
        along = space.derivative(guess - flow_map.laminar, "x")
    elif name == TIME:
        along = flow_map.velocity_of(guess)
    else:
        raise UsageError(f"a search for {name} needs a condition: follow_branch has one")
    length = space.norm(along)
    if not length > 1e-12:
        raise UsageError(f"the guess does not vary along x, or in time: a search for {name} needs one that does")
    if name == GRID_VELOCITY and space.norm(space.symmetrize(flow_map.symmetries, along)) <= 1e-6 * length:
        raise UsageError("the symmetries hold solutions in place along x: grid.velocity is no unknown")
    along = along / length
    return Condition(along, {}, space.inner(along, guess))


class _System:
    """The equations F(q, p) = 0 of states and parameters, scaled so that the Euclidean norm is that of the energy."""

    def __init__(self, flow_map: FlowMap, unknowns: Sequence[str], conditions: Sequence[Condition]) -> None:
        self.names, self.conditions = list(unknowns), list(conditions)
        self.space, self.xp = flow_map.space, flow_map.space.xp
        self.time = flow_map.time
        self.root = self.xp.sqrt(flow_map.space.weights)

    def residual(self, flow_map: FlowMap, state: Array) -> tuple[Array, Array]:
        """sqrt(weights) (Phi(q) - q)/T, and those of the conditions."""
        flow = self.root * (flow_map(state) - state) / self.time
        rest = [
            self.space.inner(one.vector, state)
            + sum(factor * flow_map.parameter(name) for name, factor in one.factors.items())
            - one.value
            for one in self.conditions
        ]
        return flow, self.xp.asarray(rest, dtype=float)

    def columns(self, flow_map: FlowMap, state: Array, flow: Array) -> tuple[list[Array], list[float]]:
        """The derivatives of the flow with respect to the parameters, scaled to unit length, and the scales."""
        columns, scales = [], []
        for name in self.names:
            value = flow_map.parameter(name)
            step = 1e-6 * max(abs(value), 1e-2)
            shifted = flow_map.at({name: value + step})
            column = (self.root * (shifted(state) - state) / self.time - flow) / step
            length = float(self.xp.linalg.norm(column))
            if not length > 0:
                raise UsageError(f"the flow does not depend on {name}, for which the search should solve")
            columns.append(column / length)
            scales.append(length)
        return columns, scales

    def jacobian(
        self, flow_map: FlowMap, state: Array, flow: Array, columns: list[Array], scales: list[float]
    ) -> Callable[[Array], Array]:
        xp, number = self.xp, len(self.names)
        size = DIFFERENCE * max(flow_map.norm(state), 1e-3)

        def apply(direction: Array) -> Array:
            change, parameters = direction[: state.size], direction[state.size :]
            length = float(xp.linalg.norm(change))
            image = xp.zeros_like(direction)
            if length > 0:
                moved = state + (size / length) * (change / self.root)
                image[: state.size] = (self.root * (flow_map(moved) - moved) / self.time - flow) * (length / size)
            for n in range(number):
                image[: state.size] += columns[n] * parameters[n]
            for n, one in enumerate(self.conditions):
                value = xp.dot(self.root * one.vector, change)
                for m, name in enumerate(self.names):
                    value = value + one.factors.get(name, 0.0) * parameters[m] / scales[m]
                image[state.size + n] = value
            return image

        return apply


def find_solution(
    flow_map: FlowMap,
    guess: Array,
    unknowns: Sequence[str] = (),
    *,
    conditions: Sequence[Condition] = (),
    tolerance: float = 1e-10,
    iterations: int = 40,
    krylov: int = 120,
    linear_tolerance: float = 1e-3,
    radius: float | None = None,
    progress: Callable[[dict[str, float]], Any] | None = None,
) -> Solution:
    """Solves Phi(q) = q from a guess, by Newton's method with GMRES and a trust region (the hookstep).

    An equilibrium needs no unknowns. A travelling wave is steady on a grid that moves with it: `unknowns`
    ["grid.velocity"]. A periodic orbit has the unknown "time", its period; with `return_by` of the flow map, it may
    return to a shifted or reflected image. A relative periodic orbit with a drift along x has both unknowns. Each
    unknown needs a condition. The defaults for these two are phase conditions: the correction of the guess is
    orthogonal to its x derivative or its time derivative. If the symmetries exclude translations along x,
    "grid.velocity" cannot be an unknown.

    `conditions`: those of the first unknowns; the others have the defaults. `tolerance`: for the residual |Phi(q) -
    q|/T. `iterations`: the largest number of Newton steps. `krylov`: the largest dimension of the Krylov subspaces.
    `linear_tolerance`: the relative tolerance of GMRES. `radius`: that of the first trust region, in the norm of the
    space. `progress` is called with each entry of the history.

    Raises SearchError, with the best state, if it does not converge; NumericsError if the flow from the guess blows up;
    UsageError for an unknown without a condition, or whose condition the guess or the symmetries do not allow.
    """
    if isinstance(unknowns, str):
        unknowns = [unknowns]
    space, xp = flow_map.space, flow_map.space.xp
    state = flow_map.project(guess)
    calls = flow_map.calls
    given = list(conditions)
    for name in unknowns[len(given) :] if given else unknowns:
        given.append(_default_condition(flow_map, name, state))
    if len(given) != len(unknowns):
        raise UsageError(f"{len(unknowns)} unknowns need as many conditions, not {len(given)}")
    system = _System(flow_map, unknowns, given)
    size = 0
    trust = 0.2 * max(flow_map.norm(state), 1e-3) if radius is None else float(radius)
    flow, rest = system.residual(flow_map, state)
    history: list[dict[str, float]] = []

    def report() -> float:
        value = float(xp.linalg.norm(flow))
        entry = {"residual": value, "radius": trust, "krylov": float(size), "calls": float(flow_map.calls - calls)}
        entry.update({name: flow_map.parameter(name) for name in unknowns})
        history.append(entry)
        if progress is not None:
            progress(entry)
        return value

    for _ in range(iterations):
        value = report()
        if value <= tolerance and float(xp.linalg.norm(rest)) <= max(tolerance, 1e-7):
            return Solution(flow_map, state, value * system.time / flow_map.time, history)
        columns, scales = system.columns(flow_map, state, flow)
        whole = xp.concatenate([flow, rest])
        apply = system.jacobian(flow_map, state, flow, columns, scales)
        # No more exact than the search needs: finite differences have about six correct digits.
        basis = gmres(
            apply,
            -whole,
            tolerance=max(linear_tolerance, 0.1 * tolerance / max(value, tolerance)),
            largest=krylov,
            xp=xp,
        )
        size = basis.size
        before = float(xp.linalg.norm(whole))
        while True:
            z, predicted = basis.least_squares(trust)
            step = basis.vector(z)
            length = float(np.linalg.norm(z))
            changes = {
                name: flow_map.parameter(name) + float(step[state.size + n]) / scales[n]
                for n, name in enumerate(unknowns)
            }
            try:
                next_map = flow_map.at(changes) if changes else flow_map
                next_state = state + step[: state.size] / system.root
                next_flow, next_rest = system.residual(next_map, next_state)
                after = float(xp.linalg.norm(xp.concatenate([next_flow, next_rest])))
            except Error:  # the flow blows up there, or the case does not accept the parameters
                after = np.inf
            gain = (before - after) / max(before - predicted, 1e-300)
            if gain > 0.05 and after < before:
                break
            trust = min(trust, length) / 4
            if trust < 1e-12 * max(1.0, space.norm(state)):
                raise SearchError(
                    f"the search stopped at a residual of {value:.3g}: no step within the trust region reduces it",
                    Solution(flow_map, state, value, history),
                )
        if gain > 0.75 and length > 0.9 * trust:
            trust *= 2.5
        elif gain < 0.25:
            trust = min(trust, length) / 2
        flow_map, state, flow, rest = next_map, next_state, next_flow, next_rest
    value = report()
    raise SearchError(
        f"the search has not converged after {iterations} iterations: its residual is {value:.3g}, to be {tolerance:g}",
        Solution(flow_map, state, value, history),
    )
