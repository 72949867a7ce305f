"""Optimal transient growth of linearised flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UsageError
from .krylov import largest_eigenvalue
from .propagator import Propagator, Step
from .space import Array
from .symmetry import Symmetry


@dataclass(frozen=True)
class Growth:
    """The perturbation whose energy grows most in a time."""

    time: float
    """The time, a whole number of steps, in units of h/U."""
    gain: float
    """G, the energy at this time over the initial one."""
    initial: Array
    """The initial perturbation, of norm 1."""
    final: Array
    """The perturbation at this time, of norm gain^(1/2)."""
    products: int
    """How often the linearised flow and its adjoint were computed."""


def optimal_growth(
    step: Step,
    time: float | None = None,
    *,
    symmetries: Sequence[Symmetry] = (),
    start: Array = None,
    tolerance: float = 1e-6,
    krylov: int = 60,
    seed: int = 0,
) -> Growth:
    """The largest growth of energy in a time: G = max |q(time)|^2/|q(0)|^2, by Lanczos iterations of L+ L.

    `time` is rounded to whole steps; by default, the whole orbit. `symmetries` and `start` as for `eigenvalues`.
    `tolerance`: for the residual |L+ L q - G q|/G; the relative error of G is of the order of its square, unless other
    gains are close. `krylov`: the largest number of iterations, each with one forward and one adjoint computation. The
    adjoint is exact, so G is the gain of the discrete equations; its errors are those of the time step (dt^3) and the
    grid.

    Raises NumericsError if the iterations do not converge.
    """
    flow = Propagator(step, time, symmetries)
    first = flow.scaled(flow.start(start, seed).real)

    def product(x: Array) -> Array:
        return flow.scaled(flow.adjoint(flow.forward(flow.vector(x))))

    _, x, products = largest_eigenvalue(product, first, flow.space.xp, tolerance, krylov, "the optimal growth")
    initial = flow.unit(step.project(flow.vector(x)))
    final = flow.forward(initial)
    return Growth(flow.time, step.operators.norm(final) ** 2, initial, final, 2 * products + 1)


def growth_curve(
    step: Step, times: Sequence[float], *, start: Array = None, seed: int = 0, **options: Any
) -> list[Growth]:
    """The optimal growth at several times; options as for `optimal_growth`.

    Each search begins with the optimum at the previous time plus a small part of `start`, or of random numbers, so that
    it also finds optima of other wavenumbers and symmetries.
    """
    curve: list[Growth] = []
    for time in times:
        first = Propagator(step, time, options.get("symmetries", ())).start(start, seed)
        if curve:
            first = curve[-1].initial + 0.01 * first
        curve.append(optimal_growth(step, time, start=first, **options))
    return curve


def largest_growth(
    step: Step,
    between: tuple[float, float],
    *,
    accuracy: float = 0.0,
    start: Array = None,
    seed: int = 0,
    **options: Any,
) -> Growth:
    """The optimal growth at the time, between two times, at which it is largest.

    The time is a whole number of steps, found to `accuracy` or, by default, to a step, by parabolas through the three
    best points. Options as for `optimal_growth`.

    Raises UsageError if the growth is largest at one of the two times.
    """
    found: dict[int, Growth] = {}

    def growth(steps: int) -> float:
        if steps not in found:
            base = Propagator(step, steps * step.dt, options.get("symmetries", ())).start(start, seed)
            if found:
                base = found[min(found, key=lambda n: abs(n - steps))].initial + 0.01 * base
            found[steps] = optimal_growth(step, steps * step.dt, start=base, **options)
        return found[steps].gain

    low, high = step.count(between[0]), step.count(between[1])
    for steps in np.unique(np.round(np.linspace(low, high, 5)).astype(int)):
        growth(int(steps))
    while True:
        known = sorted(found)
        place = max(range(len(known)), key=lambda n: found[known[n]].gain)
        best = known[place]
        if best in (low, high):
            raise UsageError(
                f"the growth is largest at one end, the time {best * step.dt:g}: give times around the maximum"
            )
        left, right = known[place - 1], known[place + 1]
        reach = max(1, round(accuracy / step.dt))
        if max(best - left, right - best) <= reach:
            return found[best]
        a, b = growth(left) - growth(best), growth(right) - growth(best)
        d, e = left - best, right - best
        apex = round(best + (a * e * e - b * d * d) / (2 * (a * e - b * d)))
        if apex in found or not left < apex < right:  # then the wider side is narrowed, near the best point
            apex = best + reach if right - best >= best - left else best - reach
        growth(apex)
