"""The discrete scheme as sparse matrices: the tendency R, its linearisation, and the projection (docs/equations.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..case import Case
from ..errors import UsageError
from .space import Array, Space, on_host

Matrix = Any
"""A sparse matrix (CSR) of SciPy or, on a GPU, of CuPy."""
Line = tuple[Matrix, Matrix, Matrix]
"""Matrices that act along z, y and x: their Kronecker product acts on a component (nz, ny, nx)."""


def _diagonal(values: Any) -> Matrix:
    return sparse.diags_array(np.asarray(values, float), format="csr")


def _without_zeros(matrix: Matrix) -> Matrix:
    matrix = sparse.csr_array(matrix)
    matrix.eliminate_zeros()
    return matrix


def _times(line: Line) -> Matrix:
    """The Kronecker product."""
    z, y, x = line
    return _without_zeros(sparse.kron(z, sparse.kron(y, x), format="csr"))


class _Periodic:
    """Means and differences along x or y, of the order of the case: eqs. (7) to (9).

    From point i, `up` ones are located at i + 1/2 and `down` ones at i - 1/2.
    """

    def __init__(self, cells: int, length: float, order: int) -> None:
        def shift(n: int) -> Matrix:
            """(S f)_i = f_{i + n}"""
            i = np.arange(cells)
            return sparse.csr_array((np.ones(cells), (i, (i + n) % cells)), shape=(cells, cells))

        spacing = length / cells
        near, far = (9 / 8, -1 / 8) if order == 4 else (1.0, 0.0)
        self.identity = here = shift(0)
        self.mean_up = _without_zeros(near * (here + shift(1)) / 2 + far * (shift(-1) + shift(2)) / 2)
        self.mean_down = self.mean_up @ shift(-1)
        self.difference_up = _without_zeros(
            near * (shift(1) - here) / spacing + far * (shift(2) - shift(-1)) / (3 * spacing)
        )
        self.difference_down = self.difference_up @ shift(-1)
        self.second_difference = _without_zeros(self.difference_down @ self.difference_up)
        one = ((here + shift(1)) / 2, near * (here - shift(-1)) / spacing)
        three = ((shift(-1) + shift(2)) / 2, far * (shift(1) - shift(-2)) / (3 * spacing))
        self.fluxes = [(mean, _without_zeros(difference)) for mean, difference in ([one, three] if far else [one])]
        """Eq. (9): pairs of the mean of the transported velocity at i + 1/2 and the difference of its flux at i."""
        # the symbol of difference_down difference_up, which is -(modified wavenumber)^2
        half = np.pi * np.arange(cells) / cells
        modified = (27 * np.sin(half) - np.sin(3 * half)) / 12 if order == 4 else 2 * np.sin(half)
        self.squared_wavenumbers: npt.NDArray[np.float64] = (modified / spacing) ** 2


class _Vertical:
    """Means and differences along z; w is 0 on both walls, and its last plane (the top wall) neither read nor set."""

    def __init__(self, space: Space) -> None:
        dz, dzc = space.dz, space.dzc
        nz = len(dz)
        self.identity = sparse.eye_array(nz, format="csr")
        self.inner = inner = _diagonal(np.arange(nz) < nz - 1)
        """1 at the faces between the walls, 0 at the top wall."""
        above = inner @ sparse.eye_array(nz, k=1, format="csr")
        below = sparse.eye_array(nz, k=-1, format="csr") @ inner
        self.mean_up = _without_zeros((inner + above) / 2)
        self.mean_down = _without_zeros((inner + below) / 2)
        self.difference_up = _without_zeros(_diagonal(1 / dzc) @ (above - inner))
        self.difference_down = _without_zeros(_diagonal(1 / dz) @ (inner - below))
        self.flux_mean = _without_zeros(_diagonal(1 / dzc) @ self.mean_up @ _diagonal(dz))
        """(dz_k u_k + dz_{k+1} u_{k+1})/(2 dzc_k), the F and G of docs/equations.md over dzc."""
        self.second_difference_of_w = _without_zeros(self.difference_up @ self.difference_down)

    def second_difference(self, wall_terms: tuple[float, float]) -> Matrix:
        """Lz of u, v: `wall_terms` are the coefficients of (u_wall - u) in the rows at the bottom and the top wall."""
        terms = np.zeros(self.identity.shape[0])
        terms[0] += wall_terms[0]
        terms[-1] += wall_terms[1]
        return _without_zeros(self.difference_down @ self.difference_up - _diagonal(terms))


class _Wall:
    """A wall of the case: no_slip, free_slip or slip, at a constant velocity along x and y."""

    def __init__(self, case: Case, side: str) -> None:
        wall = case[f"walls.{side}"] or {}
        wall = {"type": wall} if isinstance(wall, str) else wall
        self.free = wall.get("type") == "free_slip"
        self.slip_length = float(wall.get("slip_length") or 0)
        velocity = [0.0, 0.0, 0.0] if self.free else wall.get("velocity") or [0.0, 0.0, 0.0]
        if any(isinstance(part, str) for part in velocity) or velocity[2] != 0:
            raise UsageError(f"linearised steps need walls of a constant velocity along x and y: walls.{side}.velocity")
        if wall.get("actuation") not in (None, "none"):
            raise UsageError(f"linearised steps know no actuated walls: remove walls.{side}.actuation")
        self.velocity = (float(velocity[0]), float(velocity[1]))

    def coefficient(self, dz: float) -> float:
        """Of (u_wall - u) in the row of Lz of the cell at the wall, of height dz."""
        return 0.0 if self.free else 2 / (dz * (dz + 2 * self.slip_length))


def viscosity_of(case: Case) -> float:
    """The viscosity in units of U h, from the Reynolds number of the case."""
    for name, value in (case["flow.reynolds"] or {}).items():
        if value is not None:
            return float(value) if name == "viscosity" else (2.0 if name == "bulk" else 1.0) / float(value)
    raise UsageError("the case has no flow.reynolds")


def _require_covered(case: Case) -> None:
    """Raises UsageError for a case with terms that this module does not have."""
    problems = []
    if case["flow.type"] == "periodic":
        problems.append("flow.type periodic: a flow between walls is needed")
    if case["scalars"]:
        problems.append("scalars")
    if case["flow.magnetic_field"] not in (None, "none"):
        problems.append("flow.magnetic_field")
    if case["time.diffusion"] != "explicit":
        problems.append(f"time.diffusion {case['time.diffusion']}: it must be explicit")
    if problems:
        raise UsageError("linearised steps do not cover this case: " + "; ".join(problems))


class _Driving:
    """The mean force along x or y: a given pressure gradient, or a given volume mean of u or v."""

    def __init__(self, case: Case, key: str) -> None:
        forcing = case[key]
        forcing = forcing if isinstance(forcing, Mapping) else {}
        values = {kind: value for kind, value in forcing.items() if value is not None}
        for kind, value in values.items():
            if kind == "power":
                raise UsageError(f"linearised steps know no {key} of a given power")
            if not isinstance(value, int | float):
                raise UsageError(f"linearised steps need a constant {key}.{kind}, not {value!r}")
        self.gradient = float(values.get("pressure_gradient", 0.0))
        self.mean: float | None = float(values["bulk_velocity"]) if "bulk_velocity" in values else None


class Operators:
    """The spatial operators of a case, on the velocity vectors of a space.

    Before the projection, the velocity u obeys du/dt = R(u) with

        R(u) = -D [(A u + a) * (B u)] + K u + c

    A and B interpolate the transporting and the transported velocity to the faces of all control volumes, D takes the
    differences of the fluxes, * is the product point by point, and a is the velocity of the grid, with the sign minus.
    K holds diffusion and the Coriolis force, c what walls, pressure gradients and geostrophic velocity add. A, B, D and
    K are sparse. About U, the perturbation q has the tendency

        R'(U) q = -D [(A U + a) * (B q) + (A q) * (B U)] + K q

    The adjoint, M+ with <M q, r> = <q, M+ r> in the energy inner product, is formed from the transposed matrices.

    Walls do not slip, slip freely or have a slip length, and move at constant velocities; the force is a constant
    pressure gradient or holds constant bulk velocities. What Python has set in a simulation (forces, walls, mean
    forces) does not count. Raises UsageError for cases with scalars, a magnetic field, implicit diffusion, actuated or
    blowing walls, forces of given power or that vary in time, and for flow.type periodic.

    `space`: of a simulation of the case. Real or complex vectors of `space.size` numbers.
    """

    def __init__(self, space: Space, case: Case) -> None:
        _require_covered(case)
        self.space = space
        self.case = case.copy()
        self.viscosity = viscosity_of(case)
        """In units of U h."""
        self.order = int(case["solver.order"])
        """Along x and y."""
        self.grid_velocity = float(case["grid.velocity"] or 0.0)
        """Along x."""
        self._driving = [_Driving(case, "flow.forcing"), _Driving(case, "flow.spanwise_forcing")]
        nz, ny, nx = space.shape
        self._cells = nx * ny * nz
        self._x = _Periodic(nx, space.lengths[0], self.order)
        self._y = _Periodic(ny, space.lengths[1], self.order)
        self._z = _Vertical(space)
        walls = [_Wall(case, "bottom"), _Wall(case, "top")]
        transporting, transported, fluxes, offset = self._advection()
        linear, constant = self._linear(walls)
        divergence, gradient = self._divergence_and_gradient()
        self._host: dict[str, Matrix] = {"A": transporting, "B": transported, "D": fluxes, "K": linear}  # of SciPy
        self.transporting = self.to_device(transporting)
        """A"""
        self.transported = self.to_device(transported)
        """B"""
        self.fluxes = self.to_device(fluxes)
        """D"""
        self.linear = self.to_device(linear)
        """K"""
        self.divergence = self.to_device(divergence)
        """From a velocity to cell centres."""
        self.gradient = self.to_device(gradient)
        """From cell centres to velocity points: no flux through the walls."""
        self.offset = space.xp.asarray(offset)
        """a"""
        self.constant = space.xp.asarray(constant)
        """c"""
        self._adjoint: tuple[Matrix, Matrix, Matrix, Matrix] | None = None
        self._prepare_projection()

    def to_device(self, matrix: Matrix) -> Matrix:
        """A sparse matrix of SciPy as one of the module of the vectors."""
        if matrix.nnz < 2**31:  # half the memory traffic of indices
            indices = (matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
            matrix = sparse.csr_array((matrix.data, *indices), shape=matrix.shape)
        if self.space.xp is np:
            return matrix
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix(sparse.csr_matrix(matrix))

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
            differences = _times(difference)
            if differences.nnz == 0:  # along y, with one cell
                return
            rows_of_a.append(self._in_row(direction, _times(transport)))
            rows_of_b.append(self._in_row(component, _times(mean)))
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

    def _linear(self, walls: list[_Wall]) -> tuple[Matrix, npt.NDArray[np.float64]]:
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
                _times((planes, y.identity, x.second_difference))
                + _times((planes, y.second_difference, x.identity))
                + _times((along_z, y.identity, x.identity))
            )
        for component in range(2):
            constant[component, 0] += nu * wall_terms[0] * walls[0].velocity[component]
            constant[component, -1] += nu * wall_terms[1] * walls[1].velocity[component]
            constant[component] += self._driving[component].gradient
        about_x, about_y, about_z = twice = self._twice_rotation()
        if any(twice):  # eq. (11)
            wind = [float(part) for part in self.case["flow.rotation.geostrophic"] or (0.0, 0.0)]
            blocks[0][1] = about_z * _times((z.identity, y.mean_down, x.mean_up))
            blocks[0][2] = -about_y * _times((z.mean_down, y.identity, x.mean_up))
            blocks[1][2] = about_x * _times((z.mean_down, y.mean_up, x.identity))
            blocks[1][0] = -about_z * _times((z.identity, y.mean_up, x.mean_down))
            blocks[2][0] = about_y * _times((z.flux_mean, y.identity, x.mean_down))
            blocks[2][1] = -about_x * _times((z.flux_mean, y.mean_down, x.identity))
            constant[0] -= about_z * wind[1]
            constant[1] += about_z * wind[0]
            constant[2, :-1] += about_x * wind[1] - about_y * wind[0]
        return _without_zeros(sparse.block_array(blocks, format="csr")), constant.ravel()

    def _twice_rotation(self) -> tuple[float, float, float]:
        """2 Omega in units of U/h."""
        rotation = self.case["flow.rotation"]
        if not isinstance(rotation, Mapping):
            return (0.0, 0.0, 0.0)
        names = {"streamwise": [1, 0, 0], "spanwise": [0, 1, 0], "wall_normal": [0, 0, 1]}
        axis = rotation.get("axis") or "spanwise"
        direction = np.array(names[axis] if isinstance(axis, str) else axis, float)
        parts = float(rotation["number"]) * direction / np.linalg.norm(direction)
        return (float(parts[0]), float(parts[1]), float(parts[2]))

    def _divergence_and_gradient(self) -> tuple[Matrix, Matrix]:
        x, y, z = self._x, self._y, self._z
        divergence = [
            _times((z.identity, y.identity, x.difference_down)),
            _times((z.identity, y.difference_down, x.identity)),
            _times((z.difference_down, y.identity, x.identity)),
        ]
        gradient = [
            _times((z.identity, y.identity, x.difference_up)),
            _times((z.identity, y.difference_up, x.identity)),
            _times((z.difference_up, y.identity, x.identity)),
        ]
        return sparse.csr_array(sparse.hstack(divergence, format="csr")), sparse.vstack(gradient, format="csr")

    def _prepare_projection(self) -> None:
        """div grad along z has the eigenvectors s^-1 Q with s = dz^(1/2) and s Lz s^-1 = Q (eigenvalues) Q^T."""
        xp, root = self.space.xp, np.sqrt(self.space.dz)
        operator = (self._z.difference_down @ self._z.difference_up).toarray() * root[:, None] / root
        values, vectors = np.linalg.eigh((operator + operator.T) / 2)
        values[-1] = 0  # of the constant
        squares = self._x.squared_wavenumbers[None, None, :] + self._y.squared_wavenumbers[None, :, None]
        factors = values[:, None, None] - squares
        factors[-1, 0, 0] = np.inf  # the mean of phi is 0
        self._inverse = xp.asarray(1 / factors)
        self._to_vectors = xp.asarray(np.ascontiguousarray(vectors.T * root))
        self._from_vectors = xp.asarray(np.ascontiguousarray(vectors / root[:, None]))

    # --- products with vectors ---

    def times(self, matrix: Matrix, vector: Array) -> Array:
        """A real matrix, sparse or not, times a real or complex vector."""
        if vector.dtype.kind == "c":
            parts = self.space.xp.ascontiguousarray(vector).view(float).reshape(-1, 2)
            return self.space.xp.ascontiguousarray(matrix @ parts).view(complex).ravel()
        return matrix @ vector

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
            inverse = _diagonal(1 / w)
            self._adjoint = (
                self.to_device(sparse.csr_array(inverse @ host["A"].T)),
                self.to_device(sparse.csr_array(inverse @ host["B"].T)),
                self.to_device(sparse.csr_array(host["D"].T @ _diagonal(w))),
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
        products = _diagonal(a) @ host["B"] + _diagonal(b) @ host["A"]
        return _without_zeros(host["K"] - host["D"] @ products)

    def adjoint_of(self, matrix: Matrix) -> Matrix:
        """M+ of a matrix M of SciPy."""
        w = on_host(self.space.weights)
        return sparse.csr_array(_diagonal(1 / w) @ matrix.T @ _diagonal(w))

    # --- projection ---

    def solve_poisson(self, right_side: Array) -> Array:
        """phi at cell centres, of mean 0, with div grad phi = right_side, of which the mean is dropped."""
        xp, shape = self.space.xp, self.space.shape
        planes = xp.ascontiguousarray(right_side).view(float).reshape(shape[0], -1)
        values = (self._to_vectors @ planes).view(right_side.dtype).reshape(shape)
        if right_side.dtype.kind == "c":
            values = xp.fft.ifft2(xp.fft.fft2(values, axes=(1, 2)) * self._inverse, axes=(1, 2))
        else:
            half = self._inverse[:, :, : shape[2] // 2 + 1]
            values = xp.fft.irfft2(xp.fft.rfft2(values, axes=(1, 2)) * half, s=shape[1:], axes=(1, 2))
        planes = xp.ascontiguousarray(values).view(float).reshape(shape[0], -1)
        return (self._from_vectors @ planes).view(right_side.dtype).ravel()

    def project(self, q: Array) -> Array:
        """P q = q - grad (div grad)^-1 div q, and w = 0 on the top wall: the nearest solenoidal field, P+ = P.

        Without the velocities of walls, which do not enter the divergence.
        """
        q = q - self.times(self.gradient, self.solve_poisson(self.times(self.divergence, q)))
        q.reshape(3, *self.space.shape)[2, -1] = 0
        return q

    def set_means(self, u: Array) -> Array:
        """Adds the uniform velocities that give the means of u and v the values that the forcing holds."""
        return self._with_means(u, 1.0)

    def project_perturbation(self, q: Array) -> Array:
        """P q without the means of u and v that the forcing holds: a uniform force takes them away. P+ = P."""
        return self._with_means(self.project(q), 0.0)

    def _with_means(self, u: Array, factor: float) -> Array:
        u, shape = u.copy(), (3, self._cells)
        for component, driving in enumerate(self._driving):
            if driving.mean is not None:
                part = u.reshape(shape)[component]
                mean = (self.space.weights.reshape(shape)[component] * part).sum()  # these weights add up to 1
                part += factor * driving.mean - mean
        return u
