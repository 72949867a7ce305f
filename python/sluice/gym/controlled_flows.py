"""Flows that are controlled side by side: what all environments are made of. It does not need Gymnasium."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from ..case import Case
from ..errors import UsageError
from ..simulation import Simulation
from ..together import step_together
from .acting import Actors, Respond
from .config import Config, Jets, Sensors
from .layout import Layout
from .reading import DRAG, Array, Reading, SensorReader, WallReader, planes_per_wall, read_planes, sensor_count
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
    """One controlled flow. It does not step, act or read: ControlledFlows does so for all members."""

    def __init__(self, config: Config, case: Case, units: WallUnits) -> None:
        self.config, self.units = config, units
        self.sim = Simulation(case)
        self.state = -1
        self.steps = 0
        self.seen: Seen | None = None
        """The last observation of a finite flow."""
        self._drags: list[Array] = []
        self._powers: list[Array] = []

    @property
    def time(self) -> float:
        """Since the start of the episode, in wall units."""
        return self.steps * self.config.interval

    def begin(self) -> None:
        """Before the steps of an interval."""
        self._drags, self._powers = [], []

    def add_sample(self, drag: Array, power: Array) -> None:
        """Of patches, (walls, patches along y, patches along x)."""
        self._drags.append(drag)
        self._powers.append(power)

    def outcome(self, clipped: float) -> Outcome:
        """Of the interval that has ended."""
        self.steps += 1
        drag, power = _mean(self._drags), _mean(self._powers)
        mean_drag, mean_power = float(drag.mean()), float(power.mean())
        net = 1 - mean_drag - mean_power / self.bulk_velocity
        reward = float(self.rewards(drag, power).mean())
        return Outcome(reward, mean_drag, mean_power, net, clipped, False, drag, power)

    def rewards(self, drag: Array, power: Array) -> Array:
        """The reward of each patch, whose mean is that of the flow."""
        return 1 - drag - (power / self.bulk_velocity if self.config.reward == "net_saving" else 0.0)

    @property
    def bulk_velocity(self) -> float:
        """Over u_tau0: the power of the uncontrolled drag per wall area, in wall units."""
        return self.units.bulk_velocity / self.units.u_tau

    def blown_up(self, clipped: float, patches: tuple[int, ...]) -> tuple[Outcome, Seen]:
        """The outcome of an interval in which the flow has blown up, and the last finite observation."""
        self.steps += 1
        lost = np.full(patches, np.nan)
        outcome = Outcome(self.config.blow_up_reward, np.nan, np.nan, np.nan, clipped, True, lost, lost)
        assert self.seen is not None
        return outcome, self.seen


def _mean(samples: list[Array]) -> Array:
    return samples[0] if len(samples) == 1 else np.asarray(np.mean(samples, axis=0))


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
        self._starts = Starts(self.library)
        try:
            for _ in range(members):
                self.members.append(Member(config, case, self.units))
            simulations = [member.sim for member in self.members]
            first = simulations[0]
            self.layout = Layout(first.u.shape[1:], config.action.patches)
            self._readers = [WallReader(first, side, self.units) for side in config.walls]
            sensors = [one for one in config.observations if isinstance(one, Sensors)]
            self._sensors = SensorReader(first, sensors, self.units)
            self.actors = Actors(simulations, config, self.layout, self._readers, self.units)
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
        return (len(self.config.walls), *self.layout.patches)

    @property
    def planes_shape(self) -> tuple[int, ...]:
        """(walls times planes, ny, nx) of observations; the first number is 0 without planes."""
        layout = self.layout
        count = len(self.config.walls) * planes_per_wall(self.config.observations)
        return (count, *(layout.patches if self.config.observe_patches else layout.cells))

    @property
    def sensor_count(self) -> int:
        """The number of values of sensors in an observation."""
        return sensor_count(self.config.observations)

    def reset(self, states: Mapping[int, int]) -> dict[int, Seen]:
        """Starts episodes: members and the states that they start from. Returns their observations."""
        for number, state in states.items():
            member = self.members[number]
            self.actors.rest(number)
            self._starts.set(member.sim, state)
            member.state, member.steps, member.seen = state, 0, None
        return self.observe(list(states))

    def observe(self, numbers: Sequence[int]) -> dict[int, Seen]:
        """The observations of some members."""
        if not numbers:
            return {}
        reading = self._reading(numbers)
        parts = {
            "planes": read_planes(reading, self._readers, self.config, self.layout),
            "sensors": self._sensors.read(reading),
        }
        present = {name: values for name, values in parts.items() if values is not None}
        found: dict[int, Seen] = {}
        for n, number in enumerate(numbers):
            own = {name: values[n] for name, values in present.items()}
            found[number] = self.members[number].seen = own if len(own) > 1 else next(iter(own.values()))
        return found

    def respond(self, functions: Callable[[str, WallUnits], Respond]) -> None:
        """Sets w of the walls of all members at every substep; `functions` makes the response of a wall.

        Until the next reset. Raises UsageError unless the actions are jets.
        """
        if not isinstance(self.config.action, Jets):
            raise UsageError("a response sets w of walls: the action of the configuration must be Jets")
        self.actors.respond(functions)

    def act(self, actions: Mapping[int, Array]) -> None:
        """Holds actions, of members by number, (walls, patches along y, patches along x) in wall units, checked."""
        if actions:
            self.actors.act(list(actions), np.stack(list(actions.values())))

    def step(self, numbers: Sequence[int] | None = None) -> dict[int, tuple[Outcome, Seen]]:
        """One interval of some members, or of all. A flow that blows up has an outcome that says so."""
        going = list(range(len(self.members))) if numbers is None else list(numbers)
        alive = going
        for number in going:
            self.members[number].begin()
        for _ in range(self.config.samples):
            faults = step_together([self.members[number].sim for number in alive], self._steps)
            alive = self._sample([number for number, fault in zip(alive, faults, strict=True) if fault is None])
        seen = self.observe(alive)
        found: dict[int, tuple[Outcome, Seen]] = {}
        for number in going:
            member, clipped = self.members[number], self.actors.take_clipped(number)
            if number in seen:
                found[number] = member.outcome(clipped), seen[number]
            else:
                found[number] = member.blown_up(clipped, self.action_shape)
        return found

    def local_drag_and_power(self, numbers: Sequence[int]) -> tuple[Array, Array]:
        """Drag and power of patches of some members as they now are, (members, *action_shape)."""
        reading = self._reading(numbers)
        reading.fetch(key for one in self._readers for key in (*one.planes_of(DRAG), *one.velocity))
        reading.fetch(self.actors.planes_of_power(numbers, reading))
        drag, power = (np.empty((len(numbers), *self.action_shape)) for _ in range(2))
        for part, few in reading.blocks():
            for n, reader in enumerate(self._readers):
                drag[part, n] = self.layout.average(reader.observe(few, DRAG))
            power[part] = self.layout.average(self.actors.power(numbers[part], few))
        return drag, power

    def _sample(self, numbers: list[int]) -> list[int]:
        """Takes a sample of drag and power of some members. Returns those whose sample is finite."""
        if not numbers:
            return []
        drags, powers = self.local_drag_and_power(numbers)
        finite = np.isfinite(drags) & np.isfinite(powers)
        for number, drag, power in zip(numbers, drags, powers, strict=True):
            self.members[number].add_sample(drag, power)
        return [number for number, own in zip(numbers, finite, strict=True) if own.all()]

    def _reading(self, numbers: Sequence[int]) -> Reading:
        return Reading([self.members[number].sim for number in numbers])

    def close(self) -> None:
        """Closes all simulations."""
        for member in self.members:
            member.sim.close()
        self.members = []
