"""Many agents on the walls of one flow, for PettingZoo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import ParallelEnv

from ..errors import UsageError
from .acting import checked_action
from .config import Config, Jets, Sensors
from .controlled_flows import ControlledFlows, Outcome
from .env import chosen_state, config_of


class ParallelChannelEnv(ParallelEnv[str, npt.NDArray[np.float32], npt.NDArray[np.float32]]):
    """A channel with one agent on each patch of its walls, by the names "bottom_0_3": wall, place along y, along x.

    An agent sees its patch and `reach` patches on each side of it, (planes, height, width); the flow is periodic, so
    that all agents see and do alike, on the top wall mirrored. Its action is one number. Its reward is that of the flow
    if `local_weight` is 0, that of its own patch if it is 1, and between them otherwise. The default action is jets of
    8 x 8 patches.
    """

    metadata: dict[str, Any] = {"name": "sluice_channel_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self, config: Config | None = None, *, reach: int = 1, local_weight: float = 0.0, **keywords: Any
    ) -> None:
        if config is None and "action" not in keywords:
            keywords["action"] = Jets(patches=(8, 8))
        self.config = config_of(config, keywords)
        if any(isinstance(one, Sensors) for one in self.config.observations):
            raise UsageError("agents on patches see planes: sensors are for ChannelEnv")
        if not 0 <= local_weight <= 1 or reach < 0:
            raise UsageError(f"local_weight must be from 0 to 1, and reach not negative: {local_weight}, {reach}")
        self.reach, self.local_weight = reach, local_weight
        self.flows = ControlledFlows(self.config, 1)
        walls, ny, nx = self.flows.action_shape
        self._places = {
            f"{side}_{j}_{i}": (wall, j, i)
            for wall, side in enumerate(self.config.walls)
            for j in range(ny)
            for i in range(nx)
        }
        self.possible_agents = list(self._places)
        self.agents: list[str] = []
        planes, height, width = self.flows.planes_shape
        across = 2 * reach + 1
        shape = (planes // walls, across * (height // ny), across * (width // nx))
        limit = self.config.action.limit
        self._seen_space = spaces.Box(-np.inf, np.inf, shape, np.float32)
        self._action_space = spaces.Box(-limit, limit, (1,), np.float32)
        self.observation_spaces = dict.fromkeys(self._places, self._seen_space)
        self.action_spaces = dict.fromkeys(self._places, self._action_space)
        self._generator = seeding.np_random(None)[0]

    def observation_space(self, agent: str) -> spaces.Box:
        """The same for all agents."""
        return self._seen_space

    def action_space(self, agent: str) -> spaces.Box:
        """The same for all agents."""
        return self._action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, dict[str, Any]]]:
        """Starts an episode, from options["state"] or one that the seed decides."""
        if seed is not None:
            self._generator = seeding.np_random(seed)[0]
        state = chosen_state(options, self._generator, self.flows.library.count)
        seen = self.flows.reset({0: state})[0]
        self.agents = list(self.possible_agents)
        return self._local(seen), {agent: {"state": state, "time": 0.0} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, npt.NDArray[np.float32]],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """One interval. Raises ValueError, which names the agent, for a wrong or missing action."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        whole = np.zeros(self.flows.action_shape)
        for agent in self.agents:
            if agent not in actions:
                raise ValueError(f"there is no action of agent {agent}")
            whole[self._places[agent]] = checked_action(actions[agent], (1,), f"agent {agent}")[0]
        self.flows.act({0: whole})
        outcome, seen = self.flows.step()[0]
        member = self.flows.members[0]
        ended = outcome.blow_up or member.steps >= self.config.steps_per_episode
        info = {**outcome.info(), "time": member.time}
        acted = self.agents
        if ended:
            self.agents = []
        return (
            self._local(seen),
            self._rewards(outcome),
            dict.fromkeys(acted, outcome.blow_up),
            dict.fromkeys(acted, ended and not outcome.blow_up),
            {agent: dict(info) for agent in acted},
        )

    def _rewards(self, outcome: Outcome) -> dict[str, float]:
        if outcome.blow_up or self.local_weight == 0:
            return dict.fromkeys(self.possible_agents, outcome.reward)
        local = self.flows.members[0].rewards(outcome.local_drag, outcome.local_power)
        mixed = (1 - self.local_weight) * outcome.reward + self.local_weight * local
        return {agent: float(mixed[place]) for agent, place in self._places.items()}

    def _local(self, seen: Any) -> dict[str, npt.NDArray[np.float32]]:
        """What each agent sees."""
        layout = self.flows.layout
        walls = len(self.config.walls)
        planes = seen.reshape(walls, -1, *seen.shape[-2:])
        windows = [layout.window(planes[wall], self.reach) for wall in range(walls)]
        return {agent: windows[wall][j, i] for agent, (wall, j, i) in self._places.items()}

    def render(self) -> None:
        """Nothing is drawn."""

    def close(self) -> None:
        """Closes the simulation."""
        self.flows.close()
