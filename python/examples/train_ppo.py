"""Learns a control that reduces drag, by proximal policy optimisation (PPO) in PyTorch. At most 20 minutes of a GPU.

    python train_ppo.py                       # Re_tau 180, 16 flows
    python train_ppo.py --cpu --updates 2     # whether it runs: a grid that resolves no turbulence

The walls blow and suck with w = a w(15) + b u(15): w and the fluctuation of u at 15 wall units above each cell. The
agent sets the gains a and b every 15 wall units of time, from the drag and the fluctuations that it sees; the jets
follow the flow every 1.5 wall units. It starts near a = b = 0 and is told the drag alone. Opposition control is
a = -1, b = 0. The schedule of the gains, not the form of the control, is what it learns.

What this does not show: that a network which reads the whole plane finds more than opposition control; that the result
holds at another Reynolds number, in larger boxes or over longer times than those it was trained on; that PPO is the
best method, or its settings the best ones. One run is one seed: repeat it with several before you publish a number.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from sluice.gym import Config, FlowPlane, Jets, States, VectorChannelEnv, WallShear, evaluate
from sluice.gym.evaluation import record
from sluice.gym.policies import Opposition

PLANES = (FlowPlane("w", 15), FlowPlane("u", 15), WallShear())
HOLD = 10  # steps of the environment, of 1.5 wall units, for which gains are held
LIMIT = 1.5  # of the gains
TINY = {
    "flow": {"type": "channel", "reynolds": {"bulk": 5600}, "forcing": {"bulk_velocity": 1}},
    "domain": {"size": ["pi", "pi/2", 2]},
    "grid": {"cells": [16, 12, 16], "stretching": {"type": "tanh", "factor": 1.6}},
    "time": {"end": 100, "cfl": 0.9, "diffusion": "implicit_z"},
    "initial": {"type": "turbulent", "seed": 3},
}


def split(seen: np.ndarray) -> np.ndarray:
    """Observations (members, walls times planes, ny, nx) as (members, walls, planes, ny, nx)."""
    return seen.reshape(len(seen), -1, len(PLANES), *seen.shape[-2:])


def features(seen: np.ndarray) -> np.ndarray:
    """What the agent sees: drag, the root mean squares of w and u, and their correlation; (members, 4)."""
    planes = split(seen)
    w, u, shear = planes[:, :, 0], planes[:, :, 1], planes[:, :, 2]
    axes = (1, 2, 3)
    rms_w, rms_u = np.sqrt((w**2).mean(axes)) + 1e-6, np.sqrt((u**2).mean(axes)) + 1e-6
    parts = [shear.mean(axes) - 1, 2 * rms_w - 1, rms_u / 3 - 1, (w * u).mean(axes) / (rms_w * rms_u)]
    return np.stack(parts, axis=1).astype(np.float32)


def jets(seen: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """w of the walls, (members, walls, ny, nx)."""
    planes = split(seen)
    a, b = np.clip(gains, -LIMIT, LIMIT).T.reshape(2, -1, 1, 1, 1)
    return a * planes[:, :, 0] + b * planes[:, :, 1] / 3  # u fluctuates about three times as much


class Agent(nn.Module):
    """Mean and spread of the gains, and the value of a state."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()

        def network(outputs: int) -> nn.Sequential:
            return nn.Sequential(
                nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, outputs)
            )

        self.actor, self.critic = network(2), network(1)
        self.log_spread = nn.Parameter(torch.full((2,), -1.0))
        with torch.no_grad():
            self.actor[-1].weight.mul_(0.1)
            self.actor[-1].bias.zero_()

    def distribution(self, x: torch.Tensor) -> torch.distributions.Normal:
        """Of the gains."""
        return torch.distributions.Normal(self.actor(x), self.log_spread.exp())


class Learned:
    """What was learned, as a policy for `evaluate`: the mean gains of the agent, set anew every HOLD calls."""

    batched = True

    def __init__(self, agent: Agent) -> None:
        self.agent, self.calls, self.gains = agent, 0, np.zeros((1, 2))

    def __call__(self, seen: np.ndarray) -> np.ndarray:
        """The jets of all members."""
        if self.calls % HOLD == 0:
            with torch.no_grad():
                self.gains = self.agent.actor(torch.from_numpy(features(seen))).numpy()
        self.calls += 1
        return jets(seen, self.gains)


