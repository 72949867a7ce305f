"""Velocity fields as vectors: their inner product, projection and symmetries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import UsageError
from ..field import on_host
from .symmetry import Symmetry, generated_group

if TYPE_CHECKING:
    from ..simulation import Simulation

Array = Any
"""A NumPy array or, where simulations run on a GPU and CuPy is installed, an array in GPU memory."""


def array_module() -> ModuleType:
    """CuPy in a GPU build where it can be imported, otherwise NumPy; NumPy for AMD GPUs too.

    CuPy for ROCm neither provides nor accepts __cuda_array_interface__.
    """
    if _core.is_gpu:
        try:
            import cupy
        except ImportError:
            return np
        if not cupy.cuda.runtime.is_hip:
            return cupy  # type: ignore[no-any-return]
    return np


class Space:
    """The velocity fields of a grid, as vectors of 3 nx ny nz numbers: u, v and w one after another, each (nz, ny, nx).

    The points of w are at z faces, including those of the top wall, where w is 0; values are in units of U and have no
    halo. Vectors of states are total velocities. The inner product is that of the energy of the scheme:

        <a, b> = 1/V sum over cells of dx dy ( dz_k (a_u b_u + a_v b_v) + dzc_k a_w b_w )

    so that norm(q)^2 is twice the mean kinetic energy, summed at the points of u, v and w themselves. Vectors live
    where the simulation does: in GPU memory if CuPy is installed.
    """

    def __init__(self, simulation: Simulation) -> None:
        if simulation.size > 1:
            raise UsageError(f"sluice.dynamics works on one process, and this simulation has {simulation.size}")
        self.xp: ModuleType = array_module()
        """NumPy or CuPy, the module of the vectors."""
        u, w = simulation.u, simulation.w
        nz, ny, nx = u.shape
        self.shape = (nz, ny, nx)
        """The shape of one component."""
        self.size = 3 * nz * ny * nx
        """The number of elements of a vector."""
        x, y = u.coords["x"], u.coords["y"]
        self.faces: npt.NDArray[np.float64] = np.concatenate([[0.0], w.coords["z"]])
        """z of the nz + 1 faces of the cells."""
        self.centres: npt.NDArray[np.float64] = np.asarray(u.coords["z"])
        """z of u and v."""
        self.lengths = (float(x[-1]), float(2 * y[0] * ny), float(self.faces[-1]))
        """Lx, Ly and Lz."""
        self.dz: npt.NDArray[np.float64] = np.diff(self.faces)
        """Heights of the cells."""
        self.dzc: npt.NDArray[np.float64] = np.append((self.dz[:-1] + self.dz[1:]) / 2, self.dz[-1])
        """Distances between centres, across the upper face of each cell."""
        height, points = self.lengths[2], nx * ny
        ones = np.ones((1, ny, nx)) / (height * points)
        lines = [self.dz[:, None, None] * ones, self.dz[:, None, None] * ones, self.dzc[:, None, None] * ones]
        self.weights: Array = self.xp.asarray(np.concatenate([line.ravel() for line in lines]))
        """The weight of each number in the inner product."""

    def pack(self, u: Array, v: Array, w: Array) -> Array:
        """The vector of three components, each of which may be anything that broadcasts to (nz, ny, nx)."""
        xp = self.xp
        return xp.concatenate([xp.broadcast_to(xp.asarray(part, float), self.shape).ravel() for part in (u, v, w)])

    def unpack(self, vector: Array) -> tuple[Array, Array, Array]:
        """Views of u, v and w, each (nz, ny, nx). Raises ValueError for anything but a vector of this space.

        A NumPy vector is copied where vectors are CuPy arrays.
        """
        if getattr(vector, "shape", None) != (self.size,):
            raise ValueError(f"a vector of this space is an array of shape ({self.size},), not {type(vector).__name__}")
        u, v, w = self.xp.asarray(vector).reshape(3, *self.shape)
        return u, v, w

    def coordinates(self, name: str) -> tuple[Array, Array, Array]:
        """x of shape (nx,), y of (ny, 1) and z of (nz, 1, 1) of the points of "u", "v" or "w"."""
        xp, (_, ny, nx) = self.xp, self.shape
        x = (xp.arange(nx) + (1.0 if name == "u" else 0.5)) * (self.lengths[0] / nx)
        y = (xp.arange(ny) + (1.0 if name == "v" else 0.5)) * (self.lengths[1] / ny)
        z = xp.asarray(self.faces[1:] if name == "w" else self.centres)
        return x, y[:, None], z[:, None, None]

    def sample(self, **components: Callable[..., Any]) -> Array:
        """The vector of functions u, v and w of (x, y, z), which may be left out where they are 0.

        It need not be solenoidal: FlowMap.project makes it so.
        """
        return self.pack(*(components[name](*self.coordinates(name)) if name in components else 0.0 for name in "uvw"))

    def inner(self, one: Array, other: Array) -> float:
        """Their inner product."""
        return float(self.xp.dot(self.weights * one, other))

    def norm(self, vector: Array) -> float:
        """The square root of the inner product with itself."""
        return float(self.inner(vector, vector) ** 0.5)

    def apply(self, symmetry: Symmetry, vector: Array) -> Array:
        """The image of a field under a symmetry: see Symmetry.

        Raises UsageError for a shift that is not a whole number of cells, for which the scheme has no such symmetry,
        and for a reflection of a grid along z that is not its own mirror image.
        """
        xp, (_, ny, nx) = self.xp, self.shape
        shifts = []
        for name, cells, shift in zip("xy", (nx, ny), symmetry.shift, strict=True):
            whole = round(shift * cells)
            if abs(shift * cells - whole) > 1e-9:
                raise UsageError(
                    f"a shift by {shift:g} of the box along {name} is {shift * cells:g} cells, no whole number"
                )
            shifts.append(whole)
        if symmetry.z < 0 and not np.allclose(self.dz, self.dz[::-1], rtol=1e-10, atol=0):
            raise UsageError("the lower and upper half of the grid differ: no symmetry reflects it along z")
        result = []
        for name, sign, part in zip("uvw", (symmetry.x, symmetry.y, symmetry.z), self.unpack(vector), strict=True):
            if symmetry.x < 0:  # a point at face i goes to -i - 2, a centre to -i - 1
                part = xp.roll(part[:, :, ::-1], -1 if name == "u" else 0, axis=2)
            if symmetry.y < 0:
                part = xp.roll(part[:, ::-1, :], -1 if name == "v" else 0, axis=1)
            if symmetry.z < 0:
                part = xp.roll(part[::-1], -1 if name == "w" else 0, axis=0)
            result.append(sign * xp.roll(part, (shifts[1], shifts[0]), axis=(1, 2)).ravel())
        return xp.concatenate(result)

    def symmetrize(self, symmetries: Sequence[Symmetry], vector: Array) -> Array:
        """The mean over the group that the symmetries generate: the nearest field that has them all."""
        if not symmetries:
            return vector
        group = generated_group(tuple(symmetries), self.shape[2], self.shape[1])
        return sum(self.apply(one, vector) for one in group) / len(group)

    def derivative(self, vector: Array, direction: str) -> Array:
        """d/dx or d/dy of each component at its own points, by trigonometric interpolation.

        The derivative of a state is solenoidal. Raises UsageError for any direction but "x" and "y".
        """
        xp = self.xp
        if direction not in ("x", "y"):
            raise UsageError(f"derivatives are along x or y, not {direction!r}")
        axis, length = {"x": (3, self.lengths[0]), "y": (2, self.lengths[1])}[direction]
        whole = vector.reshape(3, *self.shape)
        cells = whole.shape[axis]
        waves = 2j * np.pi / length * xp.arange(cells // 2 + 1)
        if cells % 2 == 0:
            waves[-1] = 0
        shape = [1, 1, 1, 1]
        shape[axis] = len(waves)
        return xp.fft.irfft(xp.fft.rfft(whole, axis=axis) * waves.reshape(shape), cells, axis=axis).ravel()

    def random(self, seed: int = 0) -> Array:
        """A vector of independent normal numbers, 0 on the walls; neither smooth nor solenoidal."""
        numbers = np.random.default_rng(seed).standard_normal(self.size)
        numbers.reshape(3, *self.shape)[2, -1] = 0
        return self.xp.asarray(numbers)

    def fields(self, vector: Array) -> Mapping[str, npt.NDArray[np.float64]]:
        """Copies of u, v and w as NumPy arrays (nz, ny, nx), for `initial` of a simulation and for files."""
        return {name: on_host(part).copy() for name, part in zip("uvw", self.unpack(vector), strict=True)}
