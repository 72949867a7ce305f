"""Controls from the literature, and what they save: python -m sluice.gym.baselines --help."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .config import Config, States
from .evaluation import Evaluation, compare, record
from .policies import NoControl, Opposition, Oscillation, Policy, UpstreamWave
from .states import library_of

__all__ = ["NoControl", "Opposition", "Oscillation", "Policy", "UpstreamWave", "all_baselines", "main"]

PUBLISHED = {
    "opposition": "about 25 % at Re_tau 180, detection at 15 (Hammond et al. 1998)",
    "oscillation": "about 33 % at Re_tau 200, W+ 12, T+ 100 (Quadrio & Ricco 2004)",
}
"""Drag reductions to compare with."""


def all_baselines(box_length: float) -> list[Policy]:
    """One of each, for a box of this length along x in h."""
    return [NoControl(), Opposition(), Oscillation(), UpstreamWave(length=box_length)]


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """--case, --set, --interval, --states and --cache."""
    parser.add_argument("--case", help="a case that comes with Sluice, or a case file; default: a small channel")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="sets a key of the case")
    parser.add_argument("--interval", type=float, default=5.0, help="control interval in wall units")
    parser.add_argument("--states", type=int, help="states of the library; default: as many as members, at least 16")
    parser.add_argument("--transient", type=float, default=States.transient, help="of the library, in h/u_tau")
    parser.add_argument("--separation", type=float, default=States.separation, help="of the library, in h/u_tau")
    parser.add_argument("--cache", help="directory of the library of initial states")


def config_of_options(options: argparse.Namespace, members: int) -> Config:
    """The configuration that the common options ask for."""
    from ..case import Case

    case = Config().case if options.case is None else options.case
    made = Case(case)  # type: ignore[arg-type]
    for setting in options.set:
        key, _, value = setting.partition("=")
        try:
            made[key] = json.loads(value)
        except ValueError:
            made[key] = value
    count = max(16, members) if options.states is None else options.states
    states = States(
        count=count, transient=options.transient, separation=options.separation, cache=options.cache,
        chains=min(count, 8 if members >= 8 else 4),
    )  # fmt: skip
    return Config(case=made, interval=options.interval, states=states, reward="net_saving")


def table(found: dict[str, Evaluation]) -> str:
    """What baselines save, one a line."""
    lines = [f"{'policy':<14} {'drag reduction':>18} {'net saving':>18} {'samples':>8}  averaging"]
    for name, one in found.items():
        cells = [f"{100 * e.mean:7.2f} +- {100 * e.half_width:5.2f} %" for e in (one.drag_reduction, one.net_saving)]
        lines.append(f"{name:<14} {cells[0]:>18} {cells[1]:>18} {one.independent_samples:8.0f}  {one.statement}")
    return "\n".join(lines)


def measure(
    policies: Sequence[Policy], config: Config, members: int, horizon: float, say: Callable[[str], Any] = print
) -> dict[str, Evaluation]:
    """Evaluates policies beside one reference. `say` gets a line after each run."""
    found: dict[str, Evaluation] = {}
    begin = time.perf_counter()
    reference = record(None, config, members, horizon)
    say(f"without control: {time.perf_counter() - begin:.0f} s")
    for policy in policies:
        begin = time.perf_counter()
        if isinstance(policy, NoControl):
            found[policy.name] = compare(reference, reference)
            continue
        found[policy.name] = compare(record(policy, config, members, horizon), reference)
        say(f"{policy.name}: {time.perf_counter() - begin:.0f} s")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m sluice.gym.baselines", description=__doc__)
    add_common_options(parser)
    parser.add_argument("--members", type=int, default=8, help="flows, from different states")
    parser.add_argument("--horizon", type=float, default=3000.0, help="length of each run in wall units")
    parser.add_argument("--walls", nargs="+", default=["bottom", "top"], choices=["bottom", "top"])
    parser.add_argument("--json", type=Path, help="file for the results")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    config = replace(config_of_options(options, options.members), walls=tuple(options.walls))
    length = float(config.uncontrolled_case()["domain.size"][0])
    library = library_of(config)
    units = library.units
    print(
        f"Re_tau {units.re_tau:.1f} without control, wall shear +- {100 * units.drag_interval:.1f} %; "
        f"{options.members} members, {options.horizon:g} wall units each, on {', '.join(config.walls)}"
    )
    found = measure(all_baselines(length), config, options.members, options.horizon)
    print(table(found))
    for name, text in PUBLISHED.items():
        print(f"published, {name}: {text}")
    if options.json:
        results = {name: asdict(one) for name, one in found.items()}
        about = {"units": asdict(units), "members": options.members, "horizon": options.horizon, "baselines": results}
        options.json.write_text(json.dumps(about, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
