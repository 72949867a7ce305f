"""Several flows of one case that are stepped together."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .case import Case
from .errors import FileError, NumericsError, UsageError
from .simulation import Simulation
from .together import step_together

if TYPE_CHECKING:
    from mpi4py import MPI

SEED = "initial.seed"


class Ensemble:
    """Members that differ in the seed of their first field, and in keys of the case if wished.

    `members`: their number. `seeds`: the seed of each member; by default the seed of the case and the numbers that
    follow it. `vary`: keys of the case by their paths, with a value for each member. All members must have the same
    grid. Those that also have the same physics share most launches on a GPU: vary numbers, such as an amplitude. Each
    member has its own time step, and the bits of the simulation that it would be alone.

    `output`: a directory. Member n writes the files of a simulation to its folder member_00, member_01, ..., and
    ensemble.json says what differs. `restart`, `allow_change` and `overwrite` are those of Simulation, for each
    member. All members are on this process. Use it in a `with` statement, or call `close`.

    Raises UsageError, and the errors of Simulation.
    """

    def __init__(
        self,
        case: Case | str | Mapping[str, Any],
        members: int,
        *,
        seeds: Sequence[int] | None = None,
        vary: Mapping[str, Sequence[Any]] | None = None,
        output: str | os.PathLike[str] | None = None,
        restart: str | None = None,
        allow_change: bool = False,
        overwrite: bool = False,
    ) -> None:
        if members < 1:
            raise UsageError(f"an ensemble has at least one member, not {members}")
        case = case.copy() if isinstance(case, Case) else Case(case)
        self.varied = _varied(case, members, seeds, vary or {})
        """The values of each key that differs between members."""
        self.errors: list[NumericsError | None] = [None] * members
        """The error that has ended each member; None while it can go on."""
        self.members: list[Simulation] = []
        """The simulations."""
        names = [f"member_{n:0{max(2, len(str(members - 1)))}}" for n in range(members)]
        try:
            for n, name in enumerate(names):
                of_member = case.copy()
                for key, values in self.varied.items():
                    of_member[key] = values[n]
                self.members.append(
                    Simulation(
                        of_member,
                        _alone(),
                        output=None if output is None else Path(output) / name,
                        restart=restart,
                        allow_change=allow_change,
                        overwrite=overwrite,
                    )
                )
            if len({member.u.shape for member in self.members}) > 1:
                raise UsageError("the members of an ensemble must have the same grid")
            if output is not None:
                _write(Path(output) / "ensemble.json", names, self.varied)
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
        """Steps each member until a time is reached, without it to the end of the case. Otherwise as `step`."""
        while True:
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


def _alone() -> MPI.Comm | None:
    """A communicator of this process alone; None without mpi4py, where all processes would take part."""
    loaded = sys.modules.get("mpi4py.MPI")
    return None if loaded is None else loaded.COMM_SELF


def _varied(
    case: Case, members: int, seeds: Sequence[int] | None, vary: Mapping[str, Sequence[Any]]
) -> dict[str, list[Any]]:
    varied = {key: list(values) for key, values in vary.items()}
    if SEED not in varied:
        if seeds is None:
            first = case[SEED]
            seeds = [] if first is None else range(int(first), int(first) + members)
        if len(seeds) > 0:
            varied[SEED] = [int(seed) for seed in seeds]
    elif seeds is not None:
        raise UsageError(f"give the seeds once: as `seeds`, or as {SEED} in `vary`")
    for key, values in varied.items():
        if len(values) != members:
            raise UsageError(f"{key} has {len(values)} values for {members} members")
    return varied


def _write(path: Path, names: list[str], varied: dict[str, list[Any]]) -> None:
    """Writes the file in one piece, so that no reader sees a part of it."""
    text = json.dumps({"members": len(names), "directories": names, "varied": varied}, indent=1) + "\n"
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            file.write(text)
        Path(file.name).replace(path)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}") from error
