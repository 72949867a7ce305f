"""Symmetries of flows between plane walls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd


@dataclass(frozen=True)
class Symmetry:
    """Reflections along x, y and z, followed by shifts along x and y.

    (sigma q)(x') = (s_x q_u, s_y q_v, s_z q_w)(x) with x' = s x + shift, where s_x, s_y and s_z are 1 or -1, and z is
    reflected about the middle between the walls. Shifts are fractions of Lx and Ly. In plane Couette flow the equations
    have the symmetries with s_x = s_z, in a channel those with s_x = 1.

        shift_reflect = Symmetry(y=-1, shift=(0.5, 0))
        rotation = Symmetry(x=-1, z=-1, shift=(0.5, 0.5))
        both = shift_reflect @ rotation
    """

    x: int = 1
    y: int = 1
    z: int = 1
    shift: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        for name in "xyz":
            if getattr(self, name) not in (1, -1):
                raise ValueError(f"{name} of a symmetry is 1 or -1, not {getattr(self, name)!r}")

    def __matmul__(self, other: Symmetry) -> Symmetry:
        """The symmetry that applies `other` first, then this one."""
        shift = tuple(
            (mine + sign * theirs) % 1.0
            for mine, sign, theirs in zip(self.shift, (self.x, self.y), other.shift, strict=True)
        )
        return Symmetry(self.x * other.x, self.y * other.y, self.z * other.z, (shift[0], shift[1]))

    def order(self, nx: int, ny: int) -> int:
        """The order of the symmetry on a grid of nx by ny cells: the smallest n > 0 for which its n-th power is 1."""
        result = 1
        for sign, cells, shift in zip((self.x, self.y, self.z), (nx, ny, 1), (*self.shift, 0.0), strict=True):
            whole = round(shift * cells) % cells
            order = 2 if sign < 0 else cells // gcd(whole, cells)
            result = result * order // gcd(result, order)
        return result


@lru_cache
def generated_group(symmetries: tuple[Symmetry, ...], nx: int, ny: int) -> tuple[Symmetry, ...]:
    """All products of symmetries, with shifts by whole cells of a grid: each once, the identity first."""

    def on_grid(one: Symmetry) -> Symmetry:
        return replace(one, shift=(round(one.shift[0] * nx) % nx / nx, round(one.shift[1] * ny) % ny / ny))

    group = [Symmetry()]
    for one in group:  # it grows meanwhile
        for product in (on_grid(symmetry @ one) for symmetry in symmetries):
            if product not in group:
                group.append(product)
    return tuple(group)


SHIFT_REFLECT = Symmetry(y=-1, shift=(0.5, 0.0))
"""Reflection along y and a shift by half a box along x."""
ROTATION = Symmetry(x=-1, z=-1, shift=(0.5, 0.5))
"""Rotation by pi about an axis along y, and a shift by half a box along x and y."""
NAGATA = (SHIFT_REFLECT, ROTATION)
"""The symmetries of the equilibria of Nagata (1990) in plane Couette flow."""
