"""The flow that a file belongs to, from the file's root attributes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace

from sluice_post import layout
from sluice_post.case_text import title_of
from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import Hdf5File, Values
from sluice_post.scalars import Scalar, sampled_scalars


@dataclass(frozen=True)
class Buoyancy:
    """The direction of gravity, the scalar that makes fluid light, and its acceleration per unit of the scalar.

    `reference`: the value of the scalar at which there is no force.
    """

    gravity: tuple[float, float, float]
    scalar: Scalar
    coefficient: float = 0.0
    reference: float = 0.0


_ACTUATED = {"streamwise": "u", "spanwise": "v"}


@dataclass(frozen=True)
class FlowParameters:
    """Geometry, viscosity, walls and origin of a run. Lengths and velocities in the units of the run."""

    flow_type: str
    viscosity: float
    size: tuple[float, float, float]
    cells: tuple[int, int, int]
    wall_bottom: str
    wall_top: str
    velocity_bottom: tuple[float, float, float]
    velocity_top: tuple[float, float, float]
    version: str = ""
    git_revision: str = ""
    resolved_case: str = ""
    control_bottom: str = ""  # what else the wall does, as text: varies, blows, slips; empty: nothing
    control_top: str = ""
    rotation: tuple[float, float, float] = (0.0, 0.0, 0.0)  # 2 Omega, of the frame
    magnetic_drag: float = 0.0  # Ha^2 nu: the force of a magnetic field is -magnetic_drag (u, v)
    buoyancy: Buoyancy | None = None
    # The keys of the case that the samples depend on; empty: not recorded.
    sampled: Values = field(default_factory=dict)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The scalars that the flow transports."""
        return sampled_scalars(self.sampled)

    @property
    def controlled(self) -> bool:
        """Whether a wall varies, lets fluid through or slips."""
        return bool(self.control_bottom or self.control_top)

    def shaken(self, wall: str) -> str:
        """Which of u and v vary on this wall, because it oscillates or its velocity is a formula."""
        velocity = zip("uv", velocity_of(self.sampled, wall), strict=False)
        letters = {letter for letter, value in velocity if isinstance(value, str)}
        component = str(self.sampled.get(f"walls.{wall}.actuation.component", "")).strip('"')
        if component in _ACTUATED:
            letters.add(_ACTUATED[component])
        return "".join(sorted(letters))

    @property
    def passes_fluid(self) -> bool:
        """Whether w on a wall may differ from 0."""
        words = ("velocity: ", "blowing_suction", "opposition_control")
        return any(word in text for text in (self.control_bottom, self.control_top) for word in words)

    @property
    def no_slip_bottom(self) -> bool:
        """Whether the wall at z = 0 has shear."""
        return self.wall_bottom != layout.FREE_SLIP

    @property
    def no_slip_top(self) -> bool:
        """Whether the wall at z = Lz has shear."""
        return self.wall_top != layout.FREE_SLIP

    @property
    def reach(self) -> float:
        """How far the view from a wall reaches: half the distance between two no-slip walls, else the whole height.

        In channels and open channels it is h, the unit of length. An Ekman layer may have any height.
        """
        return self.size[2] / 2 if self.no_slip_bottom and self.no_slip_top else self.size[2]

    @property
    def far_end(self) -> str:
        """The name of the place where the view from a wall ends."""
        if self.is_ekman_layer:
            return "top"
        return "centre" if self.no_slip_bottom and self.no_slip_top else "surface"

    @property
    def runs_along_x(self) -> bool:
        """Whether the mean flow is along x at every height: it neither turns nor is driven along y."""
        along_y = any(key.startswith(f"{layout.SET_SPANWISE_FORCING}.") for key in self.sampled)
        return self.rotation[2] == 0 and not along_y and self.wall_direction[1] == 0

    @property
    def is_even_along_y(self) -> bool:
        """Whether reversing y leaves the averages as they are, even if they cover no whole period of the walls."""
        turned = self.rotation[0] != 0 or (self.buoyancy is not None and self.buoyancy.gravity[1] != 0)
        shaken = any("v" in self.shaken(wall) for wall in ("bottom", "top"))
        return self.runs_along_x and not turned and not shaken

    @property
    def geostrophic(self) -> tuple[float, float]:
        """The velocity along x and y above an Ekman layer; 0 in any other flow."""
        return _geostrophic_of(self.sampled)

    @property
    def is_ekman_layer(self) -> bool:
        """Whether a geostrophic velocity drives the flow. The bulk velocity then depends on the domain's height."""
        return any(self.geostrophic)

    @property
    def inertial_period(self) -> float:
        """2 pi/f, with which the mean flow of an Ekman layer oscillates."""
        return 2 * math.pi / abs(self.rotation[2])

    @property
    def velocity_difference(self) -> tuple[float, float]:
        """Velocity of the top wall less that of the bottom wall, along x and y."""
        (bottom_x, bottom_y, _), (top_x, top_y, _) = self.velocity_bottom, self.velocity_top
        return top_x - bottom_x, top_y - bottom_y

    @property
    def walls_shear(self) -> bool:
        """Whether two walls with shear move relative to each other, in whatever direction."""
        return self.no_slip_bottom and self.no_slip_top and self.velocity_difference != (0, 0)

    @property
    def wall_direction(self) -> tuple[float, float]:
        """The direction in which the walls move relative to each other, along +x or with it; along x if they do not."""
        x, y = self.velocity_difference if self.walls_shear else (1.0, 0.0)
        length = math.copysign(math.hypot(x, y), x if x != 0 else y)
        return x / length, y / length

    def with_sampled(self, sampled: Values) -> FlowParameters:
        """The same run with the parameters of Blocks.sampled_parameters, which may be those of an earlier start."""
        if not sampled:
            return self
        _geostrophic_of(sampled)  # a damaged one fails here, where the error names the file

        def velocity(wall: str) -> tuple[float, float, float]:
            x, y, z = (0.0 if isinstance(value, str) else float(value) for value in velocity_of(sampled, wall))
            return x, y, z

        viscosity = float(str(sampled[layout.SET_VISCOSITY]))
        return replace(
            self,
            flow_type=str(sampled[layout.SET_FLOW_TYPE]),
            viscosity=viscosity,
            wall_bottom=str(sampled[layout.SET_WALL["bottom"]]),
            wall_top=str(sampled[layout.SET_WALL["top"]]),
            velocity_bottom=velocity("bottom"),
            velocity_top=velocity("top"),
            control_bottom=control_of(sampled, "bottom"),
            control_top=control_of(sampled, "top"),
            rotation=_rotation_of(sampled),
            magnetic_drag=float(str(sampled.get(layout.SET_HARTMANN, 0))) ** 2 * viscosity,
            buoyancy=_buoyancy_of(sampled, self.size[2]),
            sampled=sampled,
        )

    @property
    def title(self) -> str:
        """The title of the case; empty if it has none."""
        return title_of(self.resolved_case)


