"""What is read of a flow: observations, and the drag and power of a wall. All in wall units."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..simulation import Simulation
from .config import BodyForce, Config, FlowPlane, Observation, Sensors, WallPressure, WallShear
from .layout import Layout
from .states import WallUnits

Array = npt.NDArray[np.float64]


class WallReader:
    """Reads the flow at one wall of a simulation, with w and heights counted from the wall into the fluid."""

    def __init__(self, sim: Simulation, side: str, units: WallUnits) -> None:
        self._sim, self._units = sim, units
        self.side = side
        self.sign = 1.0 if side == "bottom" else -1.0
        first = 0 if side == "bottom" else -1
        centre = float(sim.u.coords["z"][first])
        self._centre = centre
        self._distance = centre if side == "bottom" else units.lz - centre
        faces = sim.w.coords["z"]
        # The face of w nearest to the wall inside the fluid; the last face is the top wall itself.
        self._face = float(faces[0] if side == "bottom" else faces[-2])
        self._wall = sim.walls[side]

    def height(self, distance: float) -> float:
        """z of a distance from the wall in wall units."""
        z = distance * self._units.length
        return z if self.side == "bottom" else self._units.lz - z

    def plane(self, name: str, z: float) -> Array:
        """A plane of a field at z, in U and h."""
        return np.asarray(self._sim.plane(name, z=z).values, dtype=np.float64)

    def flow_plane(self, name: str, distance: float, fluctuation: bool) -> Array:
        """A field at a distance from the wall."""
        values = self.plane(name, self.height(distance))
        if fluctuation:
            values = values - values.mean()
        if name == "p":
            return np.asarray(values / self._units.u_tau**2)
        return np.asarray(values * ((self.sign if name == "w" else 1.0) / self._units.u_tau))

    def shear(self, component: str) -> Array:
        """The stress that the fluid exerts on the wall, over rho u_tau0^2."""
        units = self._units
        inside = self.plane(component, self._centre)
        wall = getattr(self._wall, component).values
        return np.asarray(units.nu * (inside - wall) / (self._distance * units.u_tau**2))

    def pressure(self) -> Array:
        """Its fluctuation in the cells at the wall."""
        values = self.plane("p", self._centre)
        return np.asarray((values - values.mean()) / self._units.u_tau**2)

    def power(self) -> Array:
        """The power that the wall gives to the fluid, at each of its cells, over rho u_tau0^3.

        docs/equations.md, "Power of the walls", in the differences of the scheme. Velocities tangential to the wall are
        taken at their own points.
        """
        wall, units = self._wall, self._units
        u, v = wall.u.values, wall.v.values
        w = self.sign * wall.w.values
        power = np.zeros(w.shape)
        for name, at_wall in (("u", u), ("v", v)):
            if at_wall.any():
                shear = units.nu * (self.plane(name, self._centre) - at_wall) / self._distance
                axis = 1 if name == "u" else 0
                through = (w + np.roll(w, -1, axis=axis)) / 2
                power += -shear * at_wall + at_wall**2 * through / 2
        if w.any():
            inside = self.sign * self.plane("w", self._face)
            strain = units.nu * (inside - w) / (2 * self._distance)
            power += (self.plane("p", self._centre) - strain) * w + w**3 / 2
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
        self._levels = [(float(z[k]), float(self.profile[k] * heights[k])) for k in np.flatnonzero(self.profile)]
        self._scale = 1 / (units.length * units.u_tau)

    def work(self, reader: WallReader) -> Array:
        """The power of the force of amplitude 1 on each column of cells, per wall area, over rho u_tau0^3."""
        total = sum(weight * reader.plane(self.field, z) for z, weight in self._levels)
        return np.asarray(total * self._scale)


def read_planes(readers: list[WallReader], config: Config, layout: Layout) -> npt.NDArray[np.float32] | None:
    """The observations that are planes, (walls times planes, ny, nx), the planes of each wall together."""
    found: list[Array] = []
    for reader in readers:
        for one in config.observations:
            if isinstance(one, FlowPlane):
                found.append(reader.flow_plane(one.field, one.height, one.fluctuation))
            elif isinstance(one, WallShear):
                found.append(reader.shear(one.component))
            elif isinstance(one, WallPressure):
                found.append(reader.pressure())
    if not found:
        return None
    planes = np.stack(found)
    return (layout.average(planes) if config.observe_patches else planes).astype(np.float32)


def planes_per_wall(observations: tuple[Observation, ...]) -> int:
    """The number of planes that are observed at each wall."""
    return sum(not isinstance(one, Sensors) for one in observations)


def sensor_count(observations: tuple[Observation, ...]) -> int:
    """The number of values of all sensors."""
    return sum(len(one.points) * len(one.fields) for one in observations if isinstance(one, Sensors))


class SensorReader:
    """Reads fields at points."""

    def __init__(self, sim: Simulation, sensors: tuple[Sensors, ...], units: WallUnits) -> None:
        self._sim = sim
        self._places: list[tuple[str, float, int, int, float]] = []
        for one in sensors:
            for point in one.points:
                x, y, z = (float(value) * units.length for value in point)
                for name in one.fields:
                    coords = sim.fields[name].coords
                    scale = 1 / units.u_tau ** (2 if name == "p" else 1)
                    i, j = (_nearest(coords[axis], value) for axis, value in (("x", x), ("y", y)))
                    self._places.append((name, z, j, i, scale))

    def read(self) -> npt.NDArray[np.float32]:
        """All values: the fields of the first point, then those of the next."""
        planes: dict[tuple[str, float], Any] = {}
        values = []
        for name, z, j, i, scale in self._places:
            if (name, z) not in planes:
                planes[name, z] = self._sim.plane(name, z=z).values
            values.append(scale * float(planes[name, z][j, i]))
        return np.array(values, dtype=np.float32)


def _nearest(line: npt.NDArray[np.float64], value: float) -> int:
    """The index of the nearest of evenly spaced points of a periodic line."""
    step = float(line[1] - line[0]) if len(line) > 1 else 1.0
    return int(np.rint((value - float(line[0])) / step)) % len(line)
