"""Checkpoints: the flow on its staggered grid, one plane of cells at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.case_text import value_at
from sluice_post.center_fields import CENTER_QUANTITIES, Operators, Planes
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.hdf5_file import Hdf5File
from sluice_post.scalars import scalars_in


@dataclass(frozen=True)
class Wall:
    """A no-slip wall with its velocity, or a free-slip wall."""

    no_slip: bool
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def beyond(self, plane: Array, component: int) -> Array:
        """u or v half a cell beyond the wall, from the plane next to it."""
        return 2 * self.velocity[component] - plane if self.no_slip else plane


def order_of(case_text: str) -> int:
    """solver.order of a resolved case; 2 for those from before there was order 4."""
    order = value_at(case_text, "solver", "order")
    return order if isinstance(order, int) else 2


def wall_of(case_text: str, side: str) -> Wall | None:
    """A wall of a resolved case, `bottom` or `top`; None if the text does not have it, or if it varies or slips."""
    wall = value_at(case_text, "walls", side)
    if not isinstance(wall, dict) or isinstance(wall.get("actuation"), dict):
        return None
    if wall.get("type") == layout.FREE_SLIP:
        return Wall(False)
    velocity = wall.get("velocity")
    if wall.get("type") != layout.NO_SLIP or not isinstance(velocity, list) or len(velocity) != 3:
        return None
    if not all(isinstance(component, (int, float)) for component in velocity):
        return None
    x, y, z = map(float, velocity)
    return Wall(True, (x, y, z))


class Checkpoint:
    """An open checkpoint; its planes come with those of the `scalars`."""

    def __init__(self, file: Hdf5File, scalars: Sequence[str] = ()) -> None:
        self.file, self.scalars = file, scalars
        self.grid = file.coordinates()
        self.case_text = str(file.value(layout.ATTR_CASE))
        self.shape = tuple(self.grid[f"grid/{axis}"].size for axis in "zyx")
        dx, dy = (self.grid[f"grid/{axis}_node"][-1] / self.grid[f"grid/{axis}"].size for axis in "xy")
        self.operators = Operators(order_of(self.case_text), float(dx), float(dy))
        self.periodic_z = value_at(self.case_text, "flow", "type") == layout.PERIODIC
        walls = [wall_of(self.case_text, side) for side in ("bottom", "top")]
        known = [scalar.name for scalar in scalars_in(self.case_text)]
        for name in scalars:
            if name not in known:
                allowed = ", ".join([*CENTER_QUANTITIES, *known])
                raise UsageError(f"{file.path}: has no field '{name}'; one of {allowed}")
        if None in walls or self.operators.order not in (2, 4):
            raise InputOutputError(f"{file.path}: the case in it cannot be read, or its walls vary or slip")
        self.walls = [wall for wall in walls if wall is not None]

    def _with_halo(self, name: str, component: int) -> Iterator[Array]:
        """The planes of u or v with those beyond the walls, or of the neighbouring period."""
        bottom, top = self.walls
        first = last = None
        for plane in self.file.planes(name, self.shape):
            if first is None:
                first = plane
                yield (self.file.plane(name, self.shape, -1) if self.periodic_z else bottom.beyond(plane, component))
            last = plane
            yield plane
        assert first is not None and last is not None
        yield first if self.periodic_z else top.beyond(last, component)

    def _with_bottom(self) -> Iterator[Array]:
        """The planes of w with that on the lowest face."""
        if self.periodic_z:
            yield self.file.plane("w", self.shape, -1)
        else:
            yield np.full(self.shape[1:], self.walls[0].velocity[2])
        yield from self.file.planes("w", self.shape)

    def planes(self) -> Iterator[Planes]:
        """All planes of cells from the bottom to the top. The last one comes only if the fields have their hashes."""
        dz = np.pad(np.diff(self.grid["grid/z_node"]), 1, mode="edge")
        distances = (dz[1:] + dz[:-1]) / 2
        u, v = (_groups(self._with_halo(name, n), 3) for n, name in enumerate("uv"))
        w = _groups(self._with_bottom(), 2)
        p = self.file.planes("p", self.shape)
        of_scalars = zip(*(self.file.planes(name, self.shape) for name in self.scalars), strict=True)
        scalars = of_scalars if self.scalars else repeat((), self.shape[0])
        for k, (three_u, three_v, two_w, of_p, c) in enumerate(zip(u, v, w, p, scalars, strict=True)):
            yield Planes(
                (three_u[0], three_u[1], three_u[2]),
                (three_v[0], three_v[1], three_v[2]),
                (two_w[0], two_w[1]),
                of_p,
                float(dz[k + 1]),
                (float(distances[k]), float(distances[k + 1])),
                self.operators,
                dict(zip(self.scalars, c, strict=True)),
            )


def _groups(planes: Iterator[Array], size: int) -> Iterator[tuple[Array, ...]]:
    """As many neighbours at a time."""
    group: deque[Array] = deque(maxlen=size)
    for plane in planes:
        group.append(plane)
        if len(group) == size:
            yield tuple(group)
