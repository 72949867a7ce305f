"""The environment of one agent, for Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from .acting import checked_action
from .config import Config
from .controlled_flows import ControlledFlows, Seen


def config_of(config: Config | None, keywords: Mapping[str, Any]) -> Config:
    """A configuration with some of its members replaced."""
    return replace(config or Config(), **keywords)


def observation_space_of(flows: ControlledFlows) -> spaces.Space[Any]:
    """Of one member: planes, values of sensors, or both."""
    found: dict[str, spaces.Space[Any]] = {}
    if flows.planes_shape[0]:
        found["planes"] = spaces.Box(-np.inf, np.inf, flows.planes_shape, np.float32)
    if flows.sensor_count:
        found["sensors"] = spaces.Box(-np.inf, np.inf, (flows.sensor_count,), np.float32)
    return spaces.Dict(found) if len(found) == 2 else next(iter(found.values()))


def action_space_of(flows: ControlledFlows) -> spaces.Box:
    """Of one member: (walls, patches along y, patches along x), in wall units."""
    limit = flows.config.action.limit
    return spaces.Box(-limit, limit, flows.action_shape, np.float32)


def chosen_state(options: Mapping[str, Any] | None, generator: np.random.Generator, count: int) -> int:
    """The state that an episode starts from: options["state"], otherwise drawn."""
    if options and options.get("state") is not None:
        return int(options["state"])
    return int(generator.integers(count))


class ChannelEnv(gymnasium.Env[Seen, Any]):
    """A channel that one agent controls. All numbers are in wall units of the uncontrolled flow: see Config.

    `ChannelEnv(config)` or `ChannelEnv(interval=2.0, action=Jets(patches=(8, 8)))`, with the members of Config. The
    first environment of a case makes the library of initial states, which takes minutes.

    `reset(options={"state": 3})` starts from a given state, otherwise the seed decides. An episode is truncated after
    Config.episode, and terminated if the flow blows up; `reset` then works as always.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, config: Config | None = None, **keywords: Any) -> None:
        self.config = config_of(config, keywords)
        self.flows = ControlledFlows(self.config, 1)
        self.observation_space = observation_space_of(self.flows)
        self.action_space = action_space_of(self.flows)
        self._is_over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Starts an episode. `info` names the state."""
        super().reset(seed=seed)
        state = chosen_state(options, self.np_random, self.flows.library.count)
        seen = self.flows.reset({0: state})[0]
        self._is_over = False
        return seen, {"state": state, "time": 0.0}

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """One interval with an action. Raises ValueError for a wrong shape and for values that are not finite."""
        if self._is_over:
            raise gymnasium.error.ResetNeeded("the episode has ended, or not begun: call reset")
        member = self.flows.members[0]
        self.flows.act({0: checked_action(action, self.flows.action_shape, "the agent")})
        outcome, seen = self.flows.step()[0]
        truncated = not outcome.blow_up and member.steps >= self.config.steps_per_episode
        self._is_over = outcome.blow_up or truncated
        return seen, outcome.reward, outcome.blow_up, truncated, {**outcome.info(), "time": member.time}

    def close(self) -> None:
        """Closes the simulation."""
        self.flows.close()
