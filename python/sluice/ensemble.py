"""Several flows of one case that are stepped together."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from .case import Case
from .errors import NumericsError
from .simulation import Simulation
from .together import step_together

if TYPE_CHECKING:
    from mpi4py import MPI


class _Member(Simulation):
    _begins_at_once = False


class Ensemble:
    """Members that differ in the seed of their first field, and in keys of the case if wished.

    The case can have the section `ensemble`: the members are then those of `sluice run`. `members`, `seeds` and `vary`
    set its keys. `members`: their number. `seeds`: the seed of the first member, which those of the others follow, or a
    list of one for each member; by default that of the case is the first. `vary`: keys of the case by their paths, with
    a value for each member: numbers, formulas or, for keys of several numbers, lists of them. Each member has its own
    time step, and the bits of the simulation that it would be alone. On a GPU they share most launches.

    `output`: a directory. Member n writes the files of a simulation to its folder member_00, member_01, ..., and
    ensemble.json says what differs. `restart`, `allow_change` and `overwrite` are those of Simulation, for each
    member; `restart` can only be "auto". All members are on this process. Use it in a `with` statement, or call
    `close`.

    Raises UsageError, and the errors of Simulation. Nothing of an earlier ensemble in `output` is then changed, but
    logs, unless an error comes from a full disk or the like.
    """

    def __init__(
        self,
        case: Case | str | Mapping[str, Any],
        members: int | None = None,
        *,
        seeds: int | Iterable[int] | None = None,
        vary: Mapping[str, Iterable[Any]] | None = None,
        output: str | os.PathLike[str] | None = None,
        restart: str | None = None,
        allow_change: bool = False,
        overwrite: bool = False,
    ) -> None:
        case = case.copy() if isinstance(case, Case) else Case(case)
        varied = None if vary is None else {key: _listed(values) for key, values in vary.items()}
        for key, value in {"members": members, "seeds": _listed(seeds), "vary": varied}.items():
            if value is not None:
                case[f"ensemble.{key}"] = value
        text, file, settings = case._source()
        _core.choose(text, settings)
        self._case = _core.EnsembleCase(text, file, settings, None if output is None else os.fspath(output))
        self.varied: dict[str, list[Any]] = json.loads(self._case.record)["varied"]
        """The values of each key that differs between members, as ensemble.json has them."""
        self.members: list[Simulation] = []
        """The simulations."""
        names = self._case.names
        self.errors: list[NumericsError | None] = [None] * len(names)
        """The error that has ended each member; None while it can go on."""
        try:
            if output is not None:
                for warning in self._case.claim(restart or "", allow_change, overwrite):
                    warnings.warn(warning, RuntimeWarning, stacklevel=2)
            for name, own in zip(names, self._case.member_settings, strict=True):
                self.members.append(
                    _Member(
                        case._with(own),
                        _alone(),
                        output=None if output is None else Path(self._case.directory) / name,
                        restart=restart,
                        allow_change=allow_change,
                        overwrite=overwrite,
                    )
                )
            if output is not None:
                self._case.take_over()
            for member in self.members:
                member._begin()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Simulation]:
        return iter(self.members)

    def __getitem__(self, number: int) -> Simulation:
        return self.members[number]

    @property
    def time(self) -> npt.NDArray[np.float64]:
        """The time of each member."""
        return np.array([member.time for member in self.members])

    def values(self, name: str) -> npt.NDArray[np.floating[Any]]:
        """A copy of a field of all members, (member, nz, ny, nx)."""
        return np.stack([member.fields[name].values for member in self.members])

    def step(self, count: int = 1) -> None:
        """Takes `count` steps of each member that has not blown up. Raises NumericsError when none is left."""
        self._step([n for n, error in enumerate(self.errors) if error is None], count)

    def run(self, until: float | None = None) -> None:
        """Steps each member until a time is reached, without it to the end of the case. Otherwise as `step`.

        With `output` it obeys the files STOP and CHECKPOINT in the directory of the ensemble and in those of members.
        """
        while True:
            self._case.pass_on_requests()
            running = [
                n
                for n, member in enumerate(self.members)
                if self.errors[n] is None and not member._session.at_end(until)
            ]
            if not running:
                break
            self._step(running, 1)

    def _step(self, numbers: list[int], count: int) -> None:
        for n, error in zip(numbers, step_together([self.members[n] for n in numbers], count), strict=True):
            self.errors[n] = error
        blown_up = [error for error in self.errors if error is not None]
        if len(blown_up) == len(self.members):
            raise blown_up[0]

    def close(self) -> None:
        """Closes all members: see Simulation.close. Raises the first error after all are closed."""
        failure: BaseException | None = None
        for member in self.members:
            try:
                member.close()
            except Exception as error:
                failure = failure or error
        self._case.release()
        if failure is not None:
            raise failure

    def __enter__(self) -> Ensemble:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sluice.Ensemble of {len(self)}, {sum(error is None for error in self.errors)} of them can go on>"


def _listed(values: object) -> object:
    """A range, generator or the like as a list."""
    if isinstance(values, str | Mapping) or hasattr(values, "tolist") or not isinstance(values, Iterable):
        return values
    return list(values)


def _alone() -> MPI.Comm | None:
    """A communicator of this process alone; None without mpi4py, where all processes would take part."""
    loaded = sys.modules.get("mpi4py.MPI")
    return None if loaded is None else loaded.COMM_SELF
