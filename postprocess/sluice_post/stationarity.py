"""Whether the flow was stationary over the averaging time; if not, its averages are of a transient.

Three signs show that it was not: a figure differs between the two halves of the averaging time by more than the
sampling error; the walls do not carry the force that drives the flow; the fluxes of a scalar do not balance. The
sampling error comes from the slow changes of the figure without its trend: from the cosines of uncertainty.py without
the first. Reports show 95 % intervals. A difference is a sign if it is larger than the half width of its 99 % interval
and than SMALLEST_CHANGE. Of runs of stationary noise, 1 to 3 % then show a sign in one of three figures
(tests/test_stationarity.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sluice_post.arrays import Array
from sluice_post.flow import Flow
from sluice_post.key_figures import stresses_of_u_tau, wall_shears
from sluice_post.parameters import FlowParameters
from sluice_post.printed import is_exact, with_interval
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import degrees_of, error_of, jackknife, standard_error_of, student_t95, student_t99

SMALLEST_CHANGE = 5e-3  # as a fraction; a smaller change does not matter for the averages
# U_b and the wall stress are round-off below this fraction of the scale of the fluctuations; so is a force below this
# fraction of the wall stress.
NEGLIGIBLE = 1e-6
MIN_BLOCKS = 4  # two in each half
_FIGURES = ("U_b", "the wall stress", "k")  # k: the mean energy of the fluctuations


@dataclass(frozen=True)
class Departure:
    """A fraction that is 0 in a stationary flow. The half widths of its intervals are NaN if they are not known."""

    name: str
    value: float
    half_width: float
    half_width99: float

    @property
    def is_certain(self) -> bool:
        """Whether it is more than sampling error, and large enough to matter."""
        return abs(self.value) > max(self.half_width99, SMALLEST_CHANGE)

    def percent(self, plus_minus: str, sign: str = "", value: float | None = None) -> str:
        """In percent; `value` in place of the departure itself."""
        shown = self.value if value is None else value
        return with_interval(
            *(100 * shown, 100 * self.half_width, " %"), sign=sign, may_be_zero=True, scale=100, plus_minus=plus_minus
        )


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


@dataclass(frozen=True)
class Stationarity:
    """What tells whether the flow was stationary.

    `changes`: from the first half of the averaging time to the second; empty with too few blocks. `carried`: the
    fraction of the driving force that the walls carry, less 1; None if the walls need not carry it. `fluxes`: imbalance
    of the fluxes of scalars at the walls and their sources, by scalar. `heated`: the scalars that have a source.
    """

    changes: tuple[Departure, ...]
    carried: Departure | None
    fluxes: tuple[Departure, ...] = ()
    heated: frozenset[str] = frozenset()

    @property
    def _all(self) -> tuple[Departure, ...]:
        return (*self.changes, *self.fluxes, *([self.carried] if self.carried else []))

    @property
    def is_empty(self) -> bool:
        """Whether the flow has none of these quantities: neither a mean flow nor fluctuations nor fluxes."""
        return not self._all

    @property
    def is_known(self) -> bool:
        """Whether anything could be tested."""
        return any(np.isfinite(one.half_width) for one in self._all)

    def signs(self, plus_minus: str = "+-") -> str:
        """What shows that the flow was not stationary; empty if nothing does."""
        parts = []
        if moved := [one for one in self.changes if one.is_certain]:
            words = [
                f"{one.name} {'rose' if one.value > 0 else 'fell'} by {one.percent(plus_minus, value=abs(one.value))}"
                for one in moved
            ]
            parts.append(f"{_listed(words)} from the first half of the averaging time to the second")
        if self.carried is not None and self.carried.is_certain:
            share = self.carried.percent(plus_minus, value=1 + self.carried.value)
            parts.append(f"the walls carry {share} of the driving force")
        parts += [
            f"the wall fluxes{' and the source' if one.name in self.heated else ''} of {one.name} differ by "
            f"{one.percent(plus_minus, value=abs(one.value))}"
            for one in self.fluxes
            if one.is_certain
        ]
        return "; ".join(parts)

    @property
    def conclusion(self) -> str:
        """What follows from the signs, as a sentence without its full stop."""
        flow = (*self.changes, *([self.carried] if self.carried else []))
        if any(one.is_certain for one in flow):
            return "the averages are of a transient"
        scalars = [one.name for one in self.fluxes if one.is_certain]
        return f"the averages of {' and '.join(scalars)} are of a transient" if scalars else ""

    def no_signs(self, plus_minus: str = "+-") -> str:
        """The changes that the intervals allow."""
        words = [
            f"{one.name} changed by {one.percent(plus_minus, '+')}"
            for one in self.changes
            if not is_exact(one.value, one.half_width, scale=1)  # held constant by the case
        ]
        if not words:
            return ""
        return (
            f"from the first half of the averaging time to the second, {', '.join(words)} "
            f"(a change counts if it exceeds {100 * SMALLEST_CHANGE:g} % and its 99 % interval does not contain 0)"
        )


def _departure(name: str, value: float, standard_error: float, degrees: int) -> Departure:
    width95, width99 = (student_t(degrees) * standard_error for student_t in (student_t95, student_t99))
    return Departure(name, value, width95, width99)


def _figures(means: Means, parameters: FlowParameters) -> Array:
    dz = np.diff(means.z_face)
    wall = parameters.velocity_bottom[0] if parameters.no_slip_bottom else parameters.velocity_top[0]
    bulk = float(means.centre["u"] @ dz / dz.sum()) - wall
    if parameters.walls_shear and parameters.rotation[2] == 0:
        stresses = wall_shears(means, parameters, parameters.wall_direction)
    else:
        stresses = stresses_of_u_tau(means, parameters)
    centre = means.centre
    variance = sum(centre[name * 2] - centre[name] ** 2 for name in "uvw")
    return np.array([abs(bulk), np.mean(list(stresses.values())), float(variance @ dz / dz.sum()) / 2])


def _shown(figures: Array, blocks: Blocks, parameters: FlowParameters) -> list[int]:
    """The figures to test: not what is round-off, nor U_b of an Ekman layer, which depends on the domain's height."""
    energy = 0.0 if blocks.laminar else float(figures[2])
    there = (
        not parameters.is_ekman_layer and figures[0] > NEGLIGIBLE * energy**0.5,
        figures[1] > NEGLIGIBLE * energy,
        energy > 0,
    )
    return [n for n, is_there in enumerate(there) if is_there]


