"""Checkpoints: the flow on its staggered grid, one plane of cells at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)

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
    numbers = [float(component) for component in velocity if isinstance(component, (int, float))]
    return Wall(True, tuple(numbers)) if len(numbers) == 3 else None


class Checkpoint:
    """An open checkpoint; its planes come with those of the `scalars`."""

    def __init__(self, file: Hdf5File, scalars: Sequence[str] = ()) -> None:
        self.file, self.scalars = file, scalars
        self.grid = file.coordinates()
        case = str(file.value(layout.ATTR_CASE))
        self.shape = tuple(self.grid[f"grid/{axis}"].size for axis in "zyx")
        dx, dy = (self.grid[f"grid/{axis}_node"][-1] / self.grid[f"grid/{axis}"].size for axis in "xy")
        self._operators = Operators(order_of(case), float(dx), float(dy))
        self._periodic_z = value_at(case, "flow", "type") == layout.PERIODIC
        known = [scalar.name for scalar in scalars_in(case)]
        if missing := [name for name in scalars if name not in known]:
            allowed = ", ".join([*CENTER_QUANTITIES, *known])
            raise UsageError(f"{file.path}: has no field '{missing[0]}'; one of {allowed}")
        bottom, top = wall_of(case, "bottom"), wall_of(case, "top")
        if bottom is None or top is None or self._operators.order not in (2, 4):
            raise InputOutputError(f"{file.path}: the case in it cannot be read, or its walls vary or slip")
        self._bottom, self._top = bottom, top

    def _with_neighbours(
        self, name: str, below: Callable[[Array], Array], above: Callable[[Array], Array]
    ) -> Iterator[tuple[Array, Array, Array]]:
        """The planes of a field, each between its neighbours. `below`, `above`: those beyond the first and the last."""
        planes = self.file.planes(name, self.shape)
        here = first = next(planes)
        before = self.file.some(name, self.shape, (-1,)).astype(float) if self._periodic_z else below(here)
        for after in planes:
            yield before, here, after
            before, here = here, after
        yield before, here, first if self._periodic_z else above(here)

    def planes(self) -> Iterator[Planes]:
        """All planes of cells from the bottom to the top. The last one comes only if the fields have their hashes."""
        bottom, top = self._bottom, self._top
        dz = np.pad(np.diff(self.grid["grid/z_node"]), 1, mode="edge")
        distances = (dz[1:] + dz[:-1]) / 2
        u = self._with_neighbours("u", lambda plane: bottom.beyond(plane, 0), lambda plane: top.beyond(plane, 0))
        v = self._with_neighbours("v", lambda plane: bottom.beyond(plane, 1), lambda plane: top.beyond(plane, 1))
        w = self._with_neighbours("w", lambda plane: np.full_like(plane, bottom.velocity[2]), lambda plane: plane)
        p = self.file.planes("p", self.shape)
        each_scalar = [self.file.planes(name, self.shape) for name in self.scalars]
        scalars = zip(*each_scalar, strict=True) if each_scalar else repeat((), self.shape[0])
        for k, (three_u, three_v, three_w, of_p, c) in enumerate(zip(u, v, w, p, scalars, strict=True)):
            yield Planes(
                three_u,
                three_v,
                three_w[:2],
                of_p,
                float(dz[k + 1]),
                (float(distances[k]), float(distances[k + 1])),
                self._operators,
                dict(zip(self.scalars, c, strict=True)),
            )
