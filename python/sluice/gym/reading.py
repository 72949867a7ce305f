"""What is read of a flow: observations, and the drag and power of a wall. All in wall units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..simulation import Simulation
from ..together import read_together
from .config import BodyForce, Config, FlowPlane, Observation, Sensors, WallPressure, WallShear
from .layout import Layout
from .states import WallUnits

Array = npt.NDArray[np.float64]
PlaneKey = tuple[str, float | str]
"""A field and a height, or a velocity and the wall that has it, as of `read_together`."""
DRAG = WallShear("u")
BLOCK = 96 * 1024
"""Bytes of a plane of several flows, about a tenth of a cache of level 2."""


class Reading:
    """Planes of several flows as they now are, each read once: those that are asked for together are read together."""

    def __init__(self, simulations: Sequence[Simulation]) -> None:
        self._simulations = simulations
        self._found: dict[PlaneKey, npt.NDArray[Any]] = {}

    def __len__(self) -> int:
        return len(self._simulations)

    def fetch(self, planes: Iterable[PlaneKey]) -> None:
        """Reads those that were not read yet."""
        missing = [key for key in dict.fromkeys(planes) if key not in self._found]
        if not missing:
            return
        values = read_together(self._simulations, missing)
        for n, (name, place) in enumerate(missing):
            of_flow = not isinstance(place, str)
            self._found[name, place] = values[:, n].astype(np.float64, copy=False) if of_flow else values[:, n]

    def blocks(self) -> Iterator[tuple[slice, Reading]]:
        """What was read of a few flows at a time, so that computations with it stay in the cache."""
        size = next((values[0].nbytes for values in self._found.values()), BLOCK)
        step = max(1, BLOCK // size)
        for begin in range(0, len(self), step):
            part = slice(begin, begin + step)
            reading = Reading(self._simulations[part])
            reading._found = {key: values[part] for key, values in self._found.items()}
            yield part, reading

    def __getitem__(self, key: PlaneKey) -> Array:
        """A plane of all flows, (flows, ny, nx), in U and h."""
        self.fetch([key])
        return self._found[key]


class WallReader:
    """Reads flows at one wall, with w and heights counted from the wall into the fluid. Results are (flows, ny, nx).

    `sim`: any of the flows, which have the same grid.
    """

    def __init__(self, sim: Simulation, side: str, units: WallUnits) -> None:
        self._units = units
        self.side = side
        self.sign = 1.0 if side == "bottom" else -1.0
        first = 0 if side == "bottom" else -1
        centre = float(sim.u.coords["z"][first])
        self._centre = centre
        self._distance = centre if side == "bottom" else units.lz - centre
        faces = sim.w.coords["z"]
        # The face of w nearest to the wall inside the fluid; the last face is the top wall itself.
        self._face = float(faces[0] if side == "bottom" else faces[-2])
        self.velocity: tuple[PlaneKey, ...] = (("u", side), ("v", side), ("w", side))
        """Of the wall."""

    def _height(self, distance: float) -> float:
        """z of a distance from the wall in wall units."""
        z = distance * self._units.length
        return z if self.side == "bottom" else self._units.lz - z

    def planes_of(self, one: Observation) -> tuple[PlaneKey, ...]:
        """The planes that `observe` reads."""
        if isinstance(one, FlowPlane):
            return ((one.field, self._height(one.height)),)
        if isinstance(one, WallShear):
            return ((one.component, self._centre), (one.component, self.side))
        return (("p", self._centre),)

    def observe(self, reading: Reading, one: Observation) -> Array:
        """The observation of planes at the wall."""
        values, *wall = (reading[key] for key in self.planes_of(one))
        units = self._units
        if isinstance(one, WallShear):
            return np.asarray(units.nu * (values - wall[0]) / (self._distance * units.u_tau**2))
        if isinstance(one, WallPressure) or (isinstance(one, FlowPlane) and one.fluctuation):
            values = values - values.mean(axis=(1, 2), keepdims=True)
        name = one.field if isinstance(one, FlowPlane) else "p"
        if name == "p":
            return np.asarray(values / units.u_tau**2)
        return np.asarray(values * ((self.sign if name == "w" else 1.0) / units.u_tau))

    def planes_of_power(self, reading: Reading) -> list[PlaneKey]:
        """The planes that `power` reads beside the velocity of the wall: those of the components that act."""
        acts = {name: bool(reading[name, side].any()) for name, side in self.velocity}
        through: tuple[PlaneKey, ...] = (("w", self._face), ("p", self._centre)) if acts["w"] else ()
        return [*((name, self._centre) for name in "uv" if acts[name]), *through]

    def power(self, reading: Reading) -> Array:
        """The power that the wall gives to the fluid, at each of its cells, over rho u_tau0^3.

        docs/equations.md, "Power of the walls", in the differences of the scheme. Velocities tangential to the wall are
        taken at their own points.
        """
        units = self._units
        u, v, w = (reading[key] for key in self.velocity)
        w = self.sign * w
        power = np.zeros(w.shape)
        for name, at_wall, axis in (("u", u, 2), ("v", v, 1)):
            acts = at_wall.any(axis=(1, 2), keepdims=True)
            if acts.any():
                shear = units.nu * (reading[name, self._centre] - at_wall) / self._distance
                through = (w + np.roll(w, -1, axis=axis)) / 2
                np.add(power, -shear * at_wall + at_wall**2 * through / 2, out=power, where=acts)
        acts = w.any(axis=(1, 2), keepdims=True)
        if acts.any():
            inside = self.sign * reading["w", self._face]
            strain = units.nu * (inside - w) / (2 * self._distance)
            np.add(power, (reading["p", self._centre] - strain) * w + w * w * w / 2, out=power, where=acts)
        return np.asarray(power / units.u_tau**3)


class ForceLayer:
    """The layer near a wall in which a body force acts."""

    def __init__(self, sim: Simulation, side: str, force: BodyForce, units: WallUnits) -> None:
        self.field = "uvw"["xyz".index(force.component)]
        z = sim.fields[self.field].coords["z"]
        faces = np.concatenate([[0.0], sim.w.coords["z"]])
        centres = sim.u.coords["z"]
        between = np.concatenate([np.diff(centres), [units.lz - centres[-1]]])
        heights = between if self.field == "w" else np.diff(faces)
        distance = (z if side == "bottom" else units.lz - z) / units.length
        sign = -1.0 if side == "top" and force.component == "z" else 1.0
        self.profile = np.where(distance < 5 * force.depth, sign * np.exp(-distance / force.depth), 0.0)
        """The force at the heights of the field, for an amplitude of 1."""
        self.levels = np.flatnonzero(self.profile)
        """Where it acts, along z."""
        self.planes: list[PlaneKey] = [(self.field, float(z[k])) for k in self.levels]
        """Those that `work` reads."""
        self._weights = [float(self.profile[k] * heights[k]) for k in self.levels]
        self._scale = 1 / (units.length * units.u_tau)

    def work(self, reading: Reading) -> Array:
        """The power of the force of amplitude 1 on each column of cells, per wall area, over rho u_tau0^3."""
        total = sum(weight * reading[key] for weight, key in zip(self._weights, self.planes, strict=True))
        return np.asarray(total * self._scale)


def read_planes(
    reading: Reading, readers: list[WallReader], config: Config, layout: Layout
) -> npt.NDArray[np.float32] | None:
    """The observations that are planes, (flows, walls times planes, ny, nx), the planes of each wall together."""
    wanted = [(reader, one) for reader in readers for one in config.observations if not isinstance(one, Sensors)]
    if not wanted:
        return None
    reading.fetch(key for reader, one in wanted for key in reader.planes_of(one))
    shape = layout.patches if config.observe_patches else layout.cells
    planes = np.empty((len(reading), len(wanted), *shape), dtype=np.float32)
    for part, few in reading.blocks():
        for n, (reader, one) in enumerate(wanted):
            values = reader.observe(few, one)
            planes[part, n] = layout.average(values) if config.observe_patches else values
    return planes


def planes_per_wall(observations: tuple[Observation, ...]) -> int:
    """The number of planes that are observed at each wall."""
    return sum(not isinstance(one, Sensors) for one in observations)


def sensor_count(observations: tuple[Observation, ...]) -> int:
    """The number of values of all sensors."""
    return sum(len(one.points) * len(one.fields) for one in observations if isinstance(one, Sensors))


class SensorReader:
    """Reads fields at points. `sim`: any of the flows, which have the same grid."""

    def __init__(self, sim: Simulation, sensors: Sequence[Sensors], units: WallUnits) -> None:
        self._places: list[tuple[PlaneKey, int, int, float]] = []
        for one in sensors:
            for point in one.points:
                x, y, z = (float(value) * units.length for value in point)
                for name in one.fields:
                    coords = sim.fields[name].coords
                    scale = 1 / units.u_tau ** (2 if name == "p" else 1)
                    i, j = (_nearest(coords[axis], value) for axis, value in (("x", x), ("y", y)))
                    self._places.append(((name, z), j, i, scale))

    def read(self, reading: Reading) -> npt.NDArray[np.float32] | None:
        """All values, (flows, values): the fields of the first point, then those of the next. None without sensors."""
        if not self._places:
            return None
        reading.fetch(key for key, *_ in self._places)
        values = [scale * reading[key][:, j, i] for key, j, i, scale in self._places]
        return np.stack(values, axis=1, dtype=np.float32, casting="same_kind")


def _nearest(line: npt.NDArray[np.float64], value: float) -> int:
    """The index of the nearest of evenly spaced points of a periodic line."""
    step = float(line[1] - line[0]) if len(line) > 1 else 1.0
    return int(np.rint((value - float(line[0])) / step)) % len(line)
