"""What a control environment is: its case, times, observations, actions and reward."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..case import Case
from ..errors import UsageError

SIDES = ("bottom", "top")
REWARDS = ("drag_reduction", "net_saving")

DEFAULT_CASE: dict[str, Any] = {
    "title": "Small turbulent channel for control, Re_tau = 180",
    "flow": {"type": "channel", "reynolds": {"bulk": 5600}, "forcing": {"bulk_velocity": 1.0}},
    "domain": {"size": ["pi", "pi/2", 2]},
    "grid": {"cells": [64, 48, 72], "stretching": {"type": "tanh", "factor": 1.8}},
    "time": {"end": 1000, "cfl": 0.9, "diffusion": "implicit_z"},
    "initial": {"type": "turbulent", "seed": 1},
}
"""The box is a few minimal flow units wide: cheap, and still near the drag of large boxes."""


@dataclass(frozen=True)
class FlowPlane:
    """A field over a plane parallel to each wall, in wall units. w is positive away from the wall."""

    field: str = "w"
    """u, v, w or p."""
    height: float = 15.0
    """Distance from the wall in wall units; the nearest plane of the grid counts."""
    fluctuation: bool = True
    """Whether the mean over the plane is subtracted."""


@dataclass(frozen=True)
class WallShear:
    """The shear stress at each wall over that of the uncontrolled flow; component u has a mean near 1."""

    component: str = "u"
    """u or v."""


@dataclass(frozen=True)
class WallPressure:
    """The pressure fluctuation in the cells at each wall, over rho u_tau0^2."""


@dataclass(frozen=True)
class Sensors:
    """Fields at points: (x, y, z) in wall units, z from the bottom wall; the nearest grid point of each field counts.

    Velocities over u_tau0, with w along z; p over rho u_tau0^2.
    """

    points: tuple[tuple[float, float, float], ...]
    fields: tuple[str, ...] = ("u", "v", "w")


@dataclass(frozen=True)
class Jets:
    """Blowing and suction: w of each wall, positive into the fluid. The mean over the wall is subtracted."""

    limit: float = 1.0
    """Largest |w| that an action may ask for, in u_tau0."""
    patches: tuple[int, int] | None = None
    """Numbers of patches along y and x, each with one w; None: every cell has its own."""


@dataclass(frozen=True)
class SpanwiseMotion:
    """Spanwise velocity of each wall."""

    limit: float = 20.0
    """Largest |v| that an action may ask for, in u_tau0."""
    patches: tuple[int, int] | None = (1, 1)
    """As of Jets; (1, 1) moves the wall as a whole."""


@dataclass(frozen=True)
class BodyForce:
    """A force a exp(-z/depth) near each wall, z the distance from it, with one amplitude a for each patch."""

    component: str = "y"
    """x, y or z; z is positive away from the wall."""
    depth: float = 10.0
    """In wall units. The force is 0 beyond 5 depths."""
    limit: float = 0.1
    """Largest |a| that an action may ask for, in u_tau0^3/nu."""
    patches: tuple[int, int] | None = (1, 1)


Action = Jets | SpanwiseMotion | BodyForce
Observation = FlowPlane | WallShear | WallPressure | Sensors


@dataclass(frozen=True)
class States:
    """The library of initial states, which is made once and kept on disk."""

    count: int = 16
    """Number of states."""
    chains: int = 4
    """Number of flows, from initial fields with different seeds, from which the states are taken in turn."""
    transient: float = 15.0
    """Time before the first state of each chain, in h/u_tau."""
    separation: float = 2.0
    """Time between states of a chain, in h/u_tau."""
    seed: int = 1
    """Of the first chain; the next ones add 1."""
    cache: str | os.PathLike[str] | None = None
    """Directory of the libraries; None: $SLUICE_GYM_CACHE, else $XDG_CACHE_HOME/sluice, else ~/.cache/sluice."""

    def __post_init__(self) -> None:
        if self.count < 1 or self.chains < 1 or self.transient <= 0 or self.separation <= 0:
            raise UsageError(f"States needs positive count, chains, transient and separation, not {self}")


@dataclass(frozen=True)
class Config:
    """A control environment. All times, lengths and velocities are in wall units of the uncontrolled flow.

    These are nu/u_tau0^2, nu/u_tau0 and u_tau0, where u_tau0^2 is the mean wall shear of the uncontrolled flow. The
    library of initial states measures it.
    """

    case: Case | str | os.PathLike[str] | Mapping[str, Any] = field(default_factory=lambda: dict(DEFAULT_CASE))
    """A channel between two no-slip walls, driven at a constant bulk velocity."""
    walls: tuple[str, ...] = SIDES
    """The walls that act, are observed and count for the reward."""
    interval: float = 5.0
    """Time between two actions."""
    episode: float = 1000.0
    """Time after which an episode is truncated: a whole number of intervals, rounded up."""
    time_step: float | None = None
    """Longest time step; None: 0.8 of the shortest that the case takes without control. It is constant."""
    observations: tuple[Observation, ...] = (FlowPlane(),)
    observe_patches: bool = False
    """Whether planes are averaged over the patches of the actions; otherwise observations have every cell."""
    action: Action = Jets()
    reward: str = "drag_reduction"
    """Or "net_saving", which subtracts the power of the actuation."""
    blow_up_reward: float = -1.0
    """Reward of the step in which the flow blows up: by default, as if the drag had doubled."""
    samples: int = 1
    """Samples of drag and power in an interval, at equal times; the last at its end. A reward is their mean."""
    states: States = States()

    def __post_init__(self) -> None:
        self._require(
            len(self.walls) > 0 and len(set(self.walls)) == len(self.walls) and set(self.walls) <= set(SIDES),
            f"walls must be some of {SIDES}, not {self.walls!r}",
        )
        self._require(self.interval > 0 and self.episode > 0, "interval and episode must be positive")
        self._require(self.time_step is None or self.time_step > 0, "time_step must be positive")
        self._require(self.samples >= 1, "samples must be at least 1")
        self._require(self.reward in REWARDS, f"reward must be one of {REWARDS}, not {self.reward!r}")
        self._require(len(self.observations) > 0, "observations must not be empty")
        self._require(self.action.limit > 0, "the limit of the action must be positive")
        for one in self.observations:
            if isinstance(one, FlowPlane):
                self._require(one.field in ("u", "v", "w", "p"), f"a plane of {one.field!r}: give u, v, w or p")
                self._require(one.height > 0, "the height of a plane must be positive")
            elif isinstance(one, WallShear):
                self._require(one.component in ("u", "v"), f"wall shear of {one.component!r}: give u or v")
            elif isinstance(one, Sensors):
                self._require(len(one.points) > 0, "sensors need points")
        if isinstance(self.action, BodyForce):
            self._require(self.action.component in ("x", "y", "z"), "the component of a body force is x, y or z")

    @staticmethod
    def _require(is_valid: bool, problem: str) -> None:
        if not is_valid:
            raise UsageError(f"sluice.gym: {problem}")

    @property
    def steps_per_episode(self) -> int:
        """The number of actions in an episode."""
        return max(1, int(-(-self.episode // self.interval)))

    def uncontrolled_case(self) -> Case:
        """A copy of the case. Raises UsageError if it cannot be controlled."""
        case = self.case.copy() if isinstance(self.case, Case) else Case(self.case)
        self._require(case["flow.type"] == "channel", f"flow.type must be channel, not {case['flow.type']}")
        forcing = case["flow.forcing"]
        self._require(
            isinstance(forcing, Mapping) and isinstance(forcing.get("bulk_velocity"), int | float),
            "the case must have a constant flow rate: flow.forcing.bulk_velocity",
        )
        kind = case["initial.type"]
        self._require(kind == "turbulent", f"chains differ by initial.seed: initial.type must be turbulent, not {kind}")
        self._require(not case["grid.velocity"], "patches of walls need a grid at rest: set grid.velocity to 0")
        for side in SIDES:
            wall = case[f"walls.{side}"]
            if isinstance(wall, Mapping):
                self._require(wall.get("type", "no_slip") == "no_slip", f"the {side} wall must be no_slip")
                self._require(
                    wall.get("actuation") in (None, "none"),
                    f"the {side} wall has an actuation in the case: remove it, it is the agent that acts",
                )
        return case
