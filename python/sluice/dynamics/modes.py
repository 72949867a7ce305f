"""Eigenvalues and eigenvectors of linearised flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import ArpackNoConvergence, eigs

from ..errors import NumericsError, UsageError
from ..field import on_host
from .linear import LinearisedStep
from .propagator import Propagator, Step
from .space import Array
from .symmetry import Symmetry


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
    flow = Propagator(step, time, symmetries)
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
    vectors = [flow.unit(flow.vector(np.ascontiguousarray(column))) for column in columns.T]
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


def _resolved(flow: Propagator, step: LinearisedStep, multipliers: Any, columns: Any) -> Modes:
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
    vectors = [flow.unit(flow.vector(basis @ mixing[:, n])) for n in order]
    return Modes(values[order], powers[order], vectors, residuals[order], flow.time)
