"""Responses of linearised flows to harmonic forcing."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.sparse.linalg import gmres

from ..errors import NumericsError, UsageError
from ..field import on_host
from .krylov import largest_eigenvalue
from .linear import LinearisedStep
from .propagator import Propagator
from .space import Array
from .symmetry import Symmetry


@dataclass(frozen=True)
class Response:
    """The force with the largest response among the forces f exp(i frequency t)."""

    frequency: float
    gain: float
    """The norm of the response over that of the force, in units of h/U."""
    force: Array
    """Complex, of norm 1."""
    response: Array
    """q with the perturbation q exp(i frequency t) under this force: complex, of norm `gain`."""


def resolvent_gain(
    step: LinearisedStep,
    frequency: float,
    *,
    time: float = 20.0,
    symmetries: Sequence[Symmetry] = (),
    start: Array = None,
    tolerance: float = 1e-4,
    solver_tolerance: float = 1e-8,
    krylov: int = 60,
    seed: int = 0,
) -> Response:
    """The force f exp(i frequency t), of norm 1, with the largest response q exp(i frequency t): gain = |q|/|f|.

    At the end of steps the response obeys q z^(n + 1) = S q z^n + B f z^n, z = exp(i frequency dt), where B f is one
    step from rest under the force, evaluated in each substep as formulas of `Simulation.add_force` are. So it is the
    response of Sluice itself, and differs from that of the equations discretised in space by O(dt^3). N steps at a
    time,

        (z^N - S^N) q = sum over j < N of S^(N - 1 - j) z^j B f,

    are solved by GMRES to `solver_tolerance`, and the largest gain by Lanczos iterations with the exact adjoint, to a
    residual of `tolerance` gain^2; the error of the gain is of the square of `tolerance`. `time`: the duration of the
    N steps. The more modes decay within it, the fewer iterations GMRES needs. All modes must decay: only then does
    the flow settle to the response. This is not checked. Other arguments as for `optimal_growth`.

    Raises NumericsError if GMRES or Lanczos iterations do not converge.
    """
    if not isinstance(step, LinearisedStep):
        raise UsageError("responses to a frequency are those of a steady flow: give a LinearisedStep")
    flow = Propagator(step, time, symmetries)
    space, xp = flow.space, flow.space.xp
    z = cmath.exp(1j * frequency * step.dt)

    def solve(right: Array, turned: complex, march: Callable[[Array], Array]) -> Array:
        operator = flow.on_host(lambda q: turned * q - march(q), complex)
        x, failed = gmres(operator, on_host(flow.scaled(right)), rtol=solver_tolerance, restart=100, maxiter=3)
        if failed:
            raise NumericsError(
                f"GMRES has not found the response at the frequency {frequency:g}: give a time longer than "
                f"{flow.time:g}, or is there a mode that hardly decays?"
            )
        return flow.vector(x)

    def respond(f: Array) -> Array:
        response = xp.zeros(space.size, complex)
        pushed = step.forced(flow.restrict(f), frequency)
        for j in range(flow.steps):
            response = step.forward(response) + z**j * pushed
        return solve(flow.restrict(response), z**flow.steps, flow.forward)

    def respond_adjoint(r: Array) -> Array:
        r = solve(r, (z**flow.steps).conjugate(), flow.adjoint)
        total = xp.zeros(space.size, complex)
        for j in reversed(range(flow.steps)):
            total += (z**j).conjugate() * r
            r = step.adjoint(r)
        return flow.restrict(step.forced_adjoint(total, frequency)[1])

    def as_real(q: Array) -> Array:
        return xp.ascontiguousarray(flow.scaled(q)).view(float)

    def product(x: Array) -> Array:
        return as_real(respond_adjoint(respond(flow.vector(x.view(complex)))))

    first = flow.start(start, seed).astype(complex)
    _, x, _ = largest_eigenvalue(product, as_real(first), xp, tolerance, krylov, "the largest response")
    force = flow.unit(step.project(flow.vector(x.view(complex))))
    response = respond(force)
    return Response(frequency, step.operators.norm(response), force, response)
