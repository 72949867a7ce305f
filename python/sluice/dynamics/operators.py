"""The discrete scheme as sparse matrices: the tendency R and its linearisation (docs/equations.md)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..case import Case
from ..field import on_host
from .coefficients import Driving, Wall, require_covered, twice_rotation, viscosity_of
from .differences import Periodic, Vertical
from .matrices import Line, Matrix, diagonal, kronecker, product, to_module, without_zeros
from .projection import Projection
from .space import Array, Space


class Operators:
    """The spatial operators of a case, on the velocity vectors of a space.

    Before the projection, the velocity u obeys du/dt = R(u) with

        R(u) = -D [(A u + a) * (B u)] + K u + c

    A and B interpolate the transporting and the transported velocity to the faces of all control volumes, D takes the
    differences of the fluxes, * is the product point by point, and a is minus the velocity of the grid. K holds
    diffusion and the Coriolis force, c the contributions of walls, pressure gradients and geostrophic velocity. A, B, D
    and K are sparse. About U, the perturbation q has the tendency

        R'(U) q = -D [(A U + a) * (B q) + (A q) * (B U)] + K q

    The adjoint M+, with <M q, r> = <q, M+ r> in the energy inner product, is formed from the transposed matrices.

    Walls are no-slip, free-slip or have a slip length, and move at constant velocities; the force is a constant
    pressure gradient or holds constant bulk velocities. What a program has set in a simulation (forces, walls,
    mean forces) is ignored. Raises UsageError for cases with scalars, a magnetic field, implicit diffusion, actuated or
    blowing walls, forces of given power or that vary in time, and for flow.type periodic.

    `space`: that of a simulation of the case. Vectors have `space.size` numbers, real or complex.
    """

    def __init__(self, space: Space, case: Case) -> None:
        require_covered(case)
        self.space = space
        self.case = case.copy()
        self.viscosity = viscosity_of(case)
        """In units of U h."""
        self.order = int(case["solver.order"])
        """Along x and y."""
        self.grid_velocity = float(case["grid.velocity"] or 0.0)
        """Along x."""
        self._driving = [Driving(case, "flow.forcing"), Driving(case, "flow.spanwise_forcing")]
        nz, ny, nx = space.shape
        self._cells = nx * ny * nz
        self._x = Periodic(nx, space.lengths[0], self.order)
        self._y = Periodic(ny, space.lengths[1], self.order)
        self._z = Vertical(space)
        walls = [Wall(case, "bottom"), Wall(case, "top")]
        transporting, transported, fluxes, offset = self._advection()
        linear, constant = self._linear(walls)
        self._host: dict[str, Matrix] = {"A": transporting, "B": transported, "D": fluxes, "K": linear}  # of SciPy
        self.transporting = self.to_device(transporting)
        """A"""
        self.transported = self.to_device(transported)
        """B"""
        self.fluxes = self.to_device(fluxes)
        """D"""
        self.linear = self.to_device(linear)
        """K"""
        self.offset = space.xp.asarray(offset)
        """a"""
        self.constant = space.xp.asarray(constant)
        """c"""
        self._adjoint: tuple[Matrix, Matrix, Matrix, Matrix] | None = None
        along_x, along_y = self._driving
        self.projection = Projection(space, self._x, self._y, self._z, (along_x.mean, along_y.mean))

    def to_device(self, matrix: Matrix) -> Matrix:
        """A sparse matrix of SciPy as one of the module of the vectors."""
        return to_module(matrix, self.space.xp)

    def _advection(self) -> tuple[Matrix, Matrix, Matrix, npt.NDArray[np.float64]]:
        """A, B, D and a, each with one block of rows or columns for each flux."""
        x, y, z = self._x, self._y, self._z
        # what carries u is interpolated along x, what carries v along y; F and G carry w
        interpolation: list[Line] = [
            (z.identity, y.identity, x.mean_up),
            (z.identity, y.mean_up, x.identity),
            (z.flux_mean, y.identity, x.identity),
        ]
        rows_of_a, rows_of_b, columns_of_d, offsets = [], [], [], []

        def add(component: int, direction: int, transport: Line, mean: Line, difference: Line) -> None:
            differences = kronecker(difference)
            if differences.nnz == 0:  # along y, with one cell
                return
            rows_of_a.append(self._in_row(direction, kronecker(transport)))
            rows_of_b.append(self._in_row(component, kronecker(mean)))
            columns_of_d.append(self._in_row(component, differences.T))
            offsets.append(np.full(self._cells, -self.grid_velocity if direction == 0 else 0.0))

        for component, transport in enumerate(interpolation):
            planes = z.inner if component == 2 else z.identity
            for mean, difference in x.fluxes:
                add(component, 0, transport, (planes, y.identity, mean), (planes, y.identity, difference))
            for mean, difference in y.fluxes:
                add(component, 1, transport, (planes, mean, x.identity), (planes, difference, x.identity))
            if component == 2:
                up, down = (z.difference_up, y.identity, x.identity), (z.mean_down, y.identity, x.identity)
                add(component, 2, down, down, up)
            else:
                up, down = (z.mean_up, y.identity, x.identity), (z.difference_down, y.identity, x.identity)
                add(component, 2, transport, up, down)
        fluxes = sparse.vstack(columns_of_d, format="csr").T
        return (
            sparse.vstack(rows_of_a, format="csr"),
            sparse.vstack(rows_of_b, format="csr"),
            sparse.csr_array(fluxes),
            np.concatenate(offsets),
        )

    def _in_row(self, component: int, matrix: Matrix) -> Matrix:
        """A block of columns for one component, with zeros for the others."""
        empty = sparse.csr_array((self._cells, self._cells))
        return sparse.hstack([matrix if n == component else empty for n in range(3)], format="csr")

    def _linear(self, walls: list[Wall]) -> tuple[Matrix, npt.NDArray[np.float64]]:
        """K and c."""
        x, y, z = self._x, self._y, self._z
        space, nu = self.space, self.viscosity
        wall_terms = (walls[0].coefficient(space.dz[0]), walls[1].coefficient(space.dz[-1]))
        empty = sparse.csr_array((self._cells, self._cells))
        blocks: list[list[Matrix]] = [[empty for _ in range(3)] for _ in range(3)]
        constant = np.zeros((3, *space.shape))
        for component in range(3):
            planes = z.inner if component == 2 else z.identity
            along_z = z.second_difference_of_w if component == 2 else z.second_difference(wall_terms)
            blocks[component][component] = nu * (
                kronecker((planes, y.identity, x.second_difference))
                + kronecker((planes, y.second_difference, x.identity))
                + kronecker((along_z, y.identity, x.identity))
            )
        for component in range(2):
            constant[component, 0] += nu * wall_terms[0] * walls[0].velocity[component]
            constant[component, -1] += nu * wall_terms[1] * walls[1].velocity[component]
            constant[component] += self._driving[component].gradient
        about_x, about_y, about_z = twice = twice_rotation(self.case)
        if any(twice):  # eq. (11)
            wind = [float(part) for part in self.case["flow.rotation.geostrophic"] or (0.0, 0.0)]
            blocks[0][1] = about_z * kronecker((z.identity, y.mean_down, x.mean_up))
            blocks[0][2] = -about_y * kronecker((z.mean_down, y.identity, x.mean_up))
            blocks[1][2] = about_x * kronecker((z.mean_down, y.mean_up, x.identity))
            blocks[1][0] = -about_z * kronecker((z.identity, y.mean_up, x.mean_down))
            blocks[2][0] = about_y * kronecker((z.flux_mean, y.identity, x.mean_down))
            blocks[2][1] = -about_x * kronecker((z.flux_mean, y.mean_down, x.identity))
            constant[0] -= about_z * wind[1]
            constant[1] += about_z * wind[0]
            constant[2, :-1] += about_x * wind[1] - about_y * wind[0]
        return without_zeros(sparse.block_array(blocks, format="csr")), constant.ravel()

    # --- products with vectors ---

    def times(self, matrix: Matrix, vector: Array) -> Array:
        """A real sparse matrix times a real or complex vector."""
        return product(matrix, vector, self.space.xp)

    def inner(self, one: Array, other: Array) -> complex:
        """The energy inner product, with the complex conjugate of the first vector."""
        return complex((one.conj() * self.space.weights * other).sum())

    def norm(self, vector: Array) -> float:
        """The square root of the inner product with itself."""
        return float(self.inner(vector, vector).real ** 0.5)

    def tendency(self, u: Array) -> Array:
        """R(u) of a total velocity, before the projection and without the force that holds a bulk velocity."""
        products = (self.transporting @ u + self.offset) * (self.transported @ u)
        return self.linear @ u - self.fluxes @ products + self.constant

    def base(self, u: Array) -> tuple[Array, Array]:
        """(A U + a, B U) of a base flow U, which `perturbation_tendency` and `adjoint_tendency` take."""
        return self.transporting @ u + self.offset, self.transported @ u

    def perturbation_tendency(self, base: tuple[Array, Array], q: Array) -> Array:
        """R'(U) q"""
        a, b = base
        products = a * self.times(self.transported, q) + b * self.times(self.transporting, q)
        return self.times(self.linear, q) - self.times(self.fluxes, products)

    def adjoint_tendency(self, base: tuple[Array, Array], r: Array) -> Array:
        """R'(U)+ r"""
        if self._adjoint is None:
            w, host = on_host(self.space.weights), self._host
            inverse = diagonal(1 / w)
            self._adjoint = (
                self.to_device(sparse.csr_array(inverse @ host["A"].T)),
                self.to_device(sparse.csr_array(inverse @ host["B"].T)),
                self.to_device(sparse.csr_array(host["D"].T @ diagonal(w))),
                self.to_device(self.adjoint_of(host["K"])),
            )
        a, b = base
        transporting, transported, fluxes, linear = self._adjoint
        through = self.times(fluxes, r)
        return self.times(linear, r) - self.times(transported, a * through) - self.times(transporting, b * through)

    def jacobian(self, u: Array) -> Matrix:
        """The matrix of R'(U), sparse, of SciPy."""
        host = self._host
        a, b = (on_host(part) for part in self.base(u))
        products = diagonal(a) @ host["B"] + diagonal(b) @ host["A"]
        return without_zeros(host["K"] - host["D"] @ products)

    def adjoint_of(self, matrix: Matrix) -> Matrix:
        """M+ of a matrix M of SciPy."""
        w = on_host(self.space.weights)
        return sparse.csr_array(diagonal(1 / w) @ matrix.T @ diagonal(w))
