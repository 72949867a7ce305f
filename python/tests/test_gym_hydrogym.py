"""The channel with the interface of HydroGym: its names, and with HydroGym itself where that is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gym_case import config  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

import sluice  # noqa: E402
from sluice.gym import ChannelEnv, FlowEnv, Jets, Sensors  # noqa: E402
from sluice.gym.hydrogym import ChannelFlow, ChannelSolver  # noqa: E402

FLOW = """num_inputs num_outputs MAX_CONTROL DEFAULT_MESH DEFAULT_DT TAU load_mesh initialize_state init_bcs set_state
state copy_state reset reset_controls collect_bcs save_checkpoint load_checkpoint get_observations evaluate_objective
enlist control_state set_control advance_time dot render mesh t"""
SOLVER = "flow dt solve step reset"
ENV = """flow solver callbacks max_steps iter observation_space action_space set_callbacks step stack_observations
get_reward check_complete reset render close"""
SETTINGS = config(action=Jets(patches=(2, 2)), observe_patches=True)


class Callback:
    def __init__(self) -> None:
        self.calls: list[float] = []
        self.closed = False

    def __call__(self, iter: int, t: float, flow: Any) -> None:
        self.calls.append(t)

    def close(self) -> None:
        self.closed = True


def test_it_has_the_names_of_hydrogym() -> None:
    env = FlowEnv({"flow_config": {"config": SETTINGS}})
    for thing, names in ((env.flow, FLOW), (env.solver, SOLVER), (env, ENV)):
        assert [name for name in names.split() if not hasattr(thing, name)] == []
    env.close()


@pytest.mark.filterwarnings("ignore:.*Box observation space")
def test_the_environment_is_that_of_one_agent_in_rows() -> None:
    callback = Callback()
    env, other = FlowEnv({"flow_config": {"config": SETTINGS}, "callbacks": [callback]}), ChannelEnv(SETTINGS)
    check_env(env, skip_render_check=True)
    callback.calls.clear()
    seen, _ = env.reset(options={"state": 1})
    planes, _ = other.reset(options={"state": 1})
    assert np.array_equal(seen, np.ravel(planes)) and seen.shape == env.observation_space.shape == (8,)
    for k in range(3):
        action = np.random.default_rng(k).uniform(-1, 1, 8)
        seen, reward, terminated, truncated, info = env.step(action)
        planes, expected, *_, their_info = other.step(action.reshape(2, 2, 2))
        assert np.array_equal(seen, np.ravel(planes)) and not terminated and truncated == (k == 2)
        assert reward == pytest.approx(-4.0 * (1 - expected), rel=1e-12)
        assert info["drag"] == their_info["drag"] and env.flow.control_state == action.tolist()
    assert callback.calls == [4, 8, 12]
    env.close()
    other.close()
    assert callback.closed


def test_states_and_checkpoints(tmp_path: Path) -> None:
    flow = ChannelFlow(SETTINGS, observations=(Sensors(((0, 0, 20),)),))
    solver = ChannelSolver(flow)
    assert flow.num_outputs == 3 and flow.num_inputs == 8
    solver.solve(num_steps=1)
    start = flow.copy_state()
    flow.save_checkpoint(str(tmp_path / "flow.npz"))
    act = np.full(8, 0.5) * np.array([1, -1] * 4)
    times: list[float] = []

    def controller(t: float, y: Any) -> Any:
        times.append(t)
        return act

    _, objectives = solver.solve(t_span=(4.0, 12.0), controller=controller, collect_rewards=True)
    assert times == [4, 8] and flow.t == 12 and len(objectives) == 2 and objectives.max() < 3
    seen = flow.get_observations()
    flow.reset(q0=start, t=4.0)
    assert flow.t == 4 and not any(flow.control_state)
    instantaneous = flow.evaluate_objective()
    assert flow.evaluate_objective(start) == instantaneous > 0
    again = solver.solve(num_steps=2, controller=controller, collect_rewards=True)[1]
    assert np.array_equal(again, objectives) and np.array_equal(flow.get_observations(), seen)
    flow.load_checkpoint(tmp_path / "flow.npz")
    assert flow.t == 4
    found = solver.solve(num_steps=2, controller=controller, collect_rewards=True)[1]
    np.testing.assert_allclose(found, objectives, rtol=1e-6)
    with pytest.raises(ValueError, match="nan"):
        flow.set_control([np.nan] * 8)
    with pytest.raises(ValueError, match="t_span or num_steps"):
        solver.solve()
    with pytest.raises(sluice.UsageError, match="interval"):
        ChannelSolver(flow, dt=1.0)
    with pytest.raises(sluice.UsageError, match="mesh"):
        ChannelFlow(SETTINGS, mesh="fine")
    flow.flows.close()


def test_a_flow_that_blows_up_ends_the_episode() -> None:
    env = FlowEnv({"flow_config": {"config": SETTINGS}})
    env.reset(seed=0)
    sim = env.flow.flows.members[0].sim
    sim.u[...] = 1e200 * np.sign(sim.u.values - sim.u.values.mean())
    _, reward, terminated, _, info = env.step(np.zeros(8))
    assert terminated and info["blow_up"] and reward == -4.0 * 2
    env.reset(seed=0)
    assert not env.step(np.zeros(8))[2]
    env.close()


def test_hydrogym_takes_it_as_a_back_end() -> None:
    core = pytest.importorskip("hydrogym.core")
    env = core.FlowEnv({"flow": ChannelFlow, "flow_config": {"config": SETTINGS}, "solver": ChannelSolver})
    seen, _ = env.reset(seed=1)
    assert seen.shape == env.observation_space.shape == (8,)
    seen, reward, *_ = env.step(np.zeros(8))
    assert -12 < reward < 0 and np.isfinite(seen).all()
    env.close()
