"""What flow a run, or a published simulation, is of: all that decides its statistics but grid and box.

Two flows are compared only if they agree in all of it and in the Reynolds number that is held fixed (literature.find).
Numbers are in units of h, the unit of length of every case, and of nu, so they do not depend on the unit of velocity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import hypot, isfinite, nan

from sluice_post import layout
from sluice_post.parameters import Buoyancy, FlowParameters
from sluice_post.scalars import Scalar, ScalarWall

SAME_NUMBER = 0.03  # two numbers agree if they differ by at most this fraction

COUETTE, CHANNEL, OPEN_CHANNEL = "couette", "channel", "open_channel"
COUETTE_POISEUILLE, EKMAN, FREE_SLIP = "couette_poiseuille", "ekman", "free_slip"
NAMES = {
    CHANNEL: "Channel flow",
    COUETTE: "Couette flow",
    COUETTE_POISEUILLE: "Couette-Poiseuille flow",
    OPEN_CHANNEL: "Open-channel flow",
    EKMAN: "Ekman layer",
    FREE_SLIP: "Flow between free-slip walls",
    layout.PERIODIC: "Flow in a periodic box",
}
UNDRIVEN = "no force"
_DRIVES = ("bulk_velocity", "pressure_gradient", "power")


@dataclass(frozen=True)
class Held:
    """The Reynolds number by which a run is compared: re_b, re_w or re_tau.

    `by_case`: it is set by the case, not measured.
    """

    key: str
    value: float
    by_case: bool

    @property
    def of_velocity(self) -> float:
        """U h/nu with the velocity of this number: U_b, U_w or u_tau."""
        return self.value / 2 if self.key == "re_b" else self.value


@dataclass(frozen=True)
class Flow:
    """What flow it is. The defaults are those of a plain flow with a constant drive along x.

    `drive`: what is not so about the drive; `bottom` and `top`: what a wall does beside moving steadily along x.
    `rotation`: 2 Omega h^2/nu; of `buoyancy` the coefficient is g beta h^3/nu^2. `scalars` have no effect on the
    velocity, except for that of the buoyancy. `hartmann`: Ha of a magnetic field, 0 without one.
    """

    kind: str
    drive: str = ""
    rotation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    buoyancy: Buoyancy | None = None
    bottom: str = ""
    top: str = ""
    spanwise: str = ""
    two_dimensional: bool = False
    scalars: tuple[Scalar, ...] = ()
    hartmann: float = 0.0

    def differences(self, other: Flow) -> list[str]:
        """In what the velocity fields differ; empty if it is one flow, apart from the Reynolds number."""
        agreements = {
            "type of flow": self.kind == other.kind,
            "drive": self.drive == other.drive,
            "rotation": all(map(_near, self.rotation, other.rotation)),
            "magnetic field": _near(self.hartmann, other.hartmann),
            "buoyancy": _same_buoyancy(self.buoyancy, other.buoyancy),
            "bottom wall": self.bottom == other.bottom,
            "top wall": self.top == other.top,
            "flow along y": self.spanwise == other.spanwise,
            "two-dimensional": self.two_dimensional == other.two_dimensional,
        }
        return [name for name, agrees in agreements.items() if not agrees]

    @property
    def is_plain(self) -> bool:
        """Whether it is nothing but a flow of its kind, driven steadily."""
        return not self.differences(Flow(self.kind))

    @property
    def name(self) -> str:
        """The kind of flow, and in short what makes it another one than the plain flow of this kind."""
        walls = self.bottom + self.top
        found = {
            f"a drive that varies: {self.drive}": bool(self.drive) and self.drive != UNDRIVEN,
            UNDRIVEN: self.drive == UNDRIVEN,
            "rotation": any(self.rotation) and self.kind != EKMAN,
            "a magnetic field": self.hartmann != 0,
            "buoyancy": self.buoyancy is not None,
            "actuated walls": "actuation" in walls,
            "walls that slip": "slip_length" in walls,
            "walls of varying velocity": "velocity" in walls,
            f"flow along y, {self.spanwise}": bool(self.spanwise),
            "two dimensions only": self.two_dimensional,
        }
        parts = [part for part, there in found.items() if there]
        return NAMES.get(self.kind, self.kind) + (f" with {' and '.join(parts)}" if parts else "")


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= SAME_NUMBER * max(abs(a), abs(b))


def _same_buoyancy(a: Buoyancy | None, b: Buoyancy | None) -> bool:
    if a is None or b is None:
        return a is b
    ours, theirs = a.scalar, b.scalar
    return (
        _near(a.coefficient, b.coefficient)
        and all(map(_near, a.gravity, b.gravity))
        and _near(ours.prandtl, theirs.prandtl)
        and (a.reference, ours.bottom, ours.top, ours.source, ours.source_amount)
        == (b.reference, theirs.bottom, theirs.top, theirs.source, theirs.source_amount)
    )


def constant(value: int | float | str | None) -> float | None:
    """The number of a key of the case; None for a formula, a table, or nothing."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def _drives(parameters: FlowParameters) -> bool:
    """Whether a force along x drives the flow relative to the walls."""
    sampled = parameters.sampled
    if (bulk := constant(sampled.get(layout.SET_BULK_VELOCITY))) is not None:
        return bulk != (parameters.velocity_bottom[0] + parameters.velocity_top[0]) / 2
    keys = [key for kind in _DRIVES if (key := f"{layout.SET_FORCING}.{kind}") in sampled]
    if not keys and layout.SET_FORCING not in sampled:  # not recorded: the preset of the type
        return parameters.flow_type != COUETTE
    return any(constant(sampled[key]) != 0 for key in keys)


