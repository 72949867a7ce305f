"""The environments of sluice.gym: interfaces, bits, units."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from conftest import assert_same, fields_of

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gym_case import CASE, config  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from sluice.gym import (  # noqa: E402
    BodyForce,
    ChannelEnv,
    Config,
    ControlledFlows,
    FlowPlane,
    Jets,
    ParallelChannelEnv,
    Sensors,
    SpanwiseMotion,
    VectorChannelEnv,
    WallPressure,
    WallShear,
)
from sluice.gym.policies import Opposition  # noqa: E402

ALL_PLANES = (FlowPlane("u", 10), FlowPlane("w"), FlowPlane("p", 10), WallShear(), WallShear("v"), WallPressure())
SENSORS = Sensors(((0, 0, 10), (300, 100, 350)), ("u", "w", "p"))
KINDS: dict[str, dict[str, Any]] = {
    "jets of cells": {},
    "jets of patches": {"action": Jets(patches=(3, 4)), "observe_patches": True, "reward": "net_saving"},
    "moving wall": {"action": SpanwiseMotion(), "walls": ("top",), "observations": ALL_PLANES, "samples": 2},
    "force": {"action": BodyForce(patches=(2, 2)), "observations": (SENSORS,), "reward": "net_saving"},
    "wall-normal force": {"action": BodyForce("z"), "observations": (FlowPlane(), SENSORS)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_gymnasium_accepts_the_environment(kind: str) -> None:
    env = ChannelEnv(config(**KINDS[kind]))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Box observation space")
        check_env(env, skip_render_check=True)
    _, info = env.reset(options={"state": 2})
    assert info["state"] == 2
    ended, rewards = False, []
    while not ended:
        _, reward, terminated, ended, info = env.step(env.action_space.sample())
        rewards.append(reward)
        assert not terminated and not info["blow_up"] and info["clipped"] == 0
        expected = "net_saving" if env.config.reward == "net_saving" else "drag_reduction"
        assert reward == pytest.approx(info[expected], rel=1e-12)
    assert len(rewards) == 3 and info["time"] == 12 and np.isfinite(rewards).all()
    assert info["power"] != 0
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(env.action_space.sample())
    env.close()


def test_gymnasium_makes_the_environment() -> None:
    env = gymnasium.make("sluice/Channel-v0", config=config())
    assert isinstance(env.unwrapped, ChannelEnv)
    env.close()
    env = gymnasium.make_vec("sluice/Channel-v0", num_envs=2, config=config(), vectorization_mode="vector_entry_point")
    assert isinstance(env.unwrapped, VectorChannelEnv)
    env.close()


def test_pettingzoo_accepts_the_agents() -> None:
    from pettingzoo.test import api_test, parallel_api_test
    from pettingzoo.utils import parallel_to_aec

    keywords: dict[str, Any] = {"action": Jets(patches=(2, 2)), "local_weight": 0.5}
    env = ParallelChannelEnv(config(), **keywords)
    parallel_api_test(env, num_cycles=8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(parallel_to_aec(env), num_cycles=8)
    env.close()


@pytest.mark.parametrize("patches", [False, True])
def test_agents_see_and_do_as_the_single_one(patches: bool) -> None:
    """The same bits, with windows around each patch and mirrored walls; local rewards have the mean of the whole."""
    settings = config(action=Jets(patches=(3, 4)), observe_patches=patches, observations=(FlowPlane(), WallShear()))
    one, many = ChannelEnv(settings), ParallelChannelEnv(settings, reach=1, local_weight=1.0)
    seen, _ = one.reset(options={"state": 1})
    local, _ = many.reset(options={"state": 1})
    assert len(many.agents) == 24
    height, width = (1, 1) if patches else (4, 4)
    action = np.random.default_rng(0).uniform(-1, 1, (2, 3, 4))
    for _ in range(2):
        for agent, view in local.items():
            wall, j, i = agent.split("_")
            planes = seen[:2] if wall == "bottom" else seen[2:]
            assert view.shape == (2, 3 * height, 3 * width)
            rolled = np.roll(planes, (height * (1 - int(j)), width * (1 - int(i))), axis=(1, 2))
            assert np.array_equal(view, rolled[:, : 3 * height, : 3 * width])
        seen, reward, _, _, info = one.step(action)
        chosen = {agent: [action[int(agent[0] == "t"), int(agent[-3]), int(agent[-1])]] for agent in many.agents}
        local, rewards, _, _, infos = many.step(chosen)
        assert np.mean(list(rewards.values())) == pytest.approx(reward, rel=1e-12)
        assert len(set(rewards.values())) > 1
        assert infos["top_0_0"] == info
    one.close()
    many.close()


def test_members_have_the_bits_of_single_environments() -> None:
    """Also over the end of an episode, where the next step resets (AutoresetMode.NEXT_STEP)."""
    settings = config(action=Jets(patches=(3, 4)))
    vector = VectorChannelEnv(3, settings)
    assert vector.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP
    seen, infos = vector.reset(seed=5)
    rng = np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (6, 3, 2, 3, 4)).astype(np.float32)
    record = [(seen.copy(), infos, None)]
    for action in actions:
        seen, rewards, terminated, truncated, infos = vector.step(action)
        record.append((seen.copy(), infos, (rewards, terminated, truncated)))
    assert vector.observation_space.contains(seen)
    vector.close()
    assert [bool(step[2][2].all()) for step in record[1:]] == [False, False, True, False, False, False]
    for n in range(3):
        env = ChannelEnv(settings)
        single, info = env.reset(seed=5 + n)
        over = False
        for k, (seen, infos, results) in enumerate(record):
            if k > 0:
                if over:
                    single, info = env.reset()
                    reward, terminated, over = 0.0, False, False
                else:
                    single, reward, terminated, over, info = env.step(actions[k - 1, n])
                assert (results[0][n], results[1][n], results[2][n]) == (reward, terminated, over)
            assert np.array_equal(seen[n], single)
            assert {name: infos[name][n] for name in info} == info and all(infos["_" + name][n] for name in info)
        env.close()


@pytest.mark.parametrize("kind", KINDS)
def test_members_do_not_depend_on_each_other(kind: str) -> None:
    """With actions on some of them alone, and all kinds of actions and observations."""
    settings = config(**KINDS[kind])
    together = ControlledFlows(settings, 3)
    singles = [ControlledFlows(settings, 1) for _ in range(3)]
    first = together.reset({n: n for n in range(3)})
    for n, one in enumerate(singles):
        assert_equal(first[n], one.reset({0: n})[0])
    rng = np.random.default_rng(4)
    for k in range(3):
        actions = {n: settings.action.limit * rng.uniform(-1, 1, together.action_shape) for n in range(3) if n != k}
        together.act(actions)
        for n, (outcome, seen) in together.step().items():
            singles[n].act({0: actions[n]} if n in actions else {})
            expected, own = singles[n].step()[0]
            assert outcome.info() == expected.info() and outcome.reward == expected.reward
            assert np.array_equal(outcome.local_power, expected.local_power)
            assert_equal(seen, own)
    for flows in (together, *singles):
        flows.close()


def assert_equal(one: Any, other: Any) -> None:
    """Of observations."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        assert all(np.array_equal(values, other[name]) for name, values in one.items())
    else:
        assert np.array_equal(one, other)


