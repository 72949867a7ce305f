"""How much a policy saves, with intervals, beside the flow without control from the same states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, nan
from typing import Any

import numpy as np

from .acting import Respond, checked_action
from .config import Config
from .controlled_flows import ControlledFlows, Outcome, Seen
from .intervals import ENOUGH_SAMPLES, Array, Estimate, independent_samples, ratio, transient_end
from .states import WallUnits, library_of

FORMS = ("auto", "held", "response", "actuation")


@dataclass(frozen=True)
class Series:
    """Of members (first axis) after each interval: drag over that of the uncontrolled flow, power in wall units."""

    drag: Array
    power: Array
    bulk_velocity: float
    """Over u_tau0."""
    interval: float
    """In wall units."""
    blow_ups: tuple[int, ...] = ()
    """Members whose flow blew up; their later values are nan."""


@dataclass(frozen=True)
class Evaluation:
    """What a policy saves. Fractions of the drag, or of the power, of the flow without control."""

    drag_reduction: Estimate
    net_saving: Estimate
    transient: float
    """The time that was left out at the start, in wall units."""
    independent_samples: float
    """That the rest is worth, over all members."""
    is_long_enough: bool
    statement: str
    """Whether the average is long enough, in words."""
    members: int
    horizon: float
    blow_ups: tuple[int, ...]

    def __str__(self) -> str:
        def percent(value: Estimate) -> str:
            return f"{100 * value.mean:.2f} % +- {100 * value.half_width:.2f} %"

        return (
            f"drag reduction {percent(self.drag_reduction)}, net saving {percent(self.net_saving)} "
            f"(95 %, {self.members} members); {self.statement}"
        )


def compare(controlled: Series, reference: Series, transient: float | None = None) -> Evaluation:
    """Compares series of the same members at the same times. `transient`: time to leave out; None: it is found."""
    members, count = controlled.drag.shape
    interval, bulk = controlled.interval, controlled.bulk_velocity
    kept = [n for n in range(members) if n not in controlled.blow_ups and n not in reference.blow_ups]
    lost = tuple(n for n in range(members) if n not in kept)
    if not kept:
        nothing = Estimate(nan, nan)
        return Evaluation(
            nothing, nothing, 0.0, 0.0, False, "the flow of every member has blown up", members, count * interval, lost
        )
    drag, power, without = controlled.drag[kept], controlled.power[kept], reference.drag[kept]
    if transient is None:
        first, ends = transient_end(drag)
    else:
        first, ends = min(count - 1, ceil(transient / interval * (1 - 1e-9))), True
    drag, power, without = drag[:, first:], power[:, first:], without[:, first:]
    total = ratio(drag, without)
    # The force gives the flow drag times bulk velocity, and the walls give it their power.
    both = ratio(drag + power / bulk, without)
    samples = min(independent_samples(drag), independent_samples(without))
    statement = _statement(ends, samples, first * interval, lost)
    return Evaluation(
        Estimate(1 - total.mean, total.half_width),
        Estimate(1 - both.mean, both.half_width),
        first * interval,
        samples,
        statement.startswith("long enough"),
        statement,
        members,
        count * interval,
        lost,
    )


def _statement(ends: bool, samples: float, transient: float, lost: tuple[int, ...]) -> str:
    faults = []
    if lost:
        faults.append(f"the flows of members {', '.join(map(str, lost))} have blown up and are left out")
    if not ends:
        faults.append("the initial transient takes half of the time or more")
    if samples < ENOUGH_SAMPLES:
        faults.append(f"{samples:.0f} independent samples, {ENOUGH_SAMPLES} are needed")
    if faults:
        return "not long enough: " + "; ".join(faults)
    return f"long enough: {samples:.0f} independent samples after a transient of {transient:.0f} wall units"


def run(
    flows: ControlledFlows,
    policy: Callable[..., Any] | None,
    horizon: float,
    responses: Callable[[str, WallUnits], Respond] | None = None,
) -> Series:
    """Runs all members from the states 0, 1, ... and records drag and power.

    Without a policy no action is set; `responses` make responses of the walls instead (ControlledFlows.respond).
    """
    members = len(flows.members)
    if members > flows.library.count:
        raise ValueError(f"{members} members need as many states, and the library has {flows.library.count}")
    count = max(2, ceil(horizon / flows.config.interval * (1 - 1e-9)))
    drag, power = np.full((members, count), nan), np.full((members, count), nan)
    seen = flows.reset({n: n for n in range(members)})
    if responses is not None:
        flows.respond(responses)
    alive, lost = list(range(members)), []
    for k in range(count):
        if policy is not None:
            flows.act(_actions(policy, flows, seen, alive, k * flows.config.interval))
        outcomes: dict[int, tuple[Outcome, Seen]] = flows.step(alive)
        for n, (outcome, now) in outcomes.items():
            drag[n, k], power[n, k], seen[n] = outcome.drag, outcome.power, now
            if outcome.blow_up:
                lost.append(n)
        alive = [n for n in alive if n not in lost]
        if not alive:
            break
    return Series(drag, power, flows.members[0].bulk_velocity, flows.config.interval, tuple(sorted(lost)))


def _actions(
    policy: Callable[..., Any], flows: ControlledFlows, seen: dict[int, Seen], numbers: list[int], time: float
) -> dict[int, Array]:
    info = ({"time": time},) if getattr(policy, "uses_info", False) else ()
    if getattr(policy, "batched", False):
        first = seen[numbers[0]]
        if isinstance(first, dict):
            stacked: Any = {name: np.stack([seen[n][name] for n in numbers]) for name in first}  # type: ignore[call-overload]
        else:
            stacked = np.stack([seen[n] for n in numbers])  # type: ignore[misc]
        found = dict(zip(numbers, policy(stacked, *info), strict=True))
    else:
        found = {n: policy(seen[n], *info) for n in numbers}
    return {n: checked_action(action, flows.action_shape, f"member {n}") for n, action in found.items()}


def record(
    policy: Callable[..., Any] | None, config: Config, members: int, horizon: float, form: str = "auto"
) -> Series:
    """Series of a policy, or without control of None.

    `form`: "held": actions on observations; "response": at every substep; "actuation": by the case file; "auto": the
    last of these that the policy has.
    """
    if form not in FORMS:
        raise ValueError(f"form must be one of {FORMS}, not {form!r}")
    action = getattr(policy, "action", None)
    if action is not None and (form != "held" or type(action) is not type(config.action)):
        config = replace(config, action=action)
    walls, responses = None, None
    if policy is not None and hasattr(policy, "actuation") and form in ("auto", "actuation"):
        units = library_of(config).units
        found = {side: policy.actuation(side, units) for side in config.walls}
        if all(one is not None for one in found.values()):
            walls = {side: one for side, one in found.items() if one}
    if walls is None and hasattr(policy, "response") and form in ("auto", "response"):
        units = library_of(config).units
        if all(policy.response(side, units) is not None for side in config.walls):  # type: ignore[union-attr]
            responses = policy.response  # type: ignore[union-attr]
    if (form == "actuation" and walls is None) or (form == "response" and responses is None):
        raise ValueError(f"the policy has no {form}")
    flows = ControlledFlows(config, members, walls)
    try:
        acts = policy if policy is not None and walls is None and responses is None else None
        return run(flows, acts, horizon, responses)
    finally:
        flows.close()


def evaluate(
    policy: Callable[..., Any],
    env: Any = None,
    members: int = 4,
    horizon: float = 2000.0,
    *,
    form: str = "auto",
    transient: float | None = None,
    reference: Series | None = None,
) -> Evaluation:
    """Drag reduction and net saving of a policy, against the flow without control from the same states.

    `env`: a Config, or an environment, whose Config is used; it is not stepped. `members`: flows, which start from the
    states 0, 1, ... of the library. `horizon`: time in wall units. `transient`: time to leave out of the means; None:
    it is detected. `reference`: `record(None, config, members, horizon)`, to use it several times. `form`: see record.
    """
    config = env if isinstance(env, Config) else getattr(env, "config", None) or Config()
    controlled = record(policy, config, members, horizon, form)
    if reference is None:
        reference = record(None, config, members, horizon)
    if reference.drag.shape != controlled.drag.shape:
        raise ValueError(f"the reference has the shape {reference.drag.shape}, not {controlled.drag.shape}")
    return compare(controlled, reference, transient)
