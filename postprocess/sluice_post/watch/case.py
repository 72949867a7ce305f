"""What the page needs of the case, from resolved.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sluice_post import layout


@dataclass(frozen=True)
class Case:
    """Units of the run; `end` and `steps` are None where the case does not set them."""

    title: str
    viscosity: float
    points: int
    height: float  # Lz
    wall_speeds: tuple[float | None, float | None]  # of the no-slip walls, bottom and top
    end: float | None
    steps: int | None

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
        """C_f of the bulk velocity, in Couette flow of half the velocity difference of the walls."""
        bottom, top = self.wall_speeds
        wall = next((speed for speed in self.wall_speeds if speed is not None), 0.0)
        velocity = bulk_velocity - wall
        if bottom is not None and top is not None and bottom != top:
            velocity = (top - bottom) / 2
        return 2 * (re_tau * self.viscosity / velocity) ** 2 if velocity != 0 else float("nan")


def _viscosity(reynolds: dict[str, Any]) -> float:
    """nu from the one Reynolds number that the case sets (docs/guide.md, The case file)."""
    ((kind, value),) = reynolds.items()
    if kind == "viscosity":
        return float(value)
    return (2.0 if kind == "bulk" else 1.0) / float(value)


def _wall_speed(wall: dict[str, Any]) -> float | None:
    return float(wall["velocity"][0]) if wall["type"] == layout.NO_SLIP else None


def read_case(path: Path) -> Case | None:
    """The case of a run; None if there is none yet, or it cannot be understood."""
    try:
        text = yaml.safe_load(path.read_text(encoding="utf-8", errors="replace"))
        end, steps = text["time"].get("end"), text["time"].get("steps")
        nx, ny, nz = text["grid"]["cells"]
        walls = text["walls"]
        return Case(
            str(text.get("title") or ""),
            _viscosity(text["flow"]["reynolds"]),
            int(nx) * int(ny) * int(nz),
            float(text["domain"]["size"][2]),
            (_wall_speed(walls["bottom"]), _wall_speed(walls["top"])),
            None if end in (None, "none") else float(end),
            None if steps in (None, "none") else int(steps),
        )
    except (OSError, yaml.YAMLError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None