def test_a_seed_gives_the_same_episodes() -> None:
    env = ChannelEnv(config())
    runs = []
    for _ in range(2):
        seen, info = env.reset(seed=11)
        states = [info["state"]]
        seen, *_ = env.step(0.3 * np.ones(env.action_space.shape))
        for _ in range(5):
            states.append(env.reset()[1]["state"])
        runs.append((seen, states))
    assert np.array_equal(runs[0][0], runs[1][0]) and runs[0][1] == runs[1][1]
    assert len(set(runs[0][1])) > 1
    env.close()


@pytest.mark.parametrize("limit", [5.0, np.inf])
def test_opposition_as_a_policy_has_the_bits_of_the_built_in_one(limit: float) -> None:
    settings = config(action=Jets(limit=limit))
    policy = Opposition()
    by_policy = ControlledFlows(settings, 1)
    walls = {side: policy.actuation(side, by_policy.units) for side in settings.walls}
    by_case = ControlledFlows(settings, 1, walls)
    for flows in (by_policy, by_case):
        flows.reset({0: 1})
    by_policy.respond(policy.response)
    for _ in range(3):
        (mine,), (built_in,) = by_policy.step().values(), by_case.step().values()
        assert mine[0].drag == built_in[0].drag and mine[0].power == built_in[0].power and mine[0].clipped == 0
    found, expected = by_policy.members[0].sim, by_case.members[0].sim
    assert found.time == expected.time > 0
    assert_same(fields_of(expected), fields_of(found))
    assert np.abs(found.walls["top"].w.values).max() > 1e-3
    by_policy.reset({0: 1})  # ends the response
    assert not found.walls["bottom"].w.values.any()
    by_policy.step()
    for flows in (by_policy, by_case):
        flows.close()


def test_the_power_is_that_of_the_time_series(tmp_path: Any) -> None:
    """Jets and a moving wall: what is recorded at a step has the figure of power_bottom and power_top there."""
    import csv

    import sluice

    for actuation in (
        {"type": "opposition_control", "amplitude": 1, "height": 0.15},
        {"type": "oscillation", "amplitude": 0.5, "period": 3},
    ):
        case = sluice.Case(CASE)
        case["walls"] = {"bottom": {"actuation": actuation}, "top": {"actuation": actuation}}
        case["output.timeseries"] = {"every": 1}
        folder = tmp_path / str(actuation["type"])
        from sluice.gym.reading import Reading, WallReader
        from sluice.gym.states import library_of

        units = library_of(config()).units
        with sluice.Simulation(case, output=folder) as sim:
            sim.step(7)
            now = Reading([sim])
            powers = {side: WallReader(sim, side, units).power(now).mean() * units.u_tau**3 for side in sim.walls}
            shear = WallReader(sim, "top", units).observe(now, WallShear()).mean() * units.u_tau**2
            assert shear == pytest.approx(sim.diagnostics.friction_velocity_top**2, rel=1e-9)
        *_, last = csv.DictReader(line for line in (folder / "timeseries.csv").open() if not line.startswith("#"))
        for side, power in powers.items():
            assert power == pytest.approx(float(last[f"power_{side}"]), rel=1e-6), side


