"""The library of initial states: independent turbulent flows, and what the flow without control does."""

from __future__ import annotations

import hashlib
import json
import logging
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..case import Case
from ..errors import FileError, UsageError
from ..simulation import Simulation
from ..together import step_together
from .cache import cache_directory, made_once
from .config import Config, States
from .intervals import estimate

if TYPE_CHECKING:
    from .._core import Snapshot

log = logging.getLogger("sluice.gym")

FORMAT = 1
"""Raise it when the files, or how the states are made, change."""
CHUNK = 10
"""Steps between two samples of the drag while states are made."""


@dataclass(frozen=True)
class WallUnits:
    """The uncontrolled flow of a case, in units of h and of the velocity U of the case."""

    u_tau: float
    """Friction velocity: the root of the mean wall shear, which is averaged over both walls and time."""
    drag_interval: float
    """Half width of the 95 % interval of the mean wall shear over the mean itself."""
    nu: float
    bulk_velocity: float
    dt: float
    """The shortest time step that the case takes without control."""
    lz: float
    """Height of the channel."""

    @property
    def length(self) -> float:
        """nu/u_tau."""
        return self.nu / self.u_tau

    @property
    def time(self) -> float:
        """nu/u_tau^2."""
        return self.nu / self.u_tau**2

    @property
    def re_tau(self) -> float:
        """u_tau h/nu."""
        return self.u_tau / self.nu


def library_key(case: Case, states: States) -> str:
    """What a library depends on: the case without its outputs, the settings, the version and the precision."""
    resolved = _core.yaml_values(case.resolved(), "case")
    for section in ("output", "parallel", "walltime", "watchdog", "title"):
        resolved.pop(section, None)
    settings = {name: value for name, value in asdict(states).items() if name != "cache"}
    about = {"case": resolved, "states": settings, "version": _core.version, "format": FORMAT}
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()[:20]


