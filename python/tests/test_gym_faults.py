"""What goes wrong in control: flows that blow up, actions that are wrong, workers that are killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from gym_case import config

from sluice.gym import ChannelEnv, ControlledFlows, Jets, VectorChannelEnv


def blow_up(sim: Any) -> None:
    sim.u[...] = 1e200 * np.sign(sim.u.values - sim.u.values.mean())


def test_a_flow_that_blows_up_ends_its_episode() -> None:
    env = ChannelEnv(config(blow_up_reward=-7.0))
    first, _ = env.reset(options={"state": 0})
    action = np.zeros(env.action_space.shape)
    expected = env.step(action)
    env.reset(options={"state": 0})
    blow_up(env.flows.members[0].sim)
    seen, reward, terminated, truncated, info = env.step(action)
    assert terminated and not truncated and reward == -7 and info["blow_up"] and np.isnan(info["drag"])
    assert env.observation_space.contains(seen) and np.isfinite(seen).all()
    again, _ = env.reset(options={"state": 0})
    assert np.array_equal(again, first)
    found = env.step(action)
    assert found[1] == expected[1] and np.array_equal(found[0], expected[0])
    env.close()


def test_a_member_that_blows_up_leaves_the_others_alone() -> None:
    vector, single = VectorChannelEnv(2, config()), ChannelEnv(config())
    vector.reset(seed=[3, 4])
    single.reset(seed=4)
    actions = np.full(vector.action_space.shape, 0.2)
    blow_up(vector.flows.members[0].sim)
    seen, rewards, terminated, truncated, infos = vector.step(actions)
    expected = single.step(actions[1])
    assert terminated.tolist() == [True, False] and not truncated.any()
    assert rewards.tolist() == [-1.0, expected[1]] and infos["blow_up"].tolist() == [True, False]
    assert np.array_equal(seen[1], expected[0])
    seen, rewards, terminated, _, infos = vector.step(actions)
    expected = single.step(actions[1])
    assert not terminated.any() and rewards[0] == 0 and infos["time"].tolist() == [0, 8]
    assert rewards[1] == expected[1] and np.array_equal(seen[1], expected[0])
    vector.close()
    single.close()


def test_actions_that_are_wrong() -> None:
    """They are refused before anything is set, with the name of the agent and the value."""
    pytest.importorskip("pettingzoo")
    from sluice.gym import ParallelChannelEnv

    settings = config(action=Jets(patches=(1, 2)))
    env, vector, many = ChannelEnv(settings), VectorChannelEnv(2, settings), ParallelChannelEnv(settings)
    env.reset(seed=0)
    vector.reset(seed=0)
    many.reset(seed=0)
    right = np.zeros((2, 1, 2))
    wrong = right.copy()
    wrong[1, 0, 1] = np.nan
    with pytest.raises(ValueError, match=r"the agent is nan at \[1, 0, 1\]"):
        env.step(wrong)
    with pytest.raises(ValueError, match=r"the agent has the shape \(2,\), not \(2, 1, 2\)"):
        env.step(np.zeros(2))
    with pytest.raises(ValueError, match="the agent must be an array of numbers, not 'left'"):
        env.step("left")
    with pytest.raises(ValueError, match=r"member 1 is inf"):
        vector.step(np.stack([right, np.where(np.isnan(wrong), np.inf, wrong)]))
    with pytest.raises(ValueError, match="3 actions for 2 members"):
        vector.step([right, right, right])
    actions: dict[str, Any] = {agent: [0.0] for agent in many.agents}
    with pytest.raises(ValueError, match=r"agent top_0_1 is nan at \[0\]"):
        many.step({**actions, "top_0_1": [np.nan]})
    with pytest.raises(ValueError, match=r"agent bottom_0_0 has the shape \(2,\)"):
        many.step({**actions, "bottom_0_0": [0.0, 1.0]})
    del actions["bottom_0_1"]
    with pytest.raises(ValueError, match="no action of agent bottom_0_1"):
        many.step(actions)
    for one in (env, vector, many):
        assert one.flows.members[0].sim.time == 0
        one.close()


def test_actions_beyond_the_limit_are_clipped() -> None:
    settings = config(action=Jets(limit=0.5, patches=(1, 4)))
    found, expected = ChannelEnv(settings), ChannelEnv(settings)
    action = np.zeros((2, 1, 4))
    action[0, 0, :2] = 1.0, -30.0
    found.reset(options={"state": 0})
    expected.reset(options={"state": 0})
    seen, *_, info = found.step(action)
    clipped, *_, without = expected.step(action.clip(-0.5, 0.5))
    assert info.pop("clipped") == 0.25 and without.pop("clipped") == 0
    assert np.array_equal(seen, clipped) and info == without
    found.close()
    expected.close()


def test_a_response_beyond_the_limit_is_clipped() -> None:
    flows = ControlledFlows(config(action=Jets(limit=0.1)), 1)
    flows.reset({0: 0})
    flows.respond(lambda side, units: lambda sim: sim.plane("w", z=1.0).values)
    ((outcome, _),) = flows.step().values()
    assert 0 < outcome.clipped < 1
    w = flows.members[0].sim.walls["bottom"].w.values
    assert 0 < np.abs(w).max() < 0.2 * flows.units.u_tau
    flows.close()


def test_a_response_that_returns_nan() -> None:
    """The step raises it, and the next reset works."""
    flows = ControlledFlows(config(), 1)
    flows.reset({0: 0})
    flows.respond(lambda side, units: lambda sim: np.full((12, 16), np.nan))
    with pytest.raises(ValueError, match="not finite"):
        flows.step()
    flows.reset({0: 0})
    ((outcome, _),) = flows.step().values()
    assert np.isfinite(outcome.reward)
    flows.close()


WORKERS = """
import os
import signal
import sys
import time

import numpy as np
from gymnasium.vector import AsyncVectorEnv

sys.path.insert(0, sys.argv[1])
from gym_case import config


def make():
    from sluice.gym import ChannelEnv

    class Named(ChannelEnv):
        def reset(self, **keywords):
            seen, info = super().reset(**keywords)
            return seen, {**info, "pid": os.getpid()}

    return Named(config())


if __name__ == "__main__":
    env = AsyncVectorEnv([make, make], context="spawn", shared_memory=False)
    _, infos = env.reset(seed=0)
    actions = np.zeros(env.action_space.shape, np.float32)
    env.step(actions)
    os.kill(int(infos["pid"][1]), signal.SIGKILL)
    begin = time.monotonic()
    try:
        env.step(actions)
    except (EOFError, OSError) as error:
        print("killed:", type(error).__name__, time.monotonic() - begin < 20)
    env.close(terminate=True)
"""


def test_a_killed_worker_is_an_error_and_not_a_hang(tmp_path: Path) -> None:
    import gym_case

    gym_case.STATES  # noqa: B018
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    import os

    environment = {**os.environ, "SLUICE_GYM_TEST_CACHE": str(gym_case.CACHE)}
    ended = subprocess.run(
        [sys.executable, script, Path(__file__).parent], env=environment, capture_output=True, text=True, timeout=120
    )
    assert "killed:" in ended.stdout and "True" in ended.stdout, ended.stdout + ended.stderr