def test_jets_have_no_net_flux_and_are_mirrored() -> None:
    env = ChannelEnv(config(action=Jets(patches=(3, 4))))
    env.reset(seed=0)
    action = np.random.default_rng(3).uniform(0, 1, (1, 3, 4)).repeat(2, axis=0)
    env.step(action)
    member = env.flows.members[0]
    bottom, top = (member.sim.walls[side].w.values for side in ("bottom", "top"))
    np.testing.assert_allclose(bottom, -top, atol=1e-15)
    assert abs(bottom.mean()) < 1e-16
    patch = bottom.reshape(3, 4, 4, 4)
    assert np.ptp(patch, axis=(1, 3)).max() < 1e-15
    np.testing.assert_allclose(patch[:, 0, :, 0], member.units.u_tau * (action[0] - action[0].mean()), atol=1e-12)
    env.close()


def test_the_force_layer_does_the_work_that_is_recorded() -> None:
    """The power of a force is the sum of force times velocity over all cells of its half of the channel."""
    env = ChannelEnv(config(action=BodyForce(depth=8.0, patches=(1, 1))))
    env.reset(seed=0)
    env.step(np.array([[[0.1]], [[0.0]]]))
    member, units = env.flows.members[0], env.flows.units
    sim = member.sim
    z, faces = sim.v.coords["z"], np.concatenate([[0], sim.w.coords["z"]])
    distance = z / units.length
    force = np.where(distance < 40, 0.1 * np.exp(-distance / 8), 0) * units.u_tau**3 / units.nu
    work = (force * np.diff(faces) * sim.v.values.mean(axis=(1, 2))).sum() / units.u_tau**3
    _, ((bottom, top),) = env.flows.local_drag_and_power([0])
    assert bottom.mean() == pytest.approx(work, rel=1e-9)
    assert not top.any()
    assert env.flows.members[0].sim.v.values[:4].mean() > 0
    env.close()


def test_observations_are_those_of_the_flow() -> None:
    env = ChannelEnv(config(observations=(*ALL_PLANES, SENSORS)))
    seen, _ = env.reset(options={"state": 0})
    sim, units = env.flows.members[0].sim, env.flows.units
    k = int(np.argmin(abs(sim.w.coords["z"] - (2 - 15 * units.length))))
    w = sim.w.values[k]
    np.testing.assert_allclose(seen["planes"][7], -(w - w.mean()) / units.u_tau, rtol=1e-5, atol=1e-6)
    assert seen["planes"].shape == (12, 12, 16) and seen["sensors"].shape == (6,)
    assert seen["planes"][3].mean() == pytest.approx(sim.diagnostics.friction_velocity_bottom**2 / units.u_tau**2, 1e-5)
    i = int(np.argmin(abs(sim.u.coords["x"] - 300 * units.length)))
    j = int(np.argmin(abs(sim.u.coords["y"] - 100 * units.length)))
    k = int(np.argmin(abs(sim.u.coords["z"] - 350 * units.length)))
    assert seen["sensors"][3] == pytest.approx(sim.u.values[k, j, i] / units.u_tau, rel=1e-6)
    env.close()


def test_the_package_works_without_gymnasium() -> None:
    text = """
import sys
sys.modules["gymnasium"] = sys.modules["pettingzoo"] = None
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("gymnasium", "pettingzoo"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
del sys.modules["gymnasium"], sys.modules["pettingzoo"]
import sluice, sluice.gym
from sluice.gym import Config, ControlledFlows, evaluate
for name in ("ChannelEnv", "ParallelChannelEnv", "VectorChannelEnv", "FlowEnv"):
    try:
        getattr(sluice.gym, name)
        raise SystemExit("no error")
    except ImportError as error:
        assert 'pip install "sluice-dns[gym]"' in str(error), error
"""
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)


def test_cases_that_cannot_be_controlled() -> None:
    import sluice

    wrong: dict[str, tuple[str, Any]] = {
        "flow rate": ("flow.forcing", {"pressure_gradient": 0.004}),
        "at rest": ("grid.velocity", 0.5),
        "actuation": ("walls.top", {"actuation": {"type": "oscillation", "amplitude": 1, "period": 2}}),
        "no_slip": ("walls.bottom", "free_slip"),
        "turbulent": ("initial", {"type": "laminar"}),
    }
    for message, (key, value) in wrong.items():
        case = sluice.Case(CASE)
        case[key] = value
        with pytest.raises(sluice.UsageError, match=message):
            ControlledFlows(Config(case=case), 1)
    with pytest.raises(sluice.UsageError, match="evenly"):
        ControlledFlows(config(action=Jets(patches=(5, 4))), 1)
    for keywords in ({"walls": ("left",)}, {"interval": 0.0}, {"reward": "lift"}, {"observations": ()}, {"samples": 0}):
        with pytest.raises(sluice.UsageError):
            config(**keywords)
