"""How many steps of the environment a second: python -m sluice.gym.bench --members 1 8 32."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from .. import _core
from .baselines import add_common_options, config_of_options
from .config import Config, Jets
from .controlled_flows import ControlledFlows


@dataclass(frozen=True)
class Speed:
    """Of one number of members."""

    members: int
    environment_steps_per_second: float
    """Of all members together, with observation and reward."""
    time_steps_per_second: float
    """Of all members together."""
    cell_steps_per_second: float


def speed(config: Config, members: int, steps: int) -> Speed:
    """Times so many steps of the environment with random actions."""
    flows = ControlledFlows(config, members)
    try:
        count = flows.library.count
        flows.reset({n: n % count for n in range(members)})
        generator = np.random.default_rng(1)
        limit = config.action.limit

        def act_and_step() -> None:
            shape = (members, *flows.action_shape)
            flows.act(dict(enumerate(generator.uniform(-limit, limit, shape))))
            flows.step()

        act_and_step()
        begin = time.perf_counter()
        for _ in range(steps):
            act_and_step()
        seconds = time.perf_counter() - begin
        each = flows.steps_per_interval
        cells = int(np.prod(flows.members[0].sim.u.shape))
    finally:
        flows.close()
    rate = members * steps / seconds
    return Speed(members, rate, rate * each, rate * each * cells)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m sluice.gym.bench", description=__doc__)
    add_common_options(parser)
    parser.add_argument("--members", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--steps", type=int, default=20, help="steps of the environment that are timed")
    parser.add_argument("--json", type=Path, help="file for the results")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    config = replace(config_of_options(options, 1), action=Jets(limit=0.5, patches=(4, 4)))
    print(f"on {'a GPU' if _core.is_gpu else 'CPUs'}, {_core.precision} precision")
    print(f"{'members':>8} {'environment steps/s':>20} {'time steps/s':>14} {'cells x steps/s':>16}")
    found = []
    for members in options.members:
        one = speed(config, members, options.steps)
        found.append(asdict(one))
        print(
            f"{members:8} {one.environment_steps_per_second:20.2f} {one.time_steps_per_second:14.1f} "
            f"{one.cell_steps_per_second:16.3g}"
        )
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
