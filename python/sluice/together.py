"""Several simulations that take their steps together."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import _core
from .errors import NumericsError, UsageError
from .simulation import Simulation, number_of_steps

ONE_STACK = sys.version_info >= (3, 14)
"""Whether this Python may only be called on the stack of its thread, so not within a step that is taken together."""


def step_together(simulations: Sequence[Simulation], count: int = 1) -> list[NumericsError | None]:
    """Takes `count` steps of each simulation, and returns for each the NumericsError that ended it, or None.

    A flow that blows up does not keep the others from their steps. Each simulation has the bits of `step(count)`. On a
    GPU the simulations share launches. Raises UsageError unless they are different simulations, each on this process
    alone, and ValueError as `Simulation.step`. Any other exception of a simulation is raised after all have taken the
    step.
    """
    count = number_of_steps(count)
    if len({id(simulation) for simulation in simulations}) < len(simulations):
        raise UsageError("a simulation cannot be stepped together with itself")
    if any(simulation.size > 1 for simulation in simulations):
        raise UsageError("simulations that are stepped together must be on one process each")
    errors: list[NumericsError | None] = [None] * len(simulations)
    running = dict(enumerate(simulations))
    at_once = 1 if any(simulation._needs_python for simulation in simulations) else count
    for _ in range(count // at_once if at_once else 0):
        for n, error in _step(running, at_once).items():
            errors[n] = error
            del running[n]
    return errors


def _step(simulations: dict[int, Simulation], count: int) -> dict[int, NumericsError]:
    """Returns the errors of the flows that have blown up."""
    for simulation in simulations.values():
        simulation._prepare_step()
        simulation.walls._failure = None
    sessions = [simulation._session for simulation in simulations.values()]
    if ONE_STACK and any(simulation.walls._responses for simulation in simulations.values()):
        results = [_core.step_together([session], count)[0] for session in sessions]
    else:
        results = _core.step_together(sessions, count)
    blown_up: dict[int, NumericsError] = {}
    failure: BaseException | None = None
    for (n, simulation), error in zip(simulations.items(), results, strict=True):
        if isinstance(error, NumericsError):
            blown_up[n] = error
        elif error is None:
            simulation._finish_step()
        elif failure is None:
            failure = simulation.walls._cause_of(error) if isinstance(error, UsageError) else error
    if failure is not None:
        raise failure
    return blown_up