class Rollout:
    """Decisions of all members in turn; each holds its gains for HOLD steps of the environment."""

    def __init__(self, env: VectorChannelEnv, seed: int) -> None:
        self.env = env
        self.seen, _ = env.reset(seed=seed)

    def decide(self, gains: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean rewards, whether the flow blew up, whether the episode ended. Members whose episode ends wait."""
        count = len(gains)
        total, steps = np.zeros(count), np.zeros(count)
        lost, over = np.zeros(count, bool), np.zeros(count, bool)
        for _ in range(HOLD):
            self.seen, rewards, terminated, truncated, _ = self.env.step(jets(self.seen, gains * ~over[:, None]))
            total += np.where(over, 0, rewards)
            steps += ~over
            lost |= terminated & ~over
            over |= terminated | truncated
        return total / steps, lost, over


def collect(rollout: Rollout, agent: Agent, length: int) -> dict[str, torch.Tensor]:
    """`length` decisions of each member, with advantages and returns."""
    kept: dict[str, list[Any]] = {name: [] for name in ("x", "gains", "log", "value", "reward", "lost", "over")}
    for _ in range(length):
        x = torch.from_numpy(features(rollout.seen))
        with torch.no_grad():
            chosen = agent.distribution(x)
            gains = chosen.sample()
            kept["log"].append(chosen.log_prob(gains).sum(-1))
            kept["value"].append(agent.critic(x)[:, 0])
        reward, lost, over = rollout.decide(gains.numpy().astype(np.float64))
        kept["x"].append(x)
        kept["gains"].append(gains)
        for name, values in (("reward", reward), ("lost", lost), ("over", over)):
            kept[name].append(torch.as_tensor(values, dtype=torch.float32))
    with torch.no_grad():
        following = agent.critic(torch.from_numpy(features(rollout.seen)))[:, 0]
    found = {name: torch.stack(values) for name, values in kept.items()}
    found["advantage"] = advantages(found, following)
    found["return"] = found["advantage"] + found["value"]
    return found


def advantages(
    found: dict[str, torch.Tensor], following: torch.Tensor, discount: float = 0.95, trace: float = 0.9
) -> torch.Tensor:
    """Generalised advantage estimates. A truncated episode goes on in the value of its last state, a lost one in 0."""
    result = torch.zeros_like(found["reward"])
    carried = torch.zeros_like(following)
    for k in reversed(range(len(result))):
        # After the end of an episode the next state is of another one: its own value stands for what would follow.
        after = torch.where(found["over"][k] > 0, found["value"][k], following) * (1 - found["lost"][k])
        delta = found["reward"][k] + discount * after - found["value"][k]
        carried = delta + discount * trace * (1 - found["over"][k]) * carried
        result[k], following = carried, found["value"][k]
    return result


def improve(agent: Agent, optimizer: torch.optim.Optimizer, found: dict[str, torch.Tensor], epochs: int = 8) -> float:
    """One update of PPO. Returns the mean change of the log probability."""
    data = {name: values.flatten(0, 1) for name, values in found.items()}
    gain = data["advantage"]
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    change = torch.zeros(())
    for _ in range(epochs):
        for part in torch.randperm(len(gain)).split(max(16, len(gain) // 4)):
            chosen = agent.distribution(data["x"][part])
            change = chosen.log_prob(data["gains"][part]).sum(-1) - data["log"][part]
            ratio = change.exp()
            policy = -torch.min(ratio * gain[part], ratio.clamp(0.8, 1.2) * gain[part]).mean()
            value = ((agent.critic(data["x"][part])[:, 0] - data["return"][part]) ** 2).mean()
            loss = policy + 0.5 * value - 0.001 * chosen.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    return float(change.detach().mean())


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu", action="store_true", help="a tiny flow, to see whether the program runs")
    parser.add_argument("--members", type=int, help="flows; default 16, with --cpu 2")
    parser.add_argument("--updates", type=int, default=1000, help="at most so many updates")
    parser.add_argument("--minutes", type=float, default=16.0, help="time for the updates")
    parser.add_argument("--decisions", type=int, default=16, help="of each member between two updates")
    parser.add_argument("--horizon", type=float, help="of the evaluation in wall units; default 1500, with --cpu 30")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", help="directory of the library of initial states")
    parser.add_argument("--output", type=Path, default=Path("ppo.json"), help="file of the results")
    options = parser.parse_args(arguments)
    options.members = options.members or (2 if options.cpu else 16)
    options.horizon = options.horizon or (30.0 if options.cpu else 1500.0)
    return options


def main(arguments: list[str] | None = None) -> int:
    """Trains, evaluates and writes the results."""
    options = options_of(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(options.seed)
    states = States(count=max(16, options.members), cache=options.cache)
    config = Config(interval=1.5, episode=600.0, observations=PLANES, action=Jets(limit=2.0), states=states)
    if options.cpu:
        tiny = States(count=max(2, options.members), chains=2, transient=0.5, separation=0.2, cache=options.cache)
        config = replace(config, case=TINY, states=tiny)
    env = VectorChannelEnv(options.members, config)
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=options.rate)
    rollout = Rollout(env, options.seed)
    history, begin = [], time.monotonic()
    for update in range(options.updates):
        found = collect(rollout, agent, options.decisions)
        improve(agent, optimizer, found)
        mean, (a, b) = float(found["reward"].mean()), found["gains"].mean((0, 1)).tolist()
        history.append({"seconds": time.monotonic() - begin, "drag_reduction": mean, "a": a, "b": b})
        print(f"update {update + 1}: drag reduction {100 * mean:6.2f} %, gains {a:6.2f} {b:6.2f}", flush=True)
        if time.monotonic() - begin > 60 * options.minutes:
            break
    env.close()
    members = min(8, options.members)
    reference = record(None, config, members, options.horizon)
    results = {}
    for name, policy in (("learned", Learned(agent)), ("opposition", Opposition(planes=len(PLANES)))):
        result = evaluate(policy, config, members, options.horizon, form="held", reference=reference)
        print(f"{name}: {result}")
        results[name] = {"mean": result.drag_reduction.mean, "half_width": result.drag_reduction.half_width}
    options.output.write_text(json.dumps({"results": results, "history": history}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
