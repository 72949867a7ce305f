"""The coefficients and constants of the linearised equations, read from a case: viscosity, walls, forces, rotation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..case import Case
from ..errors import UsageError


def require_covered(case: Case) -> None:
    """Raises UsageError for a case with terms that the linearised equations do not cover."""
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


def viscosity_of(case: Case) -> float:
    """The viscosity in units of U h, from the Reynolds number of the case."""
    for name, value in (case["flow.reynolds"] or {}).items():
        if value is not None:
            return float(value) if name == "viscosity" else (2.0 if name == "bulk" else 1.0) / float(value)
    raise UsageError("the case has no flow.reynolds")


class Wall:
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


class Driving:
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


def twice_rotation(case: Case) -> tuple[float, float, float]:
    """2 Omega in units of U/h."""
    rotation = case["flow.rotation"]
    if not isinstance(rotation, Mapping):
        return (0.0, 0.0, 0.0)
    names = {"streamwise": [1, 0, 0], "spanwise": [0, 1, 0], "wall_normal": [0, 0, 1]}
    axis = rotation.get("axis") or "spanwise"
    direction = np.array(names[axis] if isinstance(axis, str) else axis, float)
    parts = float(rotation["number"]) * direction / np.linalg.norm(direction)
    return (float(parts[0]), float(parts[1]), float(parts[2]))
