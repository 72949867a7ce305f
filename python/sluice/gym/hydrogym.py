"""The channel as a back end of HydroGym (github.com/dynamicslab/hydrogym): its flow, its solver, its environment.

The classes have the methods of HydroGym's PDEBase, TransientSolver and FlowEnv, and do not need HydroGym. With it,
`hydrogym.core.FlowEnv({"flow": ChannelFlow, "flow_config": {...}, "solver": ChannelSolver})` works as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from ..errors import NumericsError, UsageError
from .acting import checked_action
from .config import Config
from .controlled_flows import ControlledFlows, Outcome, Seen
from .env import config_of

if TYPE_CHECKING:
    from .._core import Snapshot

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FlowState:
    """A copy of the flow, with the time and the controls that belong to it."""

    snapshot: Snapshot
    time: float
    control: Array


class ChannelFlow:
    """The flow, as HydroGym's PDEBase: `ChannelFlow(config=Config(...))`, or with members of Config by name.

    Controls are the actions of ChannelEnv in one row, observations its observation in one row, all in wall units; times
    are in wall units. The objective is 1 minus the reward of ChannelEnv: the drag over that of the uncontrolled flow,
    with the reward net_saving also the power of the actuation.
    """

    DEFAULT_MESH = "case"
    TAU = 0.0

    def __init__(self, config: Config | None = None, **keywords: Any) -> None:
        self.mesh = self.load_mesh(keywords.pop("mesh", self.DEFAULT_MESH))
        restart = keywords.pop("restart", None)
        self.flows = ControlledFlows(config_of(config, keywords), 1)
        self.config = self.flows.config
        self.MAX_CONTROL = self.config.action.limit
        self.DEFAULT_DT = self.config.interval
        self.t = 0.0
        self._outcome: Outcome | None = None
        self._seen: Seen | None = None
        self.initialize_state()
        self.reset_controls()
        first = restart if restart is None or isinstance(restart, str | Path) else next(iter(restart), None)
        if first is not None:
            self.load_checkpoint(first)

    @property
    def num_inputs(self) -> int:
        """Length of the control."""
        return int(np.prod(self.flows.action_shape))

    @property
    def num_outputs(self) -> int:
        """Length of the observation."""
        return int(np.prod(self.flows.planes_shape)) + self.flows.sensor_count

    def load_mesh(self, name: str) -> str:
        """The grid is that of the case: there is only the mesh "case"."""
        if name != self.DEFAULT_MESH:
            raise UsageError(f"there is no mesh {name!r}: the key grid.cells of the case sets the grid")
        return name

    def initialize_state(self, number: int = 0) -> None:
        """Starts from a state of the library."""
        self._seen = self.flows.reset({0: number})[0]
        self._outcome = None

    def init_bcs(self) -> None:
        """Nothing to do: the walls follow the controls."""

    def collect_bcs(self) -> Iterable[Any]:
        """None."""
        return []

    def state(self) -> FlowState:
        """A copy of the present flow."""
        return FlowState(self.flows.members[0].sim.snapshot(), self.t, self._control.copy())

    def copy_state(self, deepcopy: bool = True) -> FlowState:
        """A copy of the present flow."""
        return self.state()

    def set_state(self, q: FlowState) -> None:
        """Returns to a copy, of this flow or of another with the same grid."""
        member = self.flows.members[0]
        self.flows.actors.rest(0)
        member.sim.restore(q.snapshot)
        member.steps = round(q.time / self.config.interval)
        self.t = q.time
        self._seen = self.flows.observe([0])[0]
        self._outcome = None

    def reset(self, q0: FlowState | None = None, t: float = 0.0) -> None:
        """Returns to a copy, and to controls of 0."""
        if q0 is not None:
            self.set_state(q0)
        self.t = t
        self.reset_controls()

    def reset_controls(self) -> None:
        """Controls of 0."""
        self._control = np.zeros(self.num_inputs)

    @property
    def control_state(self) -> list[float]:
        """The present controls."""
        return [float(value) for value in self._control]

    def set_control(self, act: Any = None) -> None:
        """Sets the controls, without a step; None: 0."""
        given = np.zeros(self.num_inputs) if act is None else np.ravel(self.enlist(act))
        self._control = checked_action(given, (self.num_inputs,), "the agent")

    def advance_time(self, dt: float, act: Any = None) -> list[float]:
        """Sets the controls, unless None, and adds to the time, without a step of the flow."""
        if act is not None:
            self.set_control(act)
        self.t += dt
        return self.control_state

    def enlist(self, x: Any) -> list[Any]:
        """A number or a sequence as a list."""
        return list(x) if isinstance(x, list | tuple | np.ndarray) else [x]

    def advance(self) -> None:
        """One interval with the present controls. Raises NumericsError if the flow blows up."""
        self.flows.act({0: self._control.reshape(self.flows.action_shape)})
        self._outcome, self._seen = self.flows.step()[0]
        self.advance_time(self.config.interval)
        if self._outcome.blow_up:
            raise NumericsError("the flow has blown up: reset it")

    def get_observations(self) -> Array:
        """The observation as one row: planes, then sensors."""
        seen = self._seen
        parts = list(seen.values()) if isinstance(seen, dict) else [seen]
        return np.concatenate([np.ravel(np.asarray(part, dtype=np.float64)) for part in parts])

    def evaluate_objective(self, q: FlowState | None = None) -> float:
        """1 minus the reward of the last interval; of a given state, with controls of 0, at this moment."""
        if q is not None:
            before = self.state()
            self.set_state(q)
            value = self.evaluate_objective()
            self.set_state(before)
            return value
        if self._outcome is None:
            member = self.flows.members[0]
            (drag,), (power,) = self.flows.local_drag_and_power([0])
            return 1 - float(member.rewards(drag, power).mean())
        return 1 - self._outcome.reward

    def dot(self, q1: FlowState, q2: FlowState) -> float:
        """There is no inner product of states."""
        raise NotImplementedError("states of a channel are copies in the memory of the device, without inner product")

    def save_checkpoint(self, filename: str) -> None:
        """Writes the fields and the time to an npz file."""
        sim = self.flows.members[0].sim
        fields: dict[str, Any] = {name: np.array(field.values) for name, field in sim.fields.items()}
        np.savez(filename, time=self.t, **fields)

    def load_checkpoint(self, filename: str | Path) -> None:
        """Reads what save_checkpoint has written. Making it divergence-free changes the velocity by round-off."""
        member = self.flows.members[0]
        self.flows.reset({0: member.state})
        with np.load(filename) as stored:
            for name in member.sim.fields:
                member.sim.fields[name][...] = stored[name]
            self.t = float(stored["time"])
        member.sim.project()
        self._seen = self.flows.observe([0])[0]
        self._outcome = None

    def render(self, **kwargs: Any) -> None:
        """Nothing is drawn."""


class ChannelSolver:
    """The time stepper, as HydroGym's TransientSolver. A step is one interval of Config."""

    def __init__(self, flow: ChannelFlow, dt: float | None = None, **options: Any) -> None:
        self.flow = flow
        self.dt = flow.DEFAULT_DT if dt is None else dt
        if self.dt != flow.DEFAULT_DT:
            raise UsageError(f"the step of the solver is Config.interval, {flow.DEFAULT_DT}, not {dt}")

    def step(self, iter: int, control: Any = None, **options: Any) -> ChannelFlow:
        """One interval; controls of None stay as they are."""
        if control is not None:
            self.flow.set_control(control)
        self.flow.advance()
        return self.flow

    def solve(
        self,
        t_span: tuple[float, float] | None = None,
        num_steps: int | None = None,
        callbacks: Sequence[Any] = (),
        controller: Callable[[float, Array], Any] | None = None,
        collect_rewards: bool = False,
    ) -> Any:
        """Steps through a span of time or a number of steps; `controller(t, y)` gives the controls of each.

        With `collect_rewards` it returns the flow and the objectives, otherwise the flow.
        """
        if (t_span is None) == (num_steps is None):
            raise ValueError("give t_span or num_steps")
        count = num_steps if t_span is None else len(np.arange(*t_span, self.dt))
        objectives = []
        for number in range(count or 0):
            begin = self.flow.t
            self.step(number, None if controller is None else controller(begin, self.flow.get_observations()))
            objectives.append(self.flow.evaluate_objective())
            for callback in callbacks:
                callback(number, begin, self.flow)
        for callback in callbacks:
            callback.close()
        return (self.flow, np.array(objectives)) if collect_rewards else self.flow

    def reset(self) -> None:
        """Nothing to do: the solver keeps no history."""