def velocity_of(sampled: Values, wall: str) -> list[float | str]:
    """The three components of the velocity of a wall, numbers or formulas; a free-slip wall has none."""
    found: list[float | str] = json.loads(str(sampled.get(layout.SET_VELOCITY[wall], "[0, 0, 0]")))
    return found


def control_of(sampled: Values, wall: str) -> str:
    """The keys by which a wall does more than move at a constant velocity in its own plane; empty if it does not."""
    velocity, found = velocity_of(sampled, wall), []
    if any(isinstance(value, str) for value in velocity) or velocity[2] != 0:
        found.append(f"velocity: {velocity}")
    prefix = f"walls.{wall}."
    for key, value in sorted(sampled.items()):
        if key.startswith((f"{prefix}actuation.", f"{prefix}slip_length")):
            found.append(f"{key.removeprefix(prefix)}: {value}")
    return ", ".join(found)


def _geostrophic_of(sampled: Values) -> tuple[float, float]:
    x, y = json.loads(str(sampled.get(layout.SET_GEOSTROPHIC, "[0, 0]")))
    return float(x), float(y)


def _rotation_of(sampled: Values) -> tuple[float, float, float]:
    if layout.SET_ROTATION_NUMBER not in sampled:
        return 0.0, 0.0, 0.0
    number, text = float(str(sampled[layout.SET_ROTATION_NUMBER])), str(sampled[layout.SET_ROTATION_AXIS])
    x, y, z = layout.ROTATION_AXES[text] if text in layout.ROTATION_AXES else json.loads(text)
    scale = number / math.hypot(x, y, z)
    return scale * x, scale * y, scale * z


