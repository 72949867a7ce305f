"""Simulations that are stepped from Python."""

from __future__ import annotations

import atexit
import itertools
import math
import numbers
import os
import sys
import traceback
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
from .errors import Error, UsageError
from .field import Field
from .forces import Force, Given, Source
from .forcing import Forcing
from .initial import set_initial
from .statistics import Statistics
from .walls import LOCATIONS, Plane, Walls

if TYPE_CHECKING:
    from mpi4py import MPI

    from ._core import Snapshot

Hook = TypeVar("Hook", bound=Callable[["Simulation"], object])

PATIENCE = 30.0
"""Seconds that a process with an exception waits for the others before it ends them."""

_open: weakref.WeakValueDictionary[int, Simulation] = weakref.WeakValueDictionary()
_numbers = itertools.count()


@atexit.register
def _end() -> None:
    """Closes all simulations, then MPI if Sluice has started it."""
    for _, simulation in sorted(_open.items()):  # in the same order on all processes
        try:
            simulation._close(getattr(sys, "last_value", None))
        except Exception as error:  # its last files cannot be written
            print(f"sluice: {error}", file=sys.stderr)
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


def number_of_steps(count: object) -> int:
    """The argument of `step`. Raises ValueError if it is no number of steps."""
    if isinstance(count, bool) or not isinstance(count, numbers.Integral) or count < 0:
        raise ValueError(f"step({count!r}): give the number of steps")
    return int(count)


