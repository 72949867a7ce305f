"""Means and differences of the discrete scheme along each axis, as sparse matrices (docs/equations.md)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .matrices import Matrix, diagonal, without_zeros
from .space import Space


class Periodic:
    """Means and differences along x or y, of the order of the case: eqs. (7) to (9).

    Relative to point i, the results of `up` lie at i + 1/2 and those of `down` at i - 1/2.
    """

    def __init__(self, cells: int, length: float, order: int) -> None:
        def shift(n: int) -> Matrix:
            """(S f)_i = f_{i + n}"""
            i = np.arange(cells)
            return sparse.csr_array((np.ones(cells), (i, (i + n) % cells)), shape=(cells, cells))

        spacing = length / cells
        near, far = (9 / 8, -1 / 8) if order == 4 else (1.0, 0.0)
        self.identity = here = shift(0)
        self.mean_up = without_zeros(near * (here + shift(1)) / 2 + far * (shift(-1) + shift(2)) / 2)
        self.mean_down = self.mean_up @ shift(-1)
        self.difference_up = without_zeros(
            near * (shift(1) - here) / spacing + far * (shift(2) - shift(-1)) / (3 * spacing)
        )
        self.difference_down = self.difference_up @ shift(-1)
        self.second_difference = without_zeros(self.difference_down @ self.difference_up)
        one = ((here + shift(1)) / 2, near * (here - shift(-1)) / spacing)
        three = ((shift(-1) + shift(2)) / 2, far * (shift(1) - shift(-2)) / (3 * spacing))
        self.fluxes = [(mean, without_zeros(difference)) for mean, difference in ([one, three] if far else [one])]
        """Eq. (9): pairs of the mean of the transported velocity at i + 1/2 and the difference of its flux at i."""
        # the symbol of difference_down difference_up, which is -(modified wavenumber)^2
        half = np.pi * np.arange(cells) / cells
        modified = (27 * np.sin(half) - np.sin(3 * half)) / 12 if order == 4 else 2 * np.sin(half)
        self.squared_wavenumbers: npt.NDArray[np.float64] = (modified / spacing) ** 2


class Vertical:
    """Means and differences along z; w is 0 on both walls, and its last plane (the top wall) is never read or set."""

    def __init__(self, space: Space) -> None:
        dz, dzc = space.dz, space.dzc
        nz = len(dz)
        self.identity = sparse.eye_array(nz, format="csr")
        self.inner = inner = diagonal(np.arange(nz) < nz - 1)
        """1 at the faces between the walls, 0 at the top wall."""
        above = inner @ sparse.eye_array(nz, k=1, format="csr")
        below = sparse.eye_array(nz, k=-1, format="csr") @ inner
        self.mean_up = without_zeros((inner + above) / 2)
        self.mean_down = without_zeros((inner + below) / 2)
        self.difference_up = without_zeros(diagonal(1 / dzc) @ (above - inner))
        self.difference_down = without_zeros(diagonal(1 / dz) @ (inner - below))
        self.flux_mean = without_zeros(diagonal(1 / dzc) @ self.mean_up @ diagonal(dz))
        """(dz_k u_k + dz_{k+1} u_{k+1})/(2 dzc_k), the F and G of docs/equations.md over dzc."""
        self.second_difference_of_w = without_zeros(self.difference_up @ self.difference_down)

    def second_difference(self, wall_terms: tuple[float, float]) -> Matrix:
        """Lz of u, v: `wall_terms` are the coefficients of (u_wall - u) in the rows at the bottom and the top wall."""
        terms = np.zeros(self.identity.shape[0])
        terms[0] += wall_terms[0]
        terms[-1] += wall_terms[1]
        return without_zeros(self.difference_down @ self.difference_up - diagonal(terms))
