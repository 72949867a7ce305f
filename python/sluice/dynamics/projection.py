"""The projection onto solenoidal fields, with the discrete Poisson equation (docs/equations.md)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .differences import Periodic, Vertical
from .matrices import Line, Matrix, kronecker, product, product_along_z, to_module
from .space import Array, Space


class Projection:
    """P = 1 - grad (div grad)^-1 div on the velocity vectors of a space, real or complex.

    `x`, `y`, `z`: differences along the axes. `means`: the means of u and v that the forcing holds, each a number or
    None.
    """

    def __init__(
        self, space: Space, x: Periodic, y: Periodic, z: Vertical, means: tuple[float | None, float | None]
    ) -> None:
        self._space = space
        self._means = means
        differences: list[Line] = [
            (z.identity, y.identity, x.difference_down),
            (z.identity, y.difference_down, x.identity),
            (z.difference_down, y.identity, x.identity),
        ]
        self.divergence = self._matrix(sparse.hstack([kronecker(line) for line in differences], format="csr"))
        """From a velocity to cell centres."""
        differences = [
            (z.identity, y.identity, x.difference_up),
            (z.identity, y.difference_up, x.identity),
            (z.difference_up, y.identity, x.identity),
        ]
        self.gradient = self._matrix(sparse.vstack([kronecker(line) for line in differences], format="csr"))
        """From cell centres to velocity points: no flux through the walls."""
        # div grad along z has the eigenvectors s^-1 Q with s = dz^(1/2) and s Lz s^-1 = Q (eigenvalues) Q^T
        xp, root = space.xp, np.sqrt(space.dz)
        operator = (z.difference_down @ z.difference_up).toarray() * root[:, None] / root
        values, vectors = np.linalg.eigh((operator + operator.T) / 2)
        values[-1] = 0  # of the constant
        squares = x.squared_wavenumbers[None, None, :] + y.squared_wavenumbers[None, :, None]
        factors = values[:, None, None] - squares
        factors[-1, 0, 0] = np.inf  # the mean of phi is 0
        self._inverse = xp.asarray(1 / factors)
        self._to_vectors = xp.asarray(np.ascontiguousarray(vectors.T * root))
        self._from_vectors = xp.asarray(np.ascontiguousarray(vectors / root[:, None]))

    def _matrix(self, matrix: Matrix) -> Matrix:
        return to_module(sparse.csr_array(matrix), self._space.xp)

    def solve_poisson(self, right_side: Array) -> Array:
        """phi at cell centres, of mean 0, with div grad phi = right_side, of which the mean is dropped."""
        xp, shape = self._space.xp, self._space.shape
        values = product_along_z(self._to_vectors, right_side.reshape(shape), xp)
        if right_side.dtype.kind == "c":
            values = xp.fft.ifft2(xp.fft.fft2(values, axes=(1, 2)) * self._inverse, axes=(1, 2))
        else:
            half = self._inverse[:, :, : shape[2] // 2 + 1]
            values = xp.fft.irfft2(xp.fft.rfft2(values, axes=(1, 2)) * half, s=shape[1:], axes=(1, 2))
        return product_along_z(self._from_vectors, values, xp).ravel()

    def project(self, q: Array) -> Array:
        """P q = q - grad (div grad)^-1 div q, and w = 0 on the top wall: the nearest solenoidal field, P+ = P.

        The velocities of walls are left out: they do not enter the divergence.
        """
        xp = self._space.xp
        q = q - product(self.gradient, self.solve_poisson(product(self.divergence, q, xp)), xp)
        q.reshape(3, *self._space.shape)[2, -1] = 0
        return q

    def set_means(self, u: Array) -> Array:
        """Adds the uniform velocities that give the means of u and v the values that the forcing holds."""
        return self._with_means(u, 1.0)

    def project_perturbation(self, q: Array) -> Array:
        """P q without the means of u and v that the forcing holds: a uniform force takes them away. P+ = P."""
        return self._with_means(self.project(q), 0.0)

    def _with_means(self, u: Array, factor: float) -> Array:
        u, weights = u.copy(), self._space.weights.reshape(3, -1)
        for component, mean in enumerate(self._means):
            if mean is not None:
                part = u.reshape(weights.shape)[component]
                part += factor * mean - (weights[component] * part).sum()  # these weights add up to 1
        return u