class _Fields(dict[str, Field]):
    def __missing__(self, name: object) -> Field:
        raise UsageError(f"there is no field {name!r}; there are: {', '.join(self)}")


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
    """A case that is stepped from Python. It computes the bits of `sluice run`, and writes files only with `output`.

    `comm`: an mpi4py communicator whose processes share the grid; without it, all processes of MPI. Without mpi4py,
    MPI starts with the first simulation and ends with Python. All functions and the properties `diagnostics` and those
    of the constructor are collective: all processes of the communicator must call them, in the same order. Use it in a
    `with` statement, or call `close`.

    `output`: a directory into which all files of `sluice run --output` are written, as the keys of `output` ask.
    `restart`: "auto" goes on from the newest intact checkpoint there, or starts if there is none; the path of a
    checkpoint goes on from that one. `allow_change` and `overwrite` are the options of the same names of `sluice run`.
    Those of rank 0 count. Velocities of walls and mean forces are then as they were set; add responses, forces and
    sources again before the first step, which otherwise warns (RuntimeWarning).

    `initial` replaces parts of the initial field of the case. A one-dimensional array is the mean of u at the cell
    centres along z of the whole grid, in units of the velocity of the case; a function of z may return it. The
    perturbations of `initial.type: turbulent` are added, with the seed and amplitude of the case. A dict can have
    "profile", such a mean or a tuple (U, V) of two, and the names of fields: each a number, an array (nz, ny, nx) of
    this process or of the whole grid, or a function of the coordinates x, y and z of its points, which are arrays
    that broadcast to (nz, ny, nx). The velocity is then made divergence-free. It has no effect on a run that
    goes on from a checkpoint. Raises ValueError and TypeError.

    Raises UsageError with all problems of the case, and the errors of `sluice run`.
    """

    _begins_at_once = True  # files of an earlier run change when a session begins

    def __init__(
        self,
        case: Case | str | Mapping[str, Any],
        comm: MPI.Comm | None = None,
        *,
        output: str | os.PathLike[str] | None = None,
        restart: str | os.PathLike[str] | None = None,
        allow_change: bool = False,
        overwrite: bool = False,
        initial: Any = None,
    ) -> None:
        if not isinstance(case, Case):
            case = Case(case)
        if output is None and (restart is not None or allow_change or overwrite):
            raise UsageError("restart, allow_change and overwrite need output, the directory of the run")
        if restart is not None and overwrite:
            raise UsageError("restart goes on with the results in the directory, overwrite removes them")
        self._hooks: list[tuple[int, Callable[[Simulation], object]]] = []
        self._calls_hooks = False
        self._statistics: Statistics | None = None
        self._given: list[Given] = []
        text, file, settings = case._source()
        _core.choose(text, settings)
        self._session = _core.Session(
            text,
            file,
            settings,
            _address_of(comm),
            None if output is None else os.fspath(output),
            "" if restart is None else os.fspath(restart),
            allow_change,
            overwrite,
        )
        if self._begins_at_once:
            self._begin()
        self.walls = Walls(self, self._session)
        """The walls "bottom" and "top"."""
        self.forcing = Forcing(self._session)
        """What drives the mean flow along "streamwise" and "spanwise"."""
        self._number = next(_numbers)
        _open[self._number] = self
        self._warn(stacklevel=3)
        if initial is not None and not self._session.from_checkpoint:
            try:
                set_initial(self._session, initial)
            except BaseException:
                self.close()
                raise

    def _begin(self) -> None:
        """Takes over the output directory."""
        try:
            self._session.begin()
        except BaseException:
            self._session.close()
            raise

    def _warn(self, stacklevel: int) -> None:
        for text in self._session.take_warnings():
            warnings.warn(text, RuntimeWarning, stacklevel=stacklevel)

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Frees the memory of the simulation, except that of arrays that are still in use. Collective.

        With `output`, it first writes the last checkpoint and run.json, unless the run has failed, and then unlocks
        the directory.

        After an exception on some processes alone, others may wait for them in another function. If not all processes
        arrive here within 30 seconds, it prints the exception and ends them all.
        """
        self._close(sys.exc_info()[1])

    def _close(self, error: BaseException | None) -> None:
        """`error`: the exception that is propagating, or that has ended Python."""
        if not self._session.closed and self._session.size > 1:
            self._wait_for_all(error)
        try:
            self._session.close()
        finally:
            if self._session.closed:
                _open.pop(self._number, None)

    def _wait_for_all(self, error: BaseException | None) -> None:
        """Waits for the other processes; with an error, not for ever."""
        if self._session.all_close(math.inf if error is None else PATIENCE):
            return
        traceback.print_exception(error)
        print(
            f"sluice: process {self.rank} of {self.size} has this error; others are still running: ending all",
            file=sys.stderr,
        )
        sys.stdout.flush()
        sys.stderr.flush()
        self._session.abort(error.exit_code if isinstance(error, Error) else 1)

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
        flow has blown up, and with `output` FileError if a file cannot be written; with `output` such a run has ended.
        Warns once (RuntimeWarning) of a fixed time.dt above the stable limit.
        """
        for _ in range(number_of_steps(count)):
            self._step()

    def run(self, until: float | None = None) -> None:
        """Steps until a time is reached, without it to the end that the case sets. Collective. Raises as `step`.

        With `output` it also returns when the run is asked to stop: by the file STOP, by `walltime` or by `time.until`.
        """
        if until is not None and not isinstance(until, numbers.Real):
            raise TypeError(f"run(until={until!r}): give a time")
        until = None if until is None else float(until)
        while not self._session.at_end(until):
            self._step()

    def every(self, steps: int) -> Callable[[Hook], Hook]:
        """Decorator of a function that is called with the simulation after each step whose number is a multiple.

        It returns the function itself; `unregister` ends its calls.
        """
        if isinstance(steps, bool) or not isinstance(steps, numbers.Integral) or steps < 1:
            raise ValueError(f"every({steps!r}): give the number of steps, at least 1: @sim.every(10)")

        def register(function: Hook) -> Hook:
            self._hooks.append((steps, function))
            return function

        return register

    def unregister(self, function: Callable[[Simulation], object]) -> None:
        """Ends the calls of a function of `every`. The function itself may do so. Raises UsageError for others."""
        if not any(registered == function for _, registered in self._hooks):
            raise UsageError(f"{function!r} is not registered: `every` registers functions")
        self._hooks = [hook for hook in self._hooks if hook[1] != function]

    def _step(self) -> None:
        self._prepare_step()
        self.walls._step()
        self._finish_step()

    def _prepare_step(self) -> None:
        """What Python does before a step."""
        if self._calls_hooks:
            raise UsageError("a function of every() must not step the simulation that calls it")
        self._session.require_between_steps()
        self._refresh_given()

    def _finish_step(self) -> None:
        """What Python does after a step."""
        self._warn(stacklevel=5)
        self._calls_hooks = True
        try:
            for hook in list(self._hooks):
                if self._session.step_number % hook[0] == 0 and hook in self._hooks:  # none has removed it
                    hook[1](self)
        finally:
            self._calls_hooks = False

    @property
    def _needs_python(self) -> bool:
        """Whether Python has to do anything between two steps."""
        return bool(self._hooks or self._given or self.walls._responses)

    def _refresh_given(self) -> None:
        """Calls the update functions of forces and sources that are due."""
        self._given = [given for given in self._given if given.acts]
        self._calls_hooks = True
        try:
            for given in self._given:
                given._refresh(self)
        finally:
            self._calls_hooks = False

    def add_force(
        self,
        x: Any = None,
        y: Any = None,
        z: Any = None,
        *,
        update: Callable[[Simulation], Mapping[str, Any]] | None = None,
        every: int = 1,
    ) -> Force:
        """Adds a force per mass, in units of U^2/h, from the next step on. Call it on all processes.

        Each component is a formula of x, y, z and t such as "0.1*sin(2*pi*z)", written as in case files; a number; or
        an array of finite numbers with the shape of `u`, `v` or `w` of this process, at the same points. Arrays are
        copied: from NumPy, or from one in the memory of the GPU without a way through the host (DLPack,
        __cuda_array_interface__). Formulas are evaluated at the time of each Runge-Kutta stage; arrays stay until they
        are replaced: `force.x[...] = array`, or a function `update` that is called with the simulation before the
        first step and before each step after a multiple of `every` steps, and returns a dict of components.

        Snapshots and checkpoints do not hold forces: add them again after a restart. Time series, budgets and the limit
        of the time step do not know them.
        Raises UsageError for a formula that cannot be read, TypeError, and ValueError for a wrong shape and for values
        that are not finite.
        """
        if update is None and x is None and y is None and z is None:
            raise UsageError("add_force needs components, x, y or z, or a function `update` that returns them")
        force = Force(self._session, {"x": x, "y": y, "z": z}, update, every)
        self._given.append(force)
        return force

    def add_source(
        self, scalar: str, value: Any = None, *, update: Callable[[Simulation], Any] | None = None, every: int = 1
    ) -> Source:
        """Adds a source to a scalar, in units of C U/h, from the next step on. Call it on all processes.

        `value`: a formula, a number or an array at cell centres, as for `add_force`, which describes all else; `update`
        returns one.
        """
        if update is None and value is None:
            raise UsageError("add_source needs a value, or a function `update` that returns one")
        source = Source(self._session, scalar, value, update, every)
        self._given.append(source)
        return source

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("u", "v", "w", "p"):
            raise AttributeError(f"set the values of the field: sim.{name}[...] = ...")
        super().__setattr__(name, value)

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
        return _Fields({name: Field(self._session, name) for name in self._session.field_names()})

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
        With `output`, it must not be of an earlier step: files cannot go back.
        """
        self._session.restore(snapshot)

    @property
    def diagnostics(self) -> Diagnostics:
        """Friction velocities, bulk velocity and more. Collective. Raises NumericsError if the flow has blown up."""
        return Diagnostics(**self._session.diagnostics())

    @property
    def statistics(self) -> Statistics:
        """Averages over planes and time in memory. The first use begins them, and is collective; before it, they cost
        neither time nor memory.
        """
        if self._statistics is None:
            self._statistics = Statistics(self._session)
        return self._statistics

    def __repr__(self) -> str:
        if self.closed:
            return "<sluice.Simulation, closed>"
        return f"<sluice.Simulation at step {self.step_number}, time {self.time:g}>"
