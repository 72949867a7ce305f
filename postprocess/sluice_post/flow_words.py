"""Which flow a run is of, in words: type, drive, forces, walls, scalars. Numbers as in the case."""

from __future__ import annotations

import re
from math import hypot

from sluice_post import layout
from sluice_post.case_text import value_at
from sluice_post.flow import EKMAN, NAMES, Flow, Held, constant, ekman_reynolds
from sluice_post.parameters import FlowParameters, velocity_of
from sluice_post.scalars import Scalar, ScalarWall

_DRIVES = {
    "bulk_velocity": "at a given bulk velocity",
    "pressure_gradient": "under a given force",
    "power": "at a given power",
}
_VELOCITIES = {"re_b": "U_b", "re_w": "U_w", "re_tau": "u_tau"}
REYNOLDS = {"re_b": "Re_b", "re_w": "Re_w", "re_tau": "Re_tau"}
_BUOYANCY_NUMBERS = {
    layout.SET_RICHARDSON: "Ri",
    layout.SET_FRICTION_RICHARDSON: "Ri_tau",
    layout.SET_GRASHOF: "Gr",
    layout.SET_RAYLEIGH: "Ra",
}
_SOURCES = {
    "uniform": "uniform source",
    "streamwise": "source along the flow, u times",
    "bulk_value": "source that holds the mean at",
}
_ACTUATIONS = {
    "oscillation": "oscillates",
    "travelling_wave": "moves in a travelling wave",
    "blowing_suction": "blows and sucks",
    "opposition_control": "opposes the wall-normal velocity above it",
}

_UNITS = {"amplitude": " U", "speed": " U", "period": " h/U", "height": " h"}
_UNITS |= {"wavelength_x": " h", "wavelength_y": " h"}
UNIT_NOTE = "U is the unit of velocity of the case"


def held_text(held: Held) -> str:
    """For example `Re_tau = 180`."""
    return f"{REYNOLDS[held.key]} = {held.value:.5g}"


def _drive(parameters: FlowParameters) -> str:
    """What drives the mean flow. A formula is stored in quotes, and a table as the word and a hash."""
    text = ""
    for section, axis in ((layout.SET_FORCING, ""), (layout.SET_SPANWISE_FORCING, " along y")):
        for kind, words in _DRIVES.items():
            if (value := parameters.sampled.get(f"{section}.{kind}")) is None:
                continue
            formula = isinstance(value, str) and value.startswith('"')
            varying = f" that follows {str(value)[1:-1]}" if formula else ""
            if isinstance(value, str) and value.startswith("table"):
                varying = " that follows a table in time"
            text += f"{' and' if text else ''} {words}{axis}{varying}"
    return text


def _direction(vector: tuple[float, float, float]) -> str:
    """+x, -z, or the components of a vector of length 1."""
    length = hypot(*vector)
    axes = [f"{'-' if value < 0 else '+'}{axis}" for axis, value in zip("xyz", vector, strict=True) if value != 0]
    return axes[0] if len(axes) == 1 else "[" + ", ".join(f"{value / length:.3g}" for value in vector) + "]"


def _rotation(parameters: FlowParameters, flow: Flow, held: Held | None) -> str:
    """The frame, with the number 2 Omega h/U, U that of the Reynolds number; of an Ekman layer Re_D."""
    if not any(flow.rotation):
        return ""
    if flow.kind == EKMAN:
        re_d = ekman_reynolds(parameters)
        return "below a geostrophic flow in a rotating frame" + (f", Re_D = G D/nu = {re_d:.5g}" if re_d else "")
    names = {"x": "streamwise axis", "y": "spanwise axis", "z": "wall-normal axis"}
    axes = [axis for axis, rate in zip("xyz", flow.rotation, strict=True) if rate != 0]
    rate, axis = hypot(*flow.rotation), f"axis along {_direction(flow.rotation)}"
    side = ""
    if len(axes) == 1:
        axis, rate = names[axes[0]], sum(flow.rotation)
        if axes == ["y"] and parameters.no_slip_bottom and parameters.no_slip_top:
            side = f"; the {'top' if rate > 0 else 'bottom'} wall is the pressure side of a flow along +x"
    if held is None:
        return f"in a frame that rotates about its {axis}, 2 Omega h^2/nu = {rate:.4g}{side}"
    number = f"2 Omega h/{_VELOCITIES[held.key]} = {rate / held.of_velocity:.4g}"
    return f"in a frame that rotates about its {axis}, {number}{side}"


def _buoyancy(parameters: FlowParameters, flow: Flow) -> str:
    if flow.buoyancy is None:
        return ""
    sampled = parameters.sampled
    numbers = [f"{name} = {sampled[key]}" for key, name in _BUOYANCY_NUMBERS.items() if key in sampled]
    gravity = f"gravity along {_direction(flow.buoyancy.gravity)}" if any(flow.buoyancy.gravity) else ""
    return ", ".join(part for part in (f"buoyancy of {flow.buoyancy.scalar.name}", *numbers, gravity) if part)


def _at(wall: ScalarWall) -> str:
    return f"{wall.kind} {wall.formula or format(wall.amount, 'g')}"


