"""Eigenvalues, transient growth and responses to forcing of linearised flows."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, gmres

from ..errors import NumericsError, UsageError
from ..field import on_host
from .krylov import Arnoldi
from .linear import LinearisedOrbit, LinearisedStep
from .space import Array, Space
from .symmetry import Symmetry

Step = LinearisedStep | LinearisedOrbit


@dataclass(frozen=True)
class Modes:
    """Eigenvalues and eigenvectors of a linear map over the time T, the fastest growing first."""

    values: npt.NDArray[np.complex128]
    """log(multiplier)/T: growth rates + i frequencies of modes exp(value t), in units of U/h.

    About a steady flow the branch of the logarithm is that of a single step. About an orbit it is the principal one:
    frequencies are known only up to multiples of 2 pi/T.
    """
    multipliers: npt.NDArray[np.complex128]
    """The factors by which the map multiplies the vectors: the Floquet multipliers of a periodic orbit."""
    vectors: list[Array]
    """Complex, of norm 1."""
    residuals: npt.NDArray[np.float64]
    """Of the vectors: |S q - s q|/dt with the best number s for one step S; |M q - multiplier q|/T for an orbit."""
    time: float
    """T"""


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


class _Map:
    """A number of steps in the subspace of symmetries, in coordinates x = weight^(1/2) q of Euclidean norm |q|."""

    def __init__(self, step: Step, time: float | None, symmetries: Sequence[Symmetry]) -> None:
        self._step, self._symmetries = step, symmetries
        self.space: Space = step.space
        if time is None:
            if not isinstance(step, LinearisedOrbit):
                raise UsageError("give the time of the map: modes about a steady flow are those of any time")
            self.steps = step.steps
        else:
            self.steps = step.count(time)
        self.time = self.steps * step.dt
        self._root = self.space.xp.sqrt(self.space.weights)

    def restrict(self, q: Array) -> Array:
        return self.space.symmetrize(self._symmetries, q)

    def scaled(self, q: Array) -> Array:
        return self._root * q

    def vector(self, x: Array) -> Array:
        return self.space.xp.asarray(x) / self._root

    def forward(self, q: Array) -> Array:
        return self.restrict(self._step.forward(self.restrict(q), self.steps))

    def adjoint(self, r: Array) -> Array:
        return self.restrict(self._step.adjoint(self.restrict(r), self.steps))

    def start(self, given: Array, seed: int) -> Array:
        """A projected vector to begin with, scaled to the norm 1."""
        start = self.space.random(seed) if given is None else self.space.xp.asarray(given)
        start = self.restrict(self._step.project(self.restrict(start)))
        length = self._step.operators.norm(start)
        if length == 0 or not np.isfinite(length):
            raise UsageError("the vector to start from has no part that is a perturbation with these symmetries")
        return start / length

    def on_host(self, apply: Callable[[Array], Array], kind: type) -> LinearOperator:
        """A function of vectors q as an operator of SciPy on scaled vectors of NumPy."""

        def product(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return on_host(self.scaled(apply(self.vector(np.ascontiguousarray(x).ravel()))))

        return LinearOperator((self.space.size, self.space.size), matvec=product, dtype=kind)


def eigenvalues(
    step: Step,
    number: int = 4,
    time: float | None = None,
    *,
    symmetries: Sequence[Symmetry] = (),
    start: Array = None,
    tolerance: float = 1e-10,
    krylov: int | None = None,
    restarts: int = 100,
    seed: int = 0,
) -> Modes:
    """The modes that grow fastest, or decay slowest, by Arnoldi iterations (ARPACK) of the flow over a time.

    `number`: the number of modes; one more is returned where a complex pair would be cut in half. `time`: the time T of
    the map, rounded to whole steps; by default, the whole orbit. A longer time costs more steps for each product, but
    separates the modes better: if growth rates differ by d, each iteration reduces the error by about exp(-d T), or
    more. `symmetries`: restrict the modes to a subspace. `start`: the first vector, random with `seed` by default.
    About a parallel flow, wavenumbers do not couple, so that a `start` of one wavenumber finds its modes first; those
    of others enter by round-off if they decay more slowly.
    `tolerance`: the relative tolerance of multipliers. `krylov`: the dimension of the subspace, by default
    2 number + 1, at least 20; for an orbit, over which most perturbations decay, number + 2 can be enough.

    About a steady flow the eigenvalues are those of a single step S exactly: a step multiplies modes by exp(value dt),
    and values differ from those of the equations discretised in space by O(dt^3).

    Raises NumericsError if the iterations do not converge within `restarts`; UsageError for a number of modes that the
    space does not have, a steady flow without `time`, or a `start` without a part in the subspace.
    """
    flow = _Map(step, time, symmetries)
    first = flow.start(start, seed)
    kind = complex if first.dtype.kind == "c" else float
    if not 1 <= number < flow.space.size - 1:
        raise UsageError(f"{number} modes of {flow.space.size} numbers: at least 1, and fewer than the numbers less 1")
    try:
        multipliers, columns = eigs(
            flow.on_host(flow.forward, kind),
            number,
            v0=on_host(flow.scaled(first)),
            which="LM",
            tol=tolerance,
            ncv=krylov,
            maxiter=restarts,
        )
    except ArpackNoConvergence as error:
        raise NumericsError(
            f"{len(error.eigenvalues)} of {number} modes have converged within {restarts} restarts: take a longer time "
            "than {:g}, a larger krylov, or fewer modes".format(flow.time)
        ) from None
    if kind is float:
        multipliers, columns = _with_conjugates(multipliers, columns)
    if isinstance(step, LinearisedStep):
        return _resolved(flow, step, multipliers, columns)
    order = np.argsort(-np.abs(multipliers))
    multipliers, columns = multipliers[order], columns[:, order]
    vectors = [_unit(flow, flow.vector(np.ascontiguousarray(column))) for column in columns.T]
    residuals = [
        step.operators.norm(flow.forward(q) - mu * q) / flow.time for mu, q in zip(multipliers, vectors, strict=True)
    ]
    with np.errstate(divide="ignore"):
        values = np.log(multipliers.astype(complex)) / flow.time
    return Modes(values, multipliers, vectors, np.array(residuals), flow.time)


def _with_conjugates(multipliers: Any, columns: Any) -> tuple[Any, Any]:
    """Multipliers and vectors of a real map, with the other half of each complex pair."""
    alone = [
        n
        for n, mu in enumerate(multipliers)
        if mu.imag != 0 and np.abs(multipliers - mu.conjugate()).min() > 1e-6 * abs(mu.imag)
    ]
    return (
        np.concatenate([multipliers, multipliers[alone].conj()]),
        np.concatenate([columns, columns[:, alone].conj()], axis=1),
    )


def _unit(flow: _Map, q: Array) -> Array:
    return q / flow.space.xp.linalg.norm(flow.scaled(q))


def _resolved(flow: _Map, step: LinearisedStep, multipliers: Any, columns: Any) -> Modes:
    """The modes of a single step in the subspace of the modes of many, which settles the branch of their logarithms.

    Modes whose frequencies differ by 2 pi/T have the same multiplier: the eigenvectors of the map over T mix them.
    """
    basis, triangle = np.linalg.qr(columns)
    images = np.stack(
        [
            on_host(flow.scaled(flow.restrict(step.forward(flow.vector(np.ascontiguousarray(column))))))
            for column in basis.T
        ],
        axis=1,
    )
    one_step, mixing = np.linalg.eig(basis.conj().T @ images)
    # the map over T in this basis is R diag(multipliers) R^-1: its diagonal in that of the modes of one step
    back = np.linalg.solve(triangle, mixing)
    powers = np.diag(np.linalg.solve(back, multipliers[:, None] * back)).astype(complex)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.log(one_step.astype(complex)) / step.dt
        turns = np.round((rates.imag * flow.time - np.angle(powers)) / (2 * pi))
        values = (np.log(np.abs(powers)) + 1j * (np.angle(powers) + 2 * pi * turns)) / flow.time
    order = np.argsort(-values.real)
    misfits = images @ mixing - (basis @ mixing) * one_step
    residuals = np.linalg.norm(misfits, axis=0) / np.linalg.norm(basis @ mixing, axis=0) / step.dt
    vectors = [_unit(flow, flow.vector(basis @ mixing[:, n])) for n in order]
    return Modes(values[order], powers[order], vectors, residuals[order], flow.time)


def _largest(
    apply: Callable[[Array], Array], start: Array, space: Space, tolerance: float, krylov: int, what: str
) -> tuple[float, Array, int]:
    """The largest eigenvalue of a symmetric operator on real Euclidean vectors, its vector, and products (Lanczos)."""
    basis = Arnoldi(apply, start, krylov, space.xp)
    value, change = 0.0, np.inf
    while basis.size < krylov and not basis.exhausted:
        basis.extend()
        square = basis.hessenberg[:-1]
        values, vectors = np.linalg.eigh((square + square.T) / 2)
        value = float(values[-1])
        change = float(basis.hessenberg[-1, -1] * abs(vectors[-1, -1]))
        if change <= tolerance * abs(value) or basis.exhausted:
            return value, basis.vector(vectors[:, -1]), basis.size
    raise NumericsError(
        f"{what} has not converged with {krylov} vectors: the residual is {change:.1e} of {value:.6g}; "
        "give a larger krylov or tolerance"
    )


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
    flow = _Map(step, time, symmetries)
    first = flow.scaled(flow.start(start, seed).real)

    def product(x: Array) -> Array:
        return flow.scaled(flow.adjoint(flow.forward(flow.vector(x))))

    _, x, products = _largest(product, first, flow.space, tolerance, krylov, "the optimal growth")
    initial = _unit(flow, step.project(flow.vector(x)))
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
        first = _Map(step, time, options.get("symmetries", ())).start(start, seed)
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
            base = _Map(step, steps * step.dt, options.get("symmetries", ())).start(start, seed)
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
    flow = _Map(step, time, symmetries)
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
    _, x, _ = _largest(product, as_real(first), space, tolerance, krylov, "the largest response")
    force = _unit(flow, step.project(flow.vector(x.view(complex))))
    response = respond(force)
    return Response(frequency, step.operators.norm(response), force, response)
