"""Simulations that are stepped from Python, without files."""

from __future__ import annotations

import atexit
import sys
import warnings
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core
from .case import Case
from .errors import UsageError
from .field import Field
from .forcing import Forcing
from .walls import LOCATIONS, Plane, Walls

if TYPE_CHECKING:
    from mpi4py import MPI

Hook = TypeVar("Hook", bound=Callable[["Simulation"], object])
Snapshot = _core.Snapshot

_open: weakref.WeakSet[Simulation] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """Closes all simulations, then MPI if Sluice has started it."""
    for simulation in list(_open):
        simulation.close()
    _core.end_mpi()


def _address_of(comm: MPI.Comm | None) -> int | None:
    """Of the handle of a communicator; None if all processes take part and mpi4py does not say which these are."""
    loaded = sys.modules.get("mpi4py.MPI")
    if loaded is None:
        if comm is not None:
            raise TypeError(f"comm must be a communicator of mpi4py, not {comm!r}")
        return None
    if comm is None:
        comm = loaded.COMM_WORLD
    if not isinstance(comm, loaded.Comm) or comm == loaded.COMM_NULL:
        raise TypeError(f"comm must be a communicator of mpi4py, not {comm!r}")
    return int(loaded._addressof(comm))


@dataclass(frozen=True)
class Diagnostics:
    """Numbers that describe a flow at one time, in units of h and the velocity of the case. docs/equations.md."""

    bulk_velocity: float
    """Volume mean of u."""
    kinetic_energy: float
    """Volume mean of |u|^2/2."""
    max_divergence: float
    """Largest |div u|."""
    friction_velocity_bottom: float
    friction_velocity_top: float
    re_tau_bottom: float
    """Friction velocity times h/nu."""
    re_tau_top: float
    scalars: Mapping[str, Mapping[str, float]]
    """Of each scalar: mean, largest (magnitude), flux_bottom and flux_top (into the fluid)."""
    further: Mapping[str, float]
    """Those that terms such as a magnetic field add to the time series, by the names of their columns."""


class Simulation:
    """A case that is stepped from Python. It computes the bits of `sluice run`, and writes no files.

    `comm`: an mpi4py communicator whose processes share the grid; without it, all processes of MPI. Without mpi4py,
    MPI starts with the first simulation and ends with Python. All functions and the properties `diagnostics` and those
    of the constructor are collective: all processes of the communicator must call them, in the same order. Use it in a
    `with` statement, or call `close`.

    Raises UsageError with all problems of the case, and the errors of `sluice run`.
    """

    def __init__(self, case: Case | str | Mapping[str, Any], comm: MPI.Comm | None = None) -> None:
        if not isinstance(case, Case):
            case = Case(case)
        self._hooks: list[tuple[int, Callable[[Simulation], object]]] = []
        self._calls_hooks = False
        self._session = _core.Session(*case._source(), _address_of(comm))
        self.walls = Walls(self, self._session)
        """The walls "bottom" and "top"."""
        self.forcing = Forcing(self._session)
        """What drives the mean flow along "streamwise" and "spanwise"."""
        _open.add(self)
        for text in self._session.warnings:
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Frees the memory of the simulation, except that of arrays that are still in use. Collective."""
        self._session.close()
        _open.discard(self)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._session.closed

    @property
    def time(self) -> float:
        """Time in units of h over the velocity of the case."""
        return self._session.time

    @property
    def step_number(self) -> int:
        """The number of steps since time 0."""
        return self._session.step_number

    @property
    def dt(self) -> float:
        """The length of the last step; 0 before the first."""
        return self._session.dt

    @property
    def rank(self) -> int:
        """The number of this process in the communicator."""
        return self._session.rank

    @property
    def size(self) -> int:
        """The number of processes that share the grid."""
        return self._session.size

    def step(self, count: int = 1) -> None:
        """Takes `count` steps, whose length the case sets. Collective.

        Ctrl-C ends it between two steps with KeyboardInterrupt; the simulation can go on. Raises NumericsError if the
        flow has blown up.
        """
        for _ in range(count):
            self._step()

    def run(self, until: float | None = None) -> None:
        """Steps until a time is reached, without it to the end that the case sets. Collective. Raises as `step`."""
        while not self._session.at_end(until):
            self._step()

    def every(self, steps: int) -> Callable[[Hook], Hook]:
        """Decorator of a function that is called with the simulation after each step whose number is a multiple."""
        if steps < 1:
            raise ValueError(f"every({steps}): the number of steps must be at least 1")

        def register(function: Hook) -> Hook:
            self._hooks.append((steps, function))
            return function

        return register

    def _step(self) -> None:
        if self._calls_hooks:
            raise UsageError("a function of every() must not step the simulation that calls it")
        self.walls._step()
        self._calls_hooks = True
        try:
            for steps, function in self._hooks:
                if self._session.step_number % steps == 0:
                    function(self)
        finally:
            self._calls_hooks = False

    @property
    def u(self) -> Field:
        """Streamwise velocity, at x faces."""
        return Field(self._session, "u")

    @property
    def v(self) -> Field:
        """Spanwise velocity, at y faces."""
        return Field(self._session, "v")

    @property
    def w(self) -> Field:
        """Wall-normal velocity, at z faces."""
        return Field(self._session, "w")

    @property
    def p(self) -> Field:
        """Pressure over density, at cell centres and at the middle of the last substep."""
        return Field(self._session, "p")

    @property
    def fields(self) -> dict[str, Field]:
        """All fields by name: u, v, w, p and the scalars, which are at cell centres."""
        return {name: Field(self._session, name) for name in self._session.field_names()}

    def plane(self, name: str, z: float) -> Plane:
        """The plane of a field nearest to this height, on all processes: each has its part in x and y. Collective.

        For u, v, p and scalars inside of a response, Sluice corrects the whole velocity first; w alone costs less. The
        next call for the same plane overwrites the memory of this one.
        """
        location = LOCATIONS.get(name, "centre")
        return Plane(self._session, name, location, _core.plane_of_flow(self._session, name, float(z)))

    def project(self) -> None:
        """Makes the velocity divergence-free and brings the walls up to date, after changes of fields. Collective."""
        self._session.project()

    def gather(self, name: str) -> npt.NDArray[np.floating[Any]] | None:
        """A copy of a whole field, (nz, ny, nx), on rank 0; None elsewhere. Collective."""
        return self._session.gather(name)

    def snapshot(self) -> Snapshot:
        """A copy of the flow in the memory of the device, to which `restore` returns. Collective."""
        return self._session.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Returns to a snapshot: the next steps have the bits of those that followed it. Collective.

        The snapshot may be of another simulation with the same grid, fields and process grid; otherwise UsageError.
        """
        self._session.restore(snapshot)

    @property
    def diagnostics(self) -> Diagnostics:
        """Friction velocities, bulk velocity and more. Collective. Raises NumericsError if the flow has blown up."""
        return Diagnostics(**self._session.diagnostics())

    def __repr__(self) -> str:
        if self.closed:
            return "<sluice.Simulation, closed>"
        return f"<sluice.Simulation at step {self.step_number}, time {self.time:g}>"