def _friction_velocity_squared(sampled: Values, height: float) -> float:
    """The force of a constant pressure gradient on the fluid over the area of the walls that drag."""
    walls = sum(str(sampled[key]) != layout.FREE_SLIP for key in layout.SET_WALL.values())
    return float(str(sampled[layout.SET_PRESSURE_GRADIENT])) * height / walls


def _buoyancy_of(sampled: Values, height: float) -> Buoyancy | None:
    name = str(sampled.get(layout.SET_BUOYANT_SCALAR, "")).strip('"')
    found = [scalar for scalar in sampled_scalars(sampled) if scalar.name == name]
    if not found:
        return None
    x, y, z = json.loads(str(sampled[layout.SET_GRAVITY]))
    length = math.hypot(x, y, z)
    nu = float(str(sampled[layout.SET_VISCOSITY]))
    units = {
        layout.SET_RICHARDSON: 1.0,
        layout.SET_GRASHOF: nu**2 / 8,
        layout.SET_RAYLEIGH: nu**2 / found[0].prandtl / 8,
    }
    if layout.SET_FRICTION_RICHARDSON in sampled:
        units[layout.SET_FRICTION_RICHARDSON] = _friction_velocity_squared(sampled, height)
    coefficient = sum(float(str(sampled[key])) * unit for key, unit in units.items() if key in sampled)
    reference = float(str(sampled.get(layout.SET_BUOYANCY_REFERENCE, 0)))
    return Buoyancy((x / length, y / length, z / length), found[0], coefficient, reference)


def read_parameters(file: Hdf5File) -> FlowParameters:
    """The flow parameters in the root attributes of statistics.h5."""

    def number(name: str) -> float:
        value = file.value(name)
        if isinstance(value, str):
            raise InputOutputError(f"{file.path}: the attribute '{name}' is not a number but '{value}'")
        return float(value)

    nx, ny, nz = (int(number(name)) for name in layout.ATTR_CELLS)
    length_x, length_y, length_z = (number(name) for name in layout.ATTR_SIZE)
    bottom_x, bottom_y = (number(name) for name in layout.ATTR_VELOCITY_BOTTOM)
    top_x, top_y = (number(name) for name in layout.ATTR_VELOCITY_TOP)
    return FlowParameters(
        flow_type=str(file.value(layout.ATTR_FLOW_TYPE)),
        viscosity=number(layout.ATTR_VISCOSITY),
        size=(length_x, length_y, length_z),
        cells=(nx, ny, nz),
        wall_bottom=str(file.value(layout.ATTR_WALL_BOTTOM)),
        wall_top=str(file.value(layout.ATTR_WALL_TOP)),
        velocity_bottom=(bottom_x, bottom_y, 0.0),
        velocity_top=(top_x, top_y, 0.0),
        version=str(file.value(layout.ATTR_VERSION)),
        git_revision=str(file.value(layout.ATTR_REVISION)),
        resolved_case=str(file.value(layout.ATTR_CASE)),
    )