def _changes(blocks: Blocks, parameters: FlowParameters, is_steady: bool) -> tuple[Departure, ...]:
    blocks = blocks.in_time or blocks
    late = np.zeros(len(blocks), dtype=bool)
    for run in blocks.runs():
        begin, end = blocks.time_begin[run], blocks.time_end[run]
        late[run] = (begin + end) / 2 > (begin[0] + end[-1]) / 2
    halves = [blocks.pick(np.flatnonzero(late == second)) for second in (False, True)]
    if min(map(len, halves)) < MIN_BLOCKS / 2:
        return ()

    def figures(means: Means) -> Array:
        return _figures(means, parameters)

    before, after = (figures(half.means()) for half in halves)
    # Each half has twice the variance of the whole, and their difference four times.
    errors = 2 * error_of(jackknife(figures, blocks), blocks, without_trend=True)
    degrees = degrees_of(blocks, without_trend=True)
    return tuple(
        _departure(
            _FIGURES[n], float(after[n] / before[n] - 1), 0.0 if is_steady else float(errors[n] / before[n]), degrees
        )
        for n in _shown(before, blocks, parameters)
    )


def _carried(blocks: Blocks, parameters: FlowParameters, flow: Flow, is_steady: bool) -> Departure | None:
    """The fraction of the force along x that the walls carry, less 1; None if something else may carry it."""
    tilted = flow.buoyancy is not None and flow.buoyancy.gravity[0] != 0
    if tilted or flow.rotation[2] != 0 or flow.hartmann != 0 or parameters.passes_fluid:
        return None
    bottom, top = parameters.no_slip_bottom, parameters.no_slip_top
    means = blocks.means()
    height = float(means.z_face[-1] - means.z_face[0])
    stress = sum(wall_shears(means, parameters).values())
    # A smaller force is 0, or the round-off of a force that holds a bulk velocity.
    if not abs(means.forcing) * height > NEGLIGIBLE * stress:
        return None

    def share(means: Means) -> Array:
        tau = means.face["tau_xz"]
        walls = (tau[0] if bottom else 0.0) - (tau[-1] if top else 0.0)
        return np.array(walls / (means.forcing * height) - 1)

    error = 0.0 if is_steady else float(standard_error_of(share, blocks))
    degrees = degrees_of(blocks)
    return _departure("the driving force", float(share(means)), error, max(degrees, 1))


def _fluxes(
    blocks: Blocks, parameters: FlowParameters, is_steady: bool, imbalances: Mapping[str, tuple[float, float]]
) -> tuple[Departure, ...]:
    """The imbalances of the fluxes of scalars.

    In a laminar flow they must be 0 only if neither the drive nor the walls change in time; else they are not tested.
    """
    degrees = max(degrees_of(blocks), 1)
    varying = {scalar.name for scalar in parameters.scalars if scalar.bottom.formula or scalar.top.formula}

    def standard_error_of_flux(name: str, half_width: float) -> float:
        if blocks.has_sampling_error:
            return half_width / student_t95(degrees)
        return 0.0 if is_steady and name not in varying else float("nan")

    return tuple(
        _departure(name, value, standard_error_of_flux(name, half_width), degrees)
        for name, (value, half_width) in imbalances.items()
    )


def stationarity_of(
    blocks: Blocks, parameters: FlowParameters, flow: Flow, imbalances: Mapping[str, tuple[float, float]] | None = None
) -> Stationarity | None:
    """The signs of a transient over the time of these blocks; None without a wall that exerts a shear stress.

    `imbalances`: of the fluxes of scalars, with half widths of their 95 % intervals.
    """
    if not (parameters.no_slip_bottom or parameters.no_slip_top):
        return None
    is_steady = blocks.laminar and not flow.drive and not parameters.controlled  # then any change at all is a trend
    return Stationarity(
        _changes(blocks, parameters, is_steady),
        _carried(blocks, parameters, flow, is_steady),
        _fluxes(blocks, parameters, is_steady, imbalances or {}),
        frozenset(scalar.name for scalar in flow.scalars if scalar.source != "none"),
    )
