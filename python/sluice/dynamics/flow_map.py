"""The flow map: the velocity field after a given time, as a function of the initial field."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from math import ceil, inf
from typing import Any

import numpy as np

from ..case import Case
from ..errors import UsageError
from ..field import flow_dtype, on_host
from ..simulation import Diagnostics, Simulation
from .space import Array, Space
from .symmetry import Symmetry

LENGTHS = ("Lx", "Ly")
"""Names of parameters beside the keys of a case: the first two numbers of domain.size."""
TIME = "time"
"""The parameter that is the time of a flow map."""


class _Simulations:
    """The most recently used simulations of a search, which alternates between neighbouring parameters."""

    LARGEST = 4  # the present parameters, and two shifted ones

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[Simulation, Any]] = OrderedDict()
        self.calls = 0

    def of(self, case: Case, key: str) -> tuple[Simulation, Any]:
        """A simulation of a case, and its snapshot at time 0. `key`: the text of the case."""
        if key not in self._open:
            while len(self._open) >= self.LARGEST:
                self._open.popitem(last=False)[1][0].close()
            simulation = Simulation(case)
            self._open[key] = simulation, simulation.snapshot()
        self._open.move_to_end(key)
        return self._open[key]

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1][0].close()


def _require_steady(case: Case) -> None:
    """Raises UsageError for a case in which the velocity alone does not determine the evolution."""

    def depends_on_time(value: object) -> bool:
        if isinstance(value, dict):
            return any(depends_on_time(part) for part in value.values())
        if isinstance(value, list):
            return any(depends_on_time(part) for part in value)
        return isinstance(value, str) and re.search(r"\bt\b", value) is not None

    problems = []
    if case["time.diffusion"] != "explicit":
        problems.append(f"time.diffusion is {case['time.diffusion']}, where steps depend on the pressure: use explicit")
    if case["scalars"]:
        problems.append("the case has scalars")
    if case["flow.type"] == "periodic":
        problems.append("flow.type is periodic, and states are those between walls")
    for side in ("bottom", "top"):
        wall = case[f"walls.{side}"]
        if isinstance(wall, dict) and (wall.get("actuation") not in (None, "none") or depends_on_time(wall)):
            problems.append(f"walls.{side} changes in time or responds to the flow")
    for key in ("flow.forcing", "flow.spanwise_forcing"):
        forcing = case[key]
        table = isinstance(forcing, dict) and any(isinstance(value, dict) for value in forcing.values())
        if table or depends_on_time(forcing):
            problems.append(f"{key} depends on time")
    if problems:
        raise UsageError("there is no flow map of the velocity alone: " + "; ".join(problems))


class FlowMap:
    """The velocity after a time T as a function of the initial velocity, q -> Phi(q), in a whole number of equal steps.

    `case`: with explicit diffusion, so that the velocity alone determines the evolution; its initial field, time step
    and end are not used. `time`: T, in units of h/U. `dt`: the longest time step; T is divided into the smallest number
    of steps not longer than `dt`. `symmetries`: restrict states to the fields that have them; the map ends with a
    projection onto this subspace (the mean over the group that they generate), so that round-off cannot leave it.
    `return_by`: a symmetry applied after the flow, for orbits that return to a shifted or reflected image.

    `parameters` are the numbers that a search can change, by name: keys of the case such as "flow.reynolds.wall" or
    "grid.velocity", "Lx", "Ly", and "time", which keeps the number of steps. It works on one process. Use it in a
    `with` statement, or call `close`.

    Raises UsageError, which lists the problems of the case.
    """

    def __init__(
        self,
        case: Case | str | Mapping[str, Any],
        time: float,
        *,
        dt: float,
        symmetries: Symmetry | Sequence[Symmetry] = (),
        return_by: Symmetry | None = None,
    ) -> None:
        case = case.copy() if isinstance(case, Case) else Case(case)
        if not (0 < time < inf and 0 < dt < inf):
            raise UsageError(f"a flow map needs a time and a time step above 0, not {time!r} and {dt!r}")
        _require_steady(case)
        if case["solver.precision"] == "single":
            raise UsageError("searches need double precision: set solver.precision to double")
        case["initial"] = {"type": "laminar"}
        case["time.steps"] = 10**9
        self.case = case
        self.steps = max(1, ceil(time / dt - 1e-9))
        """The number of time steps."""
        self.time = float(time)
        """T."""
        self.symmetries = (symmetries,) if isinstance(symmetries, Symmetry) else tuple(symmetries)
        self.return_by = return_by
        self._simulations = _Simulations()
        self.case["time.dt"] = self.dt
        self._key = self.case.resolved()
        self.space = Space(self._simulation()[0])
        """The space of its states."""
        self._laminar: Array = None
        for symmetry in (*self.symmetries, *([] if return_by is None else [return_by])):
            self.space.apply(symmetry, self.laminar)  # raises UsageError if the grid does not have it

    @property
    def dt(self) -> float:
        """The length of a time step."""
        return self.time / self.steps

    @property
    def calls(self) -> int:
        """How often this flow map, and those that `at` has made from it, were evaluated."""
        return self._simulations.calls

    def _simulation(self) -> tuple[Simulation, Any]:
        return self._simulations.of(self.case, self._key)

    def at(self, parameters: Mapping[str, float]) -> FlowMap:
        """The flow map at other parameters. It shares memory with this one: closing either closes both.

        Raises UsageError for a name that is no number of the case, and later for values that the case cannot have.
        """
        if all(self.parameter(name) == value for name, value in parameters.items()):
            return self
        other = object.__new__(FlowMap)
        other.__dict__.update(self.__dict__)
        other.case = self.case.copy()
        for name, value in parameters.items():
            if not -inf < value < inf or (name == TIME and value <= 0):
                raise UsageError(f"{name} cannot be {value!r}")
            if name == TIME:
                other.time = float(value)
            elif name in LENGTHS:
                size = list(other.case["domain.size"])
                size[LENGTHS.index(name)] = float(value)
                other.case["domain.size"] = size
            else:
                other.case[name] = float(value)
        other.case["time.dt"] = other.dt
        other._key = other.case.resolved()
        other.space = Space(other._simulation()[0]) if any(name in LENGTHS for name in parameters) else self.space
        other._laminar = None
        return other

    def parameter(self, name: str) -> float:
        """The present value of a parameter. Raises UsageError if it is not a number."""
        if name == TIME:
            return self.time
        if name in LENGTHS:
            return self.space.lengths[LENGTHS.index(name)]
        try:
            value = self.case[name]
        except KeyError as error:
            raise UsageError(f"{error.args[0]}; parameters besides are Lx, Ly and time") from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(f"{name} is {value!r} in this case, no number that a search can change")
        return float(value)

    def _set(self, state: Array) -> Simulation:
        simulation, start = self._simulation()
        simulation.restore(start)
        for name, part in zip("uvw", self.space.unpack(state), strict=True):
            getattr(simulation, name)[...] = part.astype(flow_dtype())
        return simulation

    def _get(self, simulation: Simulation) -> Array:
        xp = self.space.xp
        return xp.concatenate([xp.asarray(getattr(simulation, name)).ravel() for name in "uvw"]).astype(float)

    def steps_from(self, state: Array, count: int) -> Array:
        """The state after `count` steps, without symmetries. Raises NumericsError if the flow blows up."""
        simulation = self._set(state)
        simulation.step(count)
        return self._get(simulation)

    def __call__(self, state: Array) -> Array:
        """The state after the time T, with `return_by` applied, in the subspace of the symmetries.

        Raises UsageError if the flow leaves this subspace: then the state is outside it, or the equations do not have
        these symmetries.
        """
        result = self.steps_from(state, self.steps)
        self._simulations.calls += 1
        if self.return_by is not None:
            result = self.space.apply(self.return_by, result)
        if not self.symmetries:
            return result
        symmetric = self.space.symmetrize(self.symmetries, result)
        if self.space.norm(symmetric - result) > 1e-6 * max(self.space.norm(result), 1e-3):
            raise UsageError(
                "the flow has left the subspace of its symmetries: the state is not in it (project it), or the "
                "equations of this case do not have these symmetries"
            )
        return symmetric

    def project(self, field: Array) -> Array:
        """The nearest state: divergence-free, with the velocity of the walls, in the subspace of the symmetries.

        The mean of u stays that of the field; a forcing with a bulk velocity sets it in the first step.
        """
        simulation = self._set(self.space.symmetrize(self.symmetries, field))
        simulation.project()
        return self.space.symmetrize(self.symmetries, self._get(simulation))

    @property
    def laminar(self) -> Array:
        """The laminar state of the case."""
        if self._laminar is None:
            simulation, start = self._simulation()
            simulation.restore(start)
            self._laminar = self._get(simulation)
        return self._laminar

    def diagnostics(self, state: Array) -> Diagnostics:
        """Bulk velocity, kinetic energy, friction velocities of a state."""
        return self._set(state).diagnostics

    def norm(self, state: Array) -> float:
        """The norm of the difference from the laminar state: (1/V integral |q - q_laminar|^2)^(1/2)."""
        return self.space.norm(state - self.laminar)

    def cross_flow(self, state: Array) -> float:
        """The norm of v and w alone: large in turbulence, small in streaks that are about to decay."""
        _, v, w = self.space.unpack(state)
        return self.space.norm(self.space.pack(0.0, v, w))

    def drag(self, state: Array) -> float:
        """The mean magnitude of the shear stress on both walls, divided by that of the laminar state.

        In plane Couette flow it is the power input by the walls, normalised by the laminar value. At an equilibrium the
        dissipation of the scheme balances this power, so it is also the normalised dissipation.
        """
        stresses = []
        for one in (state, self.laminar):
            now = self.diagnostics(one)
            stresses.append(now.friction_velocity_bottom**2 + now.friction_velocity_top**2)
        return stresses[0] / stresses[1]

    def velocity_of(self, state: Array) -> Array:
        """The rate of change dq/dt at a state, from one time step: accurate to first order in dt."""
        return (self.steps_from(state, 1) - state) / self.dt

    def interpolate(self, state: Array, source: FlowMap) -> Array:
        """A state of another flow map on the grid of this one, projected.

        The difference from the laminar state is interpolated trigonometrically along x and y, and by cubic splines
        along z. Coordinates are relative to the box, so a field is stretched if the boxes differ in size.
        """
        from scipy.interpolate import CubicSpline

        space, parts = source.space, []
        difference = [on_host(part) for part in space.unpack(state - source.laminar)]
        top = space.faces[-1]
        for name, part in zip("uvw", difference, strict=True):
            points = space.faces[1:-1] if name == "w" else space.centres
            values = part[:-1] if name == "w" else part
            for side, place in (("bottom", 0.0), ("top", top)):  # 0 there, unless the flow slips
                if name == "w" or not source._slips(side):
                    wall = np.zeros((1, *values.shape[1:]))
                    points = np.append(points, top) if place else np.append(0.0, points)
                    values = np.concatenate([values, wall] if place else [wall, values])
            line = CubicSpline(points, values)
            wanted = self.space.faces[1:] if name == "w" else self.space.centres
            part = line(wanted * (top / self.space.faces[-1]))
            for axis, own in ((2, "u"), (1, "v")):
                part = _resample(part, axis, self.space.shape[axis], 1.0 if name == own else 0.5)
            parts.append(part)
        return self.project(self.space.pack(*parts) + self.laminar)

    def _slips(self, side: str) -> bool:
        wall = self.case[f"walls.{side}"]
        return bool((wall["type"] if isinstance(wall, dict) else wall) != "no_slip")

    def close(self) -> None:
        """Frees the memory of its simulations."""
        self._simulations.close()

    def __enter__(self) -> FlowMap:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        nz, ny, nx = self.space.shape
        return f"<sluice.dynamics.FlowMap over {self.time:g} in {self.steps} steps, {nx} x {ny} x {nz} cells>"


def _resample(values: Any, axis: int, count: int, offset: float) -> Any:
    """Values at the points (n + offset)/N of a period, N the size of the axis, at (n + offset)/count."""
    size = values.shape[axis]
    if size == count:
        return values
    waves = np.fft.rfftfreq(size, 1 / size)
    shape = [1, 1, 1]
    shape[axis] = len(waves)
    spectrum = np.fft.rfft(values, axis=axis) * np.exp(-2j * np.pi * waves * offset / size).reshape(shape)
    if size % 2 == 0:  # of this wave the grid resolves only the cosine
        last = [slice(None)] * 3
        last[axis] = slice(-1, None)
        spectrum[tuple(last)] = 0
    kept = min(len(waves), (count + 1) // 2)
    cut = [slice(None)] * 3
    cut[axis] = slice(kept)
    shape[axis] = kept
    spectrum = spectrum[tuple(cut)] * np.exp(2j * np.pi * waves[:kept] * offset / count).reshape(shape)
    return np.fft.irfft(spectrum, count, axis=axis) * (count / size)