def _kind(parameters: FlowParameters) -> str:
    if parameters.flow_type == layout.PERIODIC:
        return layout.PERIODIC
    if parameters.is_ekman_layer:
        return EKMAN
    walls = parameters.no_slip_bottom + parameters.no_slip_top
    if walls < 2:
        return OPEN_CHANNEL if walls == 1 else FREE_SLIP
    if not parameters.walls_shear:
        return CHANNEL
    return COUETTE_POISEUILLE if _drives(parameters) else COUETTE


def _drive(parameters: FlowParameters, kind: str) -> str:
    """What is not a constant drive along x."""
    for drive in _DRIVES:
        value = parameters.sampled.get(f"{layout.SET_FORCING}.{drive}")
        if value is not None and constant(value) is None:
            return f"{drive.replace('_', ' ')} {_in_time(value)}"
    return UNDRIVEN if kind in (CHANNEL, OPEN_CHANNEL) and not _drives(parameters) else ""


def _in_time(value: int | float | str) -> str:
    """A formula is stored in quotes, and a table as the word and a hash."""
    text = str(value)
    return "by a table in time" if text.startswith("table") else f"= {text.strip(chr(34))}"


def _spanwise(parameters: FlowParameters) -> str:
    """What drives a flow along y."""
    parts = []
    for drive in _DRIVES:
        value = parameters.sampled.get(f"{layout.SET_SPANWISE_FORCING}.{drive}")
        if value is not None and constant(value) != 0:
            parts.append(f"{drive.replace('_', ' ')} {_in_time(value)}")
    if (speed := parameters.velocity_top[1] - parameters.velocity_bottom[1]) != 0:
        both = parameters.no_slip_bottom and parameters.no_slip_top
        parts += [f"the walls move at {speed:g} relative to each other"] if both else []
    return ", ".join(parts)


def _buoyancy(parameters: FlowParameters) -> Buoyancy | None:
    """With the coefficient in h and nu. One whose scalar cannot be read agrees with no other."""
    name = str(parameters.sampled.get(layout.SET_BUOYANT_SCALAR, "")).strip('"')
    if not name:
        return None
    if (found := parameters.buoyancy) is None:
        unknown = ScalarWall("unknown")
        return Buoyancy((0.0, 0.0, 0.0), Scalar(name, nan, unknown, unknown), coefficient=nan)
    if found.coefficient == 0:
        return None
    return replace(found, coefficient=found.coefficient / parameters.viscosity**2)


def flow_of(parameters: FlowParameters) -> Flow:
    """The flow of a run, from the resolved case that is stored with its samples."""
    kind = _kind(parameters)
    x, y, z = (rate / parameters.viscosity for rate in parameters.rotation)
    return Flow(
        kind,
        _drive(parameters, kind),
        (x, y, z),
        _buoyancy(parameters),
        parameters.control_bottom if parameters.no_slip_bottom else "",
        parameters.control_top if parameters.no_slip_top else "",
        _spanwise(parameters),
        parameters.cells[1] == 1,
        parameters.scalars,
        float((parameters.magnetic_drag / parameters.viscosity) ** 0.5),
    )


def _re_tau_of_force(parameters: FlowParameters) -> float | None:
    """Re_tau of the mean wall stress that balances a constant pressure gradient; None if there is more to balance."""
    force = constant(parameters.sampled.get(layout.SET_PRESSURE_GRADIENT))
    walls = parameters.no_slip_bottom + parameters.no_slip_top
    along_x = parameters.buoyancy is not None and parameters.buoyancy.gravity[0] != 0
    more = along_x or parameters.rotation[2] != 0 or parameters.magnetic_drag != 0
    if not force or walls == 0 or more:
        return None
    stress = abs(force) * parameters.size[2] / walls
    return float(stress**0.5) / parameters.viscosity


def held_reynolds(parameters: FlowParameters, measured: Mapping[str, float]) -> Held | None:
    """The number that the case holds fixed: Re_w by the walls, Re_tau by a force, Re_b by the bulk velocity.

    Where it holds none of them, as with a given power, the measured Re_tau; None if that is not known.
    """
    nu = parameters.viscosity
    if parameters.walls_shear:
        return Held("re_w", hypot(*parameters.velocity_difference) / 2 / nu, True)
    if (re_tau := _re_tau_of_force(parameters)) is not None:
        return Held("re_tau", re_tau, True)
    wall = parameters.velocity_bottom[0] if parameters.no_slip_bottom else parameters.velocity_top[0]
    bulk = constant(parameters.sampled.get(layout.SET_BULK_VELOCITY))
    if bulk is not None and bulk != wall:
        return Held("re_b", 2 * abs(bulk - wall) / nu, True)
    value = measured.get("re_tau", nan)
    return Held("re_tau", value, False) if isfinite(value) and value > 0 else None


def ekman_reynolds(parameters: FlowParameters) -> float | None:
    """Re_D = G D/nu with the depth D = sqrt(2 nu/f) of an Ekman layer under the velocity G."""
    speed, rate = hypot(*parameters.geostrophic), abs(parameters.rotation[2])
    if speed == 0 or rate == 0:
        return None
    return speed * float((2 * parameters.viscosity / rate) ** 0.5) / parameters.viscosity
