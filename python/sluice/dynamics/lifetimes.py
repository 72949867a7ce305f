"""Lifetimes of turbulence, from ensembles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import UsageError
from ..together import step_together
from .space import array_module

if TYPE_CHECKING:
    from ..ensemble import Ensemble
    from ..simulation import Simulation


def cross_flow_energy(simulation: Simulation) -> float:
    """The volume mean of (v^2 + w^2)/2, which is 0 in laminar flow. For simulations on one process."""
    xp = array_module()
    faces = xp.concatenate([xp.zeros(1), xp.asarray(simulation.w.coords["z"])])
    dz = faces[1:] - faces[:-1]
    dzc = xp.append((dz[:-1] + dz[1:]) / 2, dz[-1])
    v, w = (xp.asarray(field) for field in (simulation.v, simulation.w))
    energy = xp.dot((v * v).mean(axis=(1, 2)), dz) + xp.dot((w * w).mean(axis=(1, 2)), dzc)
    return float(energy / faces[-1] / 2)


@dataclass(frozen=True)
class Lifetimes:
    """When flows became laminar."""

    times: npt.NDArray[np.float64]
    """For each member, the time when it became laminar or, if it did not, until which it was followed, in h/U."""
    ended: npt.NDArray[np.bool_]
    """Whether it became laminar; the others count as survivors until their times."""

    def survival(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Times, and the probability of being turbulent after each (Kaplan and Meier 1958)."""
        from scipy.stats import CensoredData, ecdf

        found = ecdf(CensoredData.right_censored(self.times, ~self.ended)).sf
        return found.quantiles, found.probabilities

    def mean(self, after: float = 0.0, confidence: float = 0.95) -> tuple[float, float, float]:
        """The mean further lifetime of flows that are turbulent at the time `after`, and its confidence interval.

        The maximum-likelihood estimate for an exponential distribution with right censoring: the total time that the
        flows were turbulent after `after`, divided by the number that became laminar. Raises UsageError if none did.
        """
        from scipy.stats import chi2

        late = self.times > after
        number = int((late & self.ended).sum())
        if number == 0:
            raise UsageError(f"no flow became laminar after the time {after:g}")
        total = float((self.times[late] - after).sum())
        tail = (1 - confidence) / 2
        # The bounds for a flow that is followed until a fixed time: the interval holds with at least this confidence.
        return total / number, 2 * total / chi2.ppf(1 - tail, 2 * number + 2), 2 * total / chi2.ppf(tail, 2 * number)


def lifetimes(
    ensemble: Ensemble,
    until: float,
    *,
    below: float,
    measure: Callable[[Simulation], float] = cross_flow_energy,
    every: int = 50,
    progress: Callable[[float, int], Any] | None = None,
) -> Lifetimes:
    """Steps the members of an ensemble until each has become laminar or has reached a time.

    A member counts as laminar when `measure(simulation)` is below `below`, and then stops. The measure is evaluated
    every `every` steps, which is the resolution of the lifetimes. `progress` is called with the earliest time of the
    turbulent members and their number. All times are those of the simulations, not those since the call.

    Raises NumericsError if a member blows up, UsageError if `every` is below 1.
    """
    if every < 1:
        raise UsageError(f"the members are asked after every {every} steps: at least 1")
    times = np.zeros(len(ensemble))
    ended = np.zeros(len(ensemble), bool)
    running = list(range(len(ensemble)))
    while running:
        for error in step_together([ensemble[n] for n in running], every):
            if error is not None:
                raise error
        for n in list(running):
            times[n] = ensemble[n].time
            ended[n] = measure(ensemble[n]) < below
            if ended[n] or times[n] >= until:
                running.remove(n)
        if progress is not None and running:
            progress(float(times[running].min()), len(running))
    return Lifetimes(times, ended)
