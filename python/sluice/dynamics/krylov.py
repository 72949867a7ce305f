"""Krylov subspaces of a linear operator, and the steps of a Newton iteration within them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import numpy.typing as npt

from ..errors import NumericsError
from ..field import on_host
from .space import Array


class Arnoldi:
    """An orthonormal basis Q of span(b, A b, A^2 b, ...) with A Q_m = Q_(m+1) H, for the Euclidean inner product.

    Vectors may be NumPy or CuPy arrays; H is a small NumPy array (m + 1, m).
    """

    def __init__(self, apply: Callable[[Array], Array], start: Array, largest: int, xp: ModuleType) -> None:
        self._apply, self._xp = apply, xp
        self.norm = float(xp.linalg.norm(start))
        """|b|"""
        self._basis = xp.empty((1, start.size))
        self._basis[0] = start / self.norm
        self._largest = largest
        self.hessenberg: npt.NDArray[np.float64] = np.zeros((1, 0))
        self.exhausted = False
        """Whether the subspace is invariant under A."""

    def extend(self) -> None:
        """Adds one vector to the basis."""
        m = self.hessenberg.shape[1]
        if m + 1 >= len(self._basis):
            grown = self._xp.empty((min(self._largest + 1, max(8, 2 * len(self._basis))), self._basis.shape[1]))
            grown[: m + 1] = self._basis[: m + 1]
            self._basis = grown
        basis = self._basis[: m + 1]
        image = self._apply(basis[m])
        length = float(self._xp.linalg.norm(image))
        column = np.zeros(m + 2)
        for _ in range(2):  # Gram-Schmidt twice is as good as Householder
            parts = basis @ image
            image = image - parts @ basis
            column[: m + 1] += on_host(parts)
        column[m + 1] = float(self._xp.linalg.norm(image))
        hessenberg = np.zeros((m + 2, m + 1))
        hessenberg[: m + 1, :m] = self.hessenberg
        hessenberg[:, m] = column
        self.hessenberg = hessenberg
        self.exhausted = column[m + 1] <= 1e-14 * length
        self._basis[m + 1] = 0 if self.exhausted else image / column[m + 1]

    @property
    def size(self) -> int:
        """The number of columns of H."""
        return int(self.hessenberg.shape[1])

    def vector(self, coefficients: npt.NDArray[np.float64]) -> Array:
        """Q_m z"""
        return self._xp.asarray(coefficients) @ self._basis[: len(coefficients)]

    def least_squares(self, radius: float = np.inf) -> tuple[npt.NDArray[np.float64], float]:
        """The z with |z| <= radius that minimizes |b - A Q_m z|, and this minimum.

        The step within the radius is that of the trust region (the "hookstep"): it turns from the Newton direction to
        that of steepest descent as the radius shrinks.
        """
        left, values, right = np.linalg.svd(self.hessenberg, full_matrices=False)
        target = self.norm * left[0]
        floor = (1e-13 * values[0]) ** 2

        def step(damping: float) -> npt.NDArray[np.float64]:
            return values * target / (values**2 + max(damping, floor))  # type: ignore[no-any-return]

        scaled = step(0.0)
        if np.linalg.norm(scaled) > radius:
            low, high = 0.0, float(values[0] * np.linalg.norm(target) / radius)
            for _ in range(200):
                middle = (low + high) / 2
                scaled = step(middle)
                if np.linalg.norm(scaled) > radius:
                    low = middle
                else:
                    high = middle
                if high - low <= 1e-6 * high:
                    break
            scaled = step(high)
        z = right.T @ scaled
        rest = -self.hessenberg @ z
        rest[0] += self.norm
        return z, float(np.linalg.norm(rest))


def gmres(
    apply: Callable[[Array], Array], right_side: Array, *, tolerance: float, largest: int, xp: ModuleType
) -> Arnoldi:
    """The Krylov subspace in which A x = b has a residual of at most `tolerance` |b|, or that of the largest size."""
    basis = Arnoldi(apply, right_side, largest, xp)
    while basis.size < largest and not basis.exhausted:
        basis.extend()
        if basis.least_squares()[1] <= tolerance * basis.norm:
            break
    return basis


def largest_eigenvalue(
    apply: Callable[[Array], Array], start: Array, xp: ModuleType, tolerance: float, krylov: int, what: str
) -> tuple[float, Array, int]:
    """The largest eigenvalue of a symmetric operator on real vectors, its eigenvector, and the number of products.

    By Lanczos iterations. `what`: the quantity, for the error. Raises NumericsError if they do not converge.
    """
    basis = Arnoldi(apply, start, krylov, xp)
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