class FlowEnv(gymnasium.Env[Array, Any]):
    """The environment, as HydroGym's FlowEnv, from a dict like its own; only "flow_config" is needed.

    `env_config`: "flow" (ChannelFlow), "flow_config", "solver" (ChannelSolver), "solver_config", "callbacks",
    "max_steps". The reward is minus the interval times the objective. An episode ends after max_steps steps, or when
    the flow blows up; then the objective is 1 - Config.blow_up_reward.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, env_config: dict[str, Any]) -> None:
        self.flow: ChannelFlow = env_config.get("flow", ChannelFlow)(**env_config.get("flow_config", {}))
        self.solver: ChannelSolver = env_config.get("solver", ChannelSolver)(
            self.flow, **env_config.get("solver_config", {})
        )
        self.callbacks: Sequence[Any] = env_config.get("callbacks", ())
        self.max_steps = int(env_config.get("max_steps", self.flow.config.steps_per_episode))
        self.iter = 0
        self.observation_space = spaces.Box(-np.inf, np.inf, (self.flow.num_outputs,), np.float64)
        limit = self.flow.MAX_CONTROL
        self.action_space = spaces.Box(-limit, limit, (self.flow.num_inputs,), np.float64)

    def set_callbacks(self, callbacks: Sequence[Any]) -> None:
        """Functions that are called with (step, time, flow) after each step."""
        self.callbacks = callbacks

    def step(self, action: Any = None) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One interval."""
        terminated = False
        try:
            self.solver.step(self.iter, control=action)
        except NumericsError:
            terminated = True
        self.iter += 1
        for callback in self.callbacks:
            callback(self.iter, self.iter * self.solver.dt, self.flow)
        info = {} if self.flow._outcome is None else self.flow._outcome.info()
        return self.flow.get_observations(), self.get_reward(), terminated, self.check_complete(), info

    def stack_observations(self, obs: Any) -> Array:
        """An observation as an array."""
        return np.atleast_1d(np.asarray(obs, dtype=np.float64))

    def get_reward(self) -> float:
        """Of the last interval."""
        return -self.solver.dt * self.flow.evaluate_objective()

    def check_complete(self) -> bool:
        """Whether max_steps steps were taken."""
        return self.iter >= self.max_steps

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Starts from options["state"] of the library, otherwise from one that the seed decides."""
        super().reset(seed=seed)
        count = self.flow.flows.library.count
        state = options["state"] if options and "state" in options else int(self.np_random.integers(count))
        self.iter = 0
        self.flow.initialize_state(state)
        self.flow.reset(t=float((options or {}).get("t", 0.0)))
        self.solver.reset()
        return self.flow.get_observations(), {"state": state}

    def render(self, mode: str = "human", **kwargs: Any) -> None:
        """Nothing is drawn."""

    def close(self) -> None:
        """Ends the callbacks and closes the simulation."""
        for callback in self.callbacks:
            callback.close()
        self.flow.flows.close()
