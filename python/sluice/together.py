"""Several simulations that take their steps together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import NumericsError, UsageError
from .field import checked_values
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
    _require_different(simulations, "stepped")
    errors: list[NumericsError | None] = [None] * len(simulations)
    running = dict(enumerate(simulations))
    at_once = 1 if any(simulation._needs_python for simulation in simulations) else count
    for _ in range(count // at_once if at_once else 0):
        for n, error in _step(running, at_once).items():
            errors[n] = error
            del running[n]
    return errors


def read_together(simulations: Sequence[Simulation], planes: Sequence[tuple[str, float | str]]) -> npt.NDArray[Any]:
    """Reads planes of each simulation at once: a copy (simulations, planes, ny, nx) in host memory.

    A plane is (NAME, z), a field at the height of the grid that is nearest to z, as `Simulation.plane` gives it; or
    (NAME, WALL), the velocity u, v or w of the wall "bottom" or "top". On a GPU the simulations share launches, and all
    values come in one copy. Raises UsageError unless they are different simulations, each on this process alone, whose
    planes have one shape.
    """
    sessions = _sessions_of(simulations, "read")
    return _core.read_together(
        sessions, [(name, place if isinstance(place, str) else float(place)) for name, place in planes]
    )


def set_walls_together(
    simulations: Sequence[Simulation], walls: Sequence[tuple[str, str]], values: npt.ArrayLike
) -> None:
    """Sets velocities of walls of each simulation at once, as an assignment to `WallVelocity` does.

    `walls`: a component and a wall for each plane, such as ("w", "top"). `values`: (simulations, walls, ny, nx) in host
    memory, real and finite, or a number. Nothing is set if one cannot be. Raises TypeError, ValueError, and UsageError
    as `read_together`, or if the case or a response sets a component.
    """
    sessions = _sessions_of(simulations, "set")
    if len(set(walls)) < len(walls):
        raise UsageError("a velocity of a wall can be set once at a time")
    _core.set_walls_together(sessions, list(walls), _planes(sessions, len(walls), values))


def wall_means(simulations: Sequence[Simulation], sides: Sequence[str], values: npt.ArrayLike) -> npt.NDArray[Any]:
    """`Wall.mean` of values (simulations, walls, ny, nx) in host memory, one plane for each of the walls."""
    sessions = _sessions_of(simulations, "averaged")
    return np.array(_core.wall_means(sessions, list(sides), _planes(sessions, len(sides), values)))


def _require_different(simulations: Sequence[Simulation], done: str) -> None:
    """Raises UsageError if the simulations cannot be `done` together."""
    if len({id(simulation) for simulation in simulations}) < len(simulations):
        raise UsageError(f"a simulation cannot be {done} together with itself")
    if any(simulation.size > 1 for simulation in simulations):
        raise UsageError(f"simulations that are {done} together must be on one process each")


def _sessions_of(simulations: Sequence[Simulation], done: str) -> list[_core.Session]:
    _require_different(simulations, done)
    if not simulations:
        raise UsageError("give at least one simulation")
    return [simulation._session for simulation in simulations]


def _planes(sessions: list[_core.Session], count: int, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """So many planes for each session, as the compiled module takes them."""
    shape = (len(sessions), count, *_core.plane_shape(sessions[0]))
    return np.ascontiguousarray(np.broadcast_to(checked_values(values, shape, "walls"), shape))


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
