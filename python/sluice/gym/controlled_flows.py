"""Flows that are controlled side by side: what all environments are made of. It does not need Gymnasium."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from ..case import Case
from ..errors import NumericsError, UsageError
from ..simulation import Simulation
from ..together import step_together
from .acting import Actor, Respond
from .config import Config, Jets, Sensors
from .layout import Layout
from .reading import Array, SensorReader, WallReader, planes_per_wall, read_planes, sensor_count
from .states import Starts, WallUnits, library_of

Seen = npt.NDArray[np.float32] | dict[str, npt.NDArray[np.float32]]
"""An observation: planes, values of sensors, or both by the names "planes" and "sensors"."""


@dataclass(frozen=True)
class Outcome:
    """What one interval of control has led to, in wall units."""

    reward: float
    drag: float
    """Mean wall shear over that of the uncontrolled flow."""
    power: float
    """Of the actuation per wall area, over rho u_tau0^3."""
    net_saving: float
    clipped: float
    """Fraction of the values of the action that were beyond the limit."""
    blow_up: bool
    local_drag: Array
    """Of patches, (walls, patches along y, patches along x)."""
    local_power: Array

    def info(self) -> dict[str, Any]:
        """What environments give in `info`."""
        return {
            "drag": self.drag,
            "drag_reduction": 1 - self.drag,
            "power": self.power,
            "net_saving": self.net_saving,
            "clipped": self.clipped,
            "blow_up": self.blow_up,
        }


class Member:
    """One controlled flow. It does not step: ControlledFlows.step does so for all members."""

    def __init__(self, config: Config, case: Case, units: WallUnits, starts: Starts) -> None:
        self.config, self.units, self._starts = config, units, starts
        self.sim = Simulation(case)
        u = self.sim.u
        self.layout = Layout((u.shape[1], u.shape[2]), config.action.patches)
        self.readers = [WallReader(self.sim, side, self.units) for side in config.walls]
        sensors = tuple(one for one in config.observations if isinstance(one, Sensors))
        self._sensors = SensorReader(self.sim, sensors, self.units)
        self.actor = Actor(self.sim, config, self.layout, self.readers, self.units)
        self.state = -1
        self.steps = 0
        self._seen: Seen | None = None
        self._drags: list[Array] = []
        self._powers: list[Array] = []

    def reset(self, state: int) -> None:
        """Starts an episode from a state of the library."""
        self.actor.rest()
        self._starts.set(self.sim, state)
        self.state, self.steps = state, 0
        self._seen = None

    @property
    def time(self) -> float:
        """Since the start of the episode, in wall units."""
        return self.steps * self.config.interval

    def observe(self) -> Seen:
        """The observation of the present flow."""
        config = self.config
        planes = read_planes(self.readers, config, self.layout)
        if not any(isinstance(one, Sensors) for one in config.observations):
            assert planes is not None
            self._seen = planes
        elif planes is None:
            self._seen = self._sensors.read()
        else:
            self._seen = {"planes": planes, "sensors": self._sensors.read()}
        return self._seen

    def begin(self) -> None:
        """Before the steps of an interval."""
        self._drags, self._powers = [], []

    def sample(self) -> bool:
        """Takes a sample of drag and power. Returns whether they are finite."""
        drag = np.stack([reader.shear("u") for reader in self.readers])
        power = self.actor.power()
        self._drags.append(self.layout.average(drag))
        self._powers.append(self.layout.average(power))
        return bool(np.isfinite(drag).all() and np.isfinite(power).all())

    @property
    def last_sample(self) -> tuple[Array, Array]:
        """Drag and power of patches."""
        return self._drags[-1], self._powers[-1]

    def outcome(self) -> Outcome:
        """Of the interval that has ended."""
        self.steps += 1
        drag, power = np.mean(self._drags, axis=0), np.mean(self._powers, axis=0)
        rewards = self.rewards(drag, power)
        mean_drag, mean_power = float(drag.mean()), float(power.mean())
        net = 1 - mean_drag - mean_power / self.bulk_velocity
        return Outcome(float(rewards.mean()), mean_drag, mean_power, net, self.actor.take_clipped(), False, drag, power)

    def rewards(self, drag: Array, power: Array) -> Array:
        """The reward of each patch, whose mean is that of the flow."""
        return 1 - drag - (power / self.bulk_velocity if self.config.reward == "net_saving" else 0.0)

    @property
    def bulk_velocity(self) -> float:
        """Over u_tau0: the power of the uncontrolled drag per wall area, in wall units."""
        return self.units.bulk_velocity / self.units.u_tau

    def blown_up(self) -> tuple[Outcome, Seen]:
        """The outcome of an interval in which the flow has blown up, and the last finite observation."""
        self.steps += 1
        lost = np.full((len(self.readers), *self.layout.patches), np.nan)
        reward = self.config.blow_up_reward
        outcome = Outcome(reward, np.nan, np.nan, np.nan, self.actor.take_clipped(), True, lost, lost)
        assert self._seen is not None
        return outcome, self._seen


class ControlledFlows:
    """Members with the same configuration, which take their steps together.

    `walls`: what the walls of the case do from the start, as the key walls.SIDE.actuation of the case file, by the
    names of the walls; then there is nothing to act on with jets.
    """

    def __init__(self, config: Config, members: int, walls: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        if members < 1:
            raise UsageError(f"sluice.gym needs at least one member, not {members}")
        self.config = config
        case = config.uncontrolled_case()
        self.library = library_of(config)
        self.units: WallUnits = self.library.units
        longest = 0.8 * self.units.dt if config.time_step is None else config.time_step * self.units.time
        span = config.interval * self.units.time / config.samples
        self._steps = max(1, ceil(span / longest * (1 - 1e-9)))
        case["time.dt"] = span / self._steps
        for side, actuation in (walls or {}).items():
            case[f"walls.{side}"] = {"actuation": dict(actuation)}
        self.members: list[Member] = []
        starts = Starts(self.library)
        try:
            for _ in range(members):
                self.members.append(Member(config, case, self.units, starts))
        except BaseException:
            self.close()
            raise

    @property
    def steps_per_interval(self) -> int:
        """The number of time steps between two actions."""
        return self._steps * self.config.samples

    @property
    def action_shape(self) -> tuple[int, ...]:
        """(walls, patches along y, patches along x)."""
        return (len(self.config.walls), *self.members[0].layout.patches)

    @property
    def planes_shape(self) -> tuple[int, ...]:
        """(walls times planes, ny, nx) of observations; the first number is 0 without planes."""
        layout = self.members[0].layout
        count = len(self.config.walls) * planes_per_wall(self.config.observations)
        return (count, *(layout.patches if self.config.observe_patches else layout.cells))

    @property
    def sensor_count(self) -> int:
        """The number of values of sensors in an observation."""
        return sensor_count(self.config.observations)

    def reset(self, states: Mapping[int, int]) -> dict[int, Seen]:
        """Starts episodes: members and the states that they start from. Returns their observations."""
        for number, state in states.items():
            self.members[number].reset(state)
        return {number: self.members[number].observe() for number in states}

    def respond(self, functions: Callable[[str, WallUnits], Respond]) -> None:
        """Sets w of the walls of all members at every substep; `functions` makes the response of a wall.

        Until the next reset. Raises UsageError unless the actions are jets.
        """
        if not isinstance(self.config.action, Jets):
            raise UsageError("a response sets w of walls: the action of the configuration must be Jets")
        for member in self.members:
            member.actor.respond({side: functions(side, self.units) for side in self.config.walls})

    def act(self, actions: Mapping[int, Array]) -> None:
        """Holds actions, of members by number, (walls, patches along y, patches along x) in wall units, checked."""
        for number, action in actions.items():
            self.members[number].actor.act(action)

    def step(self, numbers: Sequence[int] | None = None) -> dict[int, tuple[Outcome, Seen]]:
        """One interval of some members, or of all. A flow that blows up has an outcome that says so."""
        going = list(range(len(self.members))) if numbers is None else list(numbers)
        lost: set[int] = set()
        for number in going:
            self.members[number].begin()
        for _ in range(self.config.samples):
            alive = [number for number in going if number not in lost]
            faults = step_together([self.members[number].sim for number in alive], self._steps)
            for number, fault in zip(alive, faults, strict=True):
                if fault is not None or not self._sampled(number):
                    lost.add(number)
        found: dict[int, tuple[Outcome, Seen]] = {}
        for number in going:
            member = self.members[number]
            found[number] = member.blown_up() if number in lost else (member.outcome(), member.observe())
        return found

    def _sampled(self, number: int) -> bool:
        try:
            return self.members[number].sample()
        except NumericsError:
            return False

    def close(self) -> None:
        """Closes all simulations."""
        for member in self.members:
            member.sim.close()
        self.members = []
