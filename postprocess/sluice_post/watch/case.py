"""What the page needs of the case, from resolved.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from pathlib import Path
from typing import Any

from sluice_post import layout
from sluice_post.case_text import read_yaml, title_of
from sluice_post.inputs import read_text
from sluice_post.scalars import Scalar, scalars_in


@dataclass(frozen=True)
class Case:
    """Units of the run; `end` and `steps` are None where the case does not set them."""

    title: str
    viscosity: float
    points: int
    height: float  # Lz
    # along x and y, of the no-slip walls, bottom and top
    wall_velocities: tuple[tuple[float, float] | None, tuple[float, float] | None]
    end: float | None
    steps: int | None
    # kappa (c_bottom - c_top)/Lz of each scalar without source between walls of different values: its flux if Nu = 1
    conducted_fluxes: dict[str, float]
    geostrophic_speed: float  # of an Ekman layer; 0 in any other flow

    @property
    def has_no_walls(self) -> bool:
        """Whether no wall exerts a shear stress."""
        return self.wall_velocities == (None, None)

    def percent_done(self, step: float, time: float) -> float:
        """Of the whole case, not of its latest start."""
        if self.steps is not None:
            return 100 * step / self.steps if self.steps > 0 else 100.0
        return 100 * time / self.end if self.end else 100.0

    def steps_left(self, step: float, time: float, dt: float, until: float | None) -> float:
        """To the end of the case, or to the time `until` if that is earlier."""
        ends = [self.steps - step] if self.steps is not None else []
        ends += [(end - time) / dt for end in (self.end, until) if end is not None and dt > 0]
        return max(0.0, min(ends, default=0.0))

    def friction(self, re_tau: float, bulk_velocity: float) -> float:
        """C_f with the bulk velocity, half the velocity difference of the walls, or the geostrophic velocity.

        `re_tau`: as in the time series. The shear stress of moving walls is taken along their velocity difference.
        """
        bottom, top = self.wall_velocities
        wall = next((velocity for velocity in self.wall_velocities if velocity is not None), (0.0, 0.0))
        along_x = speed = abs(bulk_velocity - wall[0])
        if bottom is not None and top is not None and bottom != top:
            along_x, along_y = abs(top[0] - bottom[0]) / 2, (top[1] - bottom[1]) / 2
            speed = hypot(along_x, along_y)
        if self.geostrophic_speed > 0:
            along_x = speed = self.geostrophic_speed
        stress = (re_tau * self.viscosity) ** 2
        return 2 * stress / (along_x * speed) if along_x > 0 else float("nan")


def _wall_velocity(wall: dict[str, Any]) -> tuple[float, float] | None:
    """Along x and y: 0 where it varies, as in key figures; None without a no-slip wall."""
    if wall["type"] != layout.NO_SLIP:
        return None

    def component(value: Any) -> float:
        try:
            return float(value)
        except ValueError:  # a formula of x, y and t
            return 0.0

    return component(wall["velocity"][0]), component(wall["velocity"][1])


def _conducted_fluxes(scalars: tuple[Scalar, ...], viscosity: float, height: float) -> dict[str, float]:
    return {
        scalar.name: viscosity / scalar.prandtl * (scalar.bottom.amount - scalar.top.amount) / height
        for scalar in scalars
        if scalar.source == "none"
        and scalar.bottom.kind == scalar.top.kind == "value"
        and not (scalar.bottom.formula or scalar.top.formula)
        and scalar.bottom.amount != scalar.top.amount
    }


def read_case(path: Path) -> Case | None:
    """The case of a run; None if there is none yet, or it cannot be understood."""
    try:
        resolved = read_text(path, errors="replace")
        text = read_yaml(resolved)
        end, steps = text["time"].get("end"), text["time"].get("steps")
        nx, ny, nz = text["grid"]["cells"]
        walls = text["walls"]
        ((number, value),) = text["flow"]["reynolds"].items()  # docs/flows.md, Reynolds number and forcing
        viscosity = float(value) if number == "viscosity" else (2.0 if number == "bulk" else 1.0) / float(value)
        height, rotation = float(text["domain"]["size"][2]), text["flow"].get("rotation")
        return Case(
            title_of(resolved),
            viscosity,
            int(nx) * int(ny) * int(nz),
            height,
            (_wall_velocity(walls["bottom"]), _wall_velocity(walls["top"])),
            None if end in (None, "none") else float(end),
            None if steps in (None, "none") else int(steps),
            _conducted_fluxes(scalars_in(resolved), viscosity, height),
            hypot(*map(float, rotation["geostrophic"])) if isinstance(rotation, dict) else 0.0,
        )
    except (OSError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None