def _scalar(scalar: Scalar) -> str:
    bottom, top = _at(scalar.bottom), _at(scalar.top)
    walls = f"{bottom} at both walls" if bottom == top else f"{bottom} at the bottom wall and {top} at the top wall"
    words = _SOURCES.get(scalar.source, f"source {scalar.source}")
    source = "" if scalar.source == "none" else f", {words} {scalar.source_amount:g}"
    return f"{scalar.name} (Pr {scalar.prandtl:g}, {walls}{source})"


def _scalars(flow: Flow) -> str:
    if not flow.scalars:
        return ""
    passive = flow.buoyancy is None
    return f"{'passive scalars' if passive else 'scalars'}: {', '.join(map(_scalar, flow.scalars))}"


def _wall(parameters: FlowParameters, wall: str) -> str:
    """What a wall does beside moving steadily in its plane, for a sentence."""
    sampled, prefix = parameters.sampled, f"walls.{wall}."
    keys = {
        key.removeprefix(f"{prefix}actuation."): value
        for key, value in sorted(sampled.items())
        if key.startswith(f"{prefix}actuation.")
    }
    parts = []
    if (kind := str(keys.pop("type", ""))) != "":
        keys.pop("units", None)
        values = ", ".join(_with_unit(key, value, kind) for key, value in keys.items())
        parts.append(f"{_ACTUATIONS.get(kind, kind)} ({values})")
    if (slip := constant(sampled.get(f"{prefix}slip_length"))) is not None:
        parts.append(f"has the slip length {slip:g} h")
    velocity = velocity_of(sampled, wall)
    if any(isinstance(value, str) for value in velocity) or velocity[2] != 0:
        parts.append(f"has the velocity ({', '.join(map(str, velocity))}) U")
    return " and ".join(parts)


def _with_unit(key: str, value: int | float | str, kind: str) -> str:
    """A key of an actuation, with its unit. Files of samples use outer units (h and U), whatever the case uses."""
    unit = "" if key == "amplitude" and kind == "opposition_control" else _UNITS.get(key, "")
    return f"{key.replace('_', ' ')} {_rounded(value)}{unit}"


def _rounded(value: int | float | str) -> str:
    number = constant(value)
    return str(value) if number is None else f"{number:.4g}"


def _walls(parameters: FlowParameters) -> str:
    bottom, top = _wall(parameters, "bottom"), _wall(parameters, "top")
    if bottom and bottom == top:
        return f"each wall {bottom}"
    return ", ".join(f"the {name} wall {text}" for name, text in (("bottom", bottom), ("top", top)) if text)


def flow_text(parameters: FlowParameters, flow: Flow, held: Held | None) -> str:
    """One sentence without its full stop."""
    text = f"{NAMES.get(flow.kind, flow.kind)}{_drive(parameters)}"
    if held is not None and held.by_case and flow.kind != EKMAN:
        text += f", {held_text(held)} by the case"
    two = "in two dimensions only" if flow.two_dimensional else ""
    moving = flow.spanwise if "walls move" in flow.spanwise else ""
    parts = (
        _rotation(parameters, flow, held),
        flow.hartmann and f"in a magnetic field normal to the walls, Ha = {flow.hartmann:.5g}",
        _buoyancy(parameters, flow),
        _walls(parameters),
        moving and "the walls move relative to each other along y",
        two,
        _scalars(flow),
    )
    found = "; ".join([text, *(part for part in parts if part)])
    return f"{found} ({UNIT_NOTE})" if re.search(r"\bU\b", _walls(parameters)) else found


def flow_of_case(case_text: str) -> str:
    """A description of the flow from the resolved case alone, for a run without samples; empty without a case."""
    kind = value_at(case_text, "flow", "type")
    if kind is None:
        return ""

    def product(section: str, key: str) -> str:
        numbers = value_at(case_text, section, key)
        return " x ".join(f"{number:.4g}" for number in numbers) if isinstance(numbers, list) else "unknown size"

    def numbers(section: str) -> str:
        found = value_at(case_text, "flow", section)
        if not isinstance(found, dict):
            return ""
        return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in found.items())

    scalars = value_at(case_text, "scalars")
    names = [str(one.get("name")) for one in scalars if isinstance(one, dict)] if isinstance(scalars, list) else []
    parts = {
        "flow.reynolds": numbers("reynolds"),
        "flow.forcing": numbers("forcing") or "none",
        "flow.rotation": numbers("rotation"),
        "flow.magnetic_field": numbers("magnetic_field"),
        "flow.buoyancy": numbers("buoyancy"),
        "scalars": ", ".join(names),
        "initial.type": str(value_at(case_text, "initial", "type") or ""),
    }
    of_case = "; ".join(f"{key}: {text}" for key, text in parts.items() if text)
    box = f"{product('domain', 'size')}, {product('grid', 'cells')} cells"
    return f"{NAMES.get(str(kind), str(kind))}, {box}; by the case, {of_case}"


def unknown_flow_note(flow: Flow | None) -> str:
    """What the reader must know of files that do not say which flow they describe; empty for a plain flow."""
    if flow is None or flow.is_plain:
        return ""
    return f"note: this run is not a plain flow: {flow.name}. The files do not say which flow they describe."