class StateLibrary:
    """A library on disk. `library_of` makes it if need be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            about = json.loads((folder / "library.json").read_text())
            self.units = WallUnits(**about["units"])
            self.count = int(about["count"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FileError(f"{folder}: not a library of initial states ({error}); delete this directory") from error

    def fields(self, number: int) -> dict[str, npt.NDArray[Any]]:
        """The fields of a state by name, arrays (nz, ny, nx)."""
        if not 0 <= number < self.count:
            raise UsageError(f"the library of initial states has no state {number}: it has {self.count} from 0 on")
        path = self.folder / f"state_{number:03d}.npz"
        try:
            with np.load(path) as stored:
                return {name: stored[name] for name in stored.files}
        except (OSError, ValueError) as error:
            raise FileError(f"{path}: {error}; delete the directory, and it is made again") from error

    def __repr__(self) -> str:
        return f"<sluice.gym.StateLibrary {self.folder}: {self.count} states, Re_tau {self.units.re_tau:.1f}>"


class Starts:
    """Brings simulations of one case to states of a library. It keeps snapshots in the memory of the device."""

    def __init__(self, library: StateLibrary) -> None:
        self._library = library
        self._origin: Snapshot | None = None
        self._snapshots: dict[int, Snapshot] = {}

    def set(self, sim: Simulation, number: int) -> None:
        """Brings a simulation to a state at time 0, with its walls at rest. The first call needs one without steps.

        Each state has the same bits however often, and in whichever simulation of the case, it is set.
        """
        if self._origin is None:
            self._origin = sim.snapshot()
        if number not in self._snapshots:
            fields = self._library.fields(number)
            sim.restore(self._origin)
            for name, values in fields.items():
                sim.fields[name][...] = values
            sim.project()
            self._snapshots[number] = sim.snapshot()
        sim.restore(self._snapshots[number])


@cache
def _opened(folder: Path) -> StateLibrary:
    return StateLibrary(folder)


def library_of(config: Config) -> StateLibrary:
    """The library of a configuration. The first call for a case makes it, which takes some minutes.

    Another process that makes the same library is waited for.
    """
    case = config.uncontrolled_case()
    states = config.states
    folder = cache_directory(states.cache) / f"states-{library_key(case, states)}"
    return _opened(made_once(folder, lambda part: _make(part, case, states)).resolve())


def _shear(sim: Simulation) -> float:
    now = sim.diagnostics
    return (now.friction_velocity_bottom**2 + now.friction_velocity_top**2) / 2


def _make(folder: Path, case: Case, states: States) -> None:
    """Develops the chains, all together, and stores states and reference."""
    chains = min(states.chains, states.count)
    each = -(-states.count // chains)
    log.info("making a library of %d initial states in %s", states.count, folder.parent)
    simulations: list[Simulation] = []
    try:
        for chain in range(chains):
            started = case.copy()
            started["initial.seed"] = states.seed + chain
            simulations.append(Simulation(started))
        if simulations[0].size > 1:
            raise UsageError("sluice.gym works with one process of MPI")
        ages, longest = [0.0] * chains, np.inf
        _develop(simulations, ages, states.transient)
        times: list[list[float]] = [[] for _ in simulations]
        shears: list[list[float]] = [[] for _ in simulations]
        for number in range(each):
            for chain, sim in enumerate(simulations):
                index = number * chains + chain
                if index < states.count:
                    fields = {name: np.array(field.values) for name, field in sim.fields.items()}
                    np.savez(folder / f"state_{index:03d}.npz", **fields)  # type: ignore[arg-type]
            target = states.transient + (number + 1) * states.separation
            longest = min(longest, _develop(simulations, ages, target, times, shears))
            log.info("%d of %d times done", number + 1, each)
        units = _units_of(simulations[0], times, shears, longest)
        about = {"units": asdict(units), "count": states.count, "version": _core.version, "case": case.resolved()}
        (folder / "library.json").write_text(json.dumps(about, indent=1) + "\n")
    finally:
        for sim in simulations:
            sim.close()


def _develop(
    simulations: Sequence[Simulation],
    ages: list[float],
    target: float,
    times: list[list[float]] | None = None,
    shears: list[list[float]] | None = None,
) -> float:
    """Steps all flows until each is `target` h/u_tau old, and returns the shortest step. Keeps samples, if asked to."""
    shortest = np.inf
    while min(ages) < target:
        going = [n for n, age in enumerate(ages) if age < target]
        before = [simulations[n].time for n in going]
        for fault in step_together([simulations[n] for n in going], CHUNK):
            if fault is not None:
                raise fault
        for n, begin in zip(going, before, strict=True):
            sim = simulations[n]
            shear = _shear(sim)
            ages[n] += (sim.time - begin) * np.sqrt(shear)
            shortest = min(shortest, (sim.time - begin) / CHUNK, sim.dt)
            if times is not None and shears is not None:
                times[n].append(sim.time)
                shears[n].append(shear)
    return float(shortest)


def _units_of(
    sim: Simulation, times: Sequence[Sequence[float]], shears: Sequence[Sequence[float]], dt: float
) -> WallUnits:
    now = sim.diagnostics
    nu = now.friction_velocity_bottom / now.re_tau_bottom
    count = min(len(series) for series in times)
    even = []
    for time, shear in zip(times, shears, strict=True):
        even.append(np.interp(np.linspace(time[0], time[-1], count), time, shear))
    mean = estimate(np.array(even))
    lz = float(sim.w.coords["z"][-1])
    laminar = 6 * nu * now.bulk_velocity / lz
    if mean.mean < 1.2 * laminar:
        warnings.warn(
            f"the uncontrolled flow is nearly laminar: its wall shear is {mean.mean / laminar:.2f} of the laminar one",
            RuntimeWarning,
            stacklevel=2,
        )
    return WallUnits(
        u_tau=float(np.sqrt(mean.mean)),
        drag_interval=mean.half_width / mean.mean,
        nu=nu,
        bulk_velocity=now.bulk_velocity,
        dt=dt,
        lz=lz,
    )
