"""Quantities at cell centres from the staggered velocity, as solver/derived/center_loops.hpp computes them.

Everything here is for one plane of cells, periodic along x and y: arrays are (y, x). docs/equations.md, Fields at cell
centres, has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sluice_post.arrays import Array

X, Y = 1, 0  # axes of a plane


class Operators:
    """Differences and interpolations along x and y, of order 2 or 4 (core/stencil/lines.hpp)."""

    def __init__(self, order: int, dx: float, dy: float) -> None:
        self.order = order
        self.spacing = {X: dx, Y: dy}

    def _below(self, f: Array, axis: int) -> tuple[Array, Array]:
        """Sum and difference of the points on both sides of those half a spacing below, over the spacing."""
        near, far = np.roll(f, 1, axis), np.roll(f, 2, axis)
        above = np.roll(f, -1, axis)
        if self.order == 2:
            return (near + f) / 2, f - near
        return 9 / 16 * (near + f) - (far + above) / 16, 9 / 8 * (f - near) - (above - far) / 24

    def to_center(self, f: Array, axis: int) -> Array:
        """Values on the upper faces interpolated to the centres."""
        return self._below(f, axis)[0]

    def face_to_center(self, f: Array, axis: int) -> Array:
        """The derivative at the centres of values on the upper faces."""
        return self._below(f, axis)[1] / self.spacing[axis]

    def along(self, f: Array, axis: int) -> Array:
        """The derivative at the points of f themselves: the differences half a spacing away, interpolated."""
        return np.roll(self.to_center(self.face_to_center(f, axis), axis), -1, axis)


@dataclass(frozen=True)
class Planes:
    """The flow around a plane of cells; u is on the upper x faces of the cells, v on the upper y faces.

    `u` and `v`: the planes below, at and above the cells; beyond a wall, the values that make the mean of both the
    velocity of the wall. `w`: on the faces below and above the cells. `dz`: the height of the cells. `distances`: from
    the centres below to those of the cells, and from these to the centres above.
    """

    u: tuple[Array, Array, Array]
    v: tuple[Array, Array, Array]
    w: tuple[Array, Array]
    p: Array
    dz: float
    distances: tuple[float, float]
    operators: Operators
    scalars: dict[str, Array] = field(default_factory=dict)

    @cached_property
    def velocity(self) -> list[Array]:
        """u, v and w at the centres."""
        to_center = self.operators.to_center
        return [to_center(self.u[1], X), to_center(self.v[1], Y), (self.w[0] + self.w[1]) / 2]

    @cached_property
    def gradient(self) -> Array:
        """gradient[a, b] is the derivative of component a along direction b, at the centres.

        Those along the component's own direction are the scheme's, so that their sum is its divergence.
        """
        op, w = self.operators, (self.w[0] + self.w[1]) / 2
        u, v = self.u[1], self.v[1]
        rows = [
            [op.face_to_center(u, X), op.to_center(op.along(u, Y), X), self._along_z(self.u, X)],
            [op.to_center(op.along(v, X), Y), op.face_to_center(v, Y), self._along_z(self.v, Y)],
            [op.along(w, X), op.along(w, Y), (self.w[1] - self.w[0]) / self.dz],
        ]
        return np.array(rows)

    def _along_z(self, three: tuple[Array, Array, Array], axis: int) -> Array:
        """The mean of the derivatives on the faces below and above, from the faces across `axis`."""
        below, here, above = three
        lower, upper = self.distances
        return self.operators.to_center(((above - here) / upper + (here - below) / lower) / 2, axis)


def fluctuation(f: Planes) -> list[Array]:
    """Velocity less its mean over the plane."""
    return [component - component.mean() for component in f.velocity]


def vorticity(f: Planes) -> list[Array]:
    """The curl of the velocity."""
    g = f.gradient
    return [g[2][1] - g[1][2], g[0][2] - g[2][0], g[1][0] - g[0][1]]


def second_invariant(f: Planes) -> list[Array]:
    """Q = -tr(A A)/2 of the velocity gradient A: Hunt, Wray & Moin, Report CTR-S88, 193 (1988)."""
    return [-np.einsum("abyx,bayx->yx", f.gradient, f.gradient) / 2]


def middle_eigenvalue(a: Array) -> Array:
    """The second largest eigenvalue of symmetric matrices (3, 3, ...), from their cubic equation by trigonometry."""
    mean = (a[0][0] + a[1][1] + a[2][2]) / 3
    x, y, z = (a[n][n] - mean for n in range(3))
    xy, xz, yz = a[0][1], a[0][2], a[1][2]
    radius = np.sqrt((x**2 + y**2 + z**2 + 2 * (xy**2 + xz**2 + yz**2)) / 6)
    determinant = x * (y * z - yz**2) - xy * (xy * z - yz * xz) + xz * (xy * yz - y * xz)
    safe = np.where(radius == 0, 1.0, radius)
    angle = np.arccos(np.clip(determinant / (2 * safe**3), -1, 1)) / 3
    middle: Array = mean + 2 * radius * np.cos(angle + 4 * np.pi / 3)
    return middle


def lambda2(f: Planes) -> list[Array]:
    """The second eigenvalue of the symmetric part of A A: Jeong & Hussain, J. Fluid Mech. 285, 69 (1995)."""
    square = np.einsum("acyx,cbyx->abyx", f.gradient, f.gradient)
    return [middle_eigenvalue((square + square.swapaxes(0, 1)) / 2)]


@dataclass(frozen=True)
class CenterQuantity:
    """What a quantity is: the names of its datasets with their long names, and how it is computed."""

    components: dict[str, str]
    of: Callable[[Planes], list[Array]]


def quantity_named(name: str) -> CenterQuantity:
    """One of CENTER_QUANTITIES, or a scalar."""
    scalar = CenterQuantity({name: f"scalar {name}"}, lambda f: [f.scalars[name]])
    return CENTER_QUANTITIES.get(name, scalar)


def _of_velocity(ending: str, meaning: str) -> dict[str, str]:
    directions = ("streamwise", "spanwise", "wall-normal")
    return {
        f"{name}{ending}": f"{direction} velocity{meaning}" for name, direction in zip("uvw", directions, strict=True)
    }


# By the names that case files have for output.fields; model/field_descriptor.cpp.
CENTER_QUANTITIES = {
    "velocity": CenterQuantity(_of_velocity("", ""), lambda f: f.velocity),
    "fluctuation": CenterQuantity(_of_velocity("_fluctuation", " less its mean over the plane"), fluctuation),
    "vorticity": CenterQuantity(
        {
            "omega_x": "streamwise vorticity dw/dy - dv/dz",
            "omega_y": "spanwise vorticity du/dz - dw/dx",
            "omega_z": "wall-normal vorticity dv/dx - du/dy",
        },
        vorticity,
    ),
    "q": CenterQuantity({"q": "second invariant of the velocity gradient"}, second_invariant),
    "lambda2": CenterQuantity({"lambda2": "second eigenvalue of strain squared plus rotation squared"}, lambda2),
    "p": CenterQuantity({"p": "pressure / (density U^2), in the middle of the last substep"}, lambda f: [f.p]),
}
