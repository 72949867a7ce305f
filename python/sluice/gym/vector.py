"""Many flows in one process that are stepped together, for Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .acting import checked_action
from .config import Config
from .controlled_flows import ControlledFlows, Seen
from .env import action_space_of, chosen_state, config_of, observation_space_of


class VectorChannelEnv(VectorEnv[Any, Any, Any]):
    """ChannelEnv for several members at once. Each has the bits of a ChannelEnv with its seed.

    `num_envs`: the number of members. `reset(seed=7)` gives them the seeds 7, 8, ...; a list gives each its own.
    An episode that has ended is reset by the next call of `step`, which ignores the action of this member and gives
    it the reward 0 (Gymnasium's next-step mode).
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, num_envs: int = 1, config: Config | None = None, **keywords: Any) -> None:
        self.config = config_of(config, keywords)
        self.num_envs = num_envs
        self.flows = ControlledFlows(self.config, num_envs)
        self.single_observation_space = observation_space_of(self.flows)
        self.single_action_space = action_space_of(self.flows)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators: list[np.random.Generator] = [seeding.np_random(None)[0] for _ in range(num_envs)]
        self._is_over = np.ones(num_envs, dtype=bool)
        self._seen: dict[int, Seen] = {}

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts episodes of all members, or of those that options["reset_mask"] marks.

        options["state"]: the state for all; options["states"]: one for each member.
        """
        options = options or {}
        chosen = np.asarray(options.get("reset_mask", np.ones(self.num_envs, dtype=bool)), dtype=bool)
        seeds = [None if seed is None else seed + n for n in range(self.num_envs)] if _is_one(seed) else list(seed)  # type: ignore[arg-type,operator]
        if len(seeds) != self.num_envs or chosen.shape != (self.num_envs,):
            raise ValueError(f"give a seed and a mark of reset_mask for each of the {self.num_envs} members")
        for n, own in enumerate(seeds):
            if own is not None and chosen[n]:
                self._generators[n] = seeding.np_random(own)[0]
        return self._begin([int(n) for n in np.flatnonzero(chosen)], options)

    def _begin(self, numbers: list[int], options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        infos: dict[str, Any] = {}
        states: dict[int, int] = {}
        for n in numbers:
            own = options["states"][n] if options.get("states") is not None else options.get("state")
            states[n] = chosen_state({"state": own}, self._generators[n], self.flows.library.count)
        self._seen.update(self.flows.reset(states))
        for n in numbers:
            self._is_over[n] = False
            infos = self._add_info(infos, {"state": states[n], "time": 0.0}, n)
        return self._stacked(), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One interval of all members; those whose episode has ended are reset instead.

        Raises ValueError, which names the member, for a wrong shape and for values that are not finite.
        """
        if len(self._seen) < self.num_envs:
            raise ValueError("call reset before step")
        if len(actions) != self.num_envs:
            raise ValueError(f"{len(actions)} actions for {self.num_envs} members")
        shape, over = self.flows.action_shape, [int(n) for n in np.flatnonzero(self._is_over)]
        going = [n for n in range(self.num_envs) if n not in over]
        self.flows.act({n: checked_action(actions[n], shape, f"member {n}") for n in going})
        found = self.flows.step(going)
        _, infos = self._begin(over, {})
        rewards = np.zeros(self.num_envs)
        terminated, truncated = (np.zeros(self.num_envs, dtype=bool) for _ in range(2))
        for n, (outcome, seen) in found.items():
            member = self.flows.members[n]
            self._seen[n] = seen
            rewards[n], terminated[n] = outcome.reward, outcome.blow_up
            truncated[n] = not outcome.blow_up and member.steps >= self.config.steps_per_episode
            infos = self._add_info(infos, {**outcome.info(), "time": member.time}, n)
        self._is_over = terminated | truncated
        return self._stacked(), rewards, terminated, truncated, infos

    def _stacked(self) -> Any:
        """The observations of all members, the members first."""
        seen = [self._seen[n] for n in range(self.num_envs)]
        if isinstance(seen[0], dict):
            return {name: np.stack([one[name] for one in seen]) for name in seen[0]}  # type: ignore[call-overload]
        return np.stack(seen)  # type: ignore[arg-type]

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the simulations."""
        self.flows.close()


def _is_one(seed: Any) -> bool:
    return seed is None or isinstance(seed, int | np.integer)
