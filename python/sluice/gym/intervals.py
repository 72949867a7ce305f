"""Means of correlated series of several members, with 95 % intervals, and whether they are long enough."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

COSINES = 6
"""As sluice_post.uncertainty, which has the reasons."""
ENOUGH_SAMPLES = 20
"""Independent samples of all members together, below which an average is called too short."""

STUDENT = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)
"""97.5 % quantiles of Student's t for 1 to 10 degrees of freedom."""


def student(degrees: int) -> float:
    """The 97.5 % quantile of Student's t; infinite without degrees of freedom."""
    if degrees < 1:
        return inf
    if degrees <= len(STUDENT):
        return STUDENT[degrees - 1]
    z = NormalDist().inv_cdf(0.975)  # the expansion of Cornish and Fisher
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return float(z + first / degrees + second / degrees**2)


@dataclass(frozen=True)
class Estimate:
    """A mean, and the half width of its 95 % interval."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        return f"{self.mean:.4g} +- {self.half_width:.2g}"


def half_width(series: Array) -> float:
    """Half width of the 95 % interval of the mean over members and time, series (members, times).

    The mean of a member varies as the amplitudes of the slowest cosines within its series do, and as the means of
    members differ from each other. Both kinds of squares are pooled: with m members and c cosines these are
    c m + m - 1 degrees of freedom of Student's t. One member has those of its cosines alone.
    """
    members, count = series.shape
    means = series.mean(axis=1)
    cosines = min(COSINES, count - 1)
    middle = (np.arange(count) + 0.5) / count
    waves = np.sqrt(2) * np.cos(np.pi * np.outer(np.arange(1, cosines + 1), middle)) / count
    squares = float(((series @ waves.T) ** 2).sum() + ((means - means.mean()) ** 2).sum())
    degrees = cosines * members + members - 1
    return student(degrees) * sqrt(squares / degrees / members) if degrees else inf


def estimate(series: Array) -> Estimate:
    """The mean over members and time, series (members, times)."""
    return Estimate(float(series.mean()), half_width(series))


def ratio(numerator: Array, denominator: Array) -> Estimate:
    """The ratio of two means, whose series are paired: fluctuations that both have cancel in the interval."""
    value = float(numerator.mean() / denominator.mean())
    return Estimate(value, half_width((numerator - value * denominator) / float(denominator.mean())))


def independent_samples(series: Array) -> float:
    """How many independent samples series (members, times) are worth: times over twice the integral time.

    The correlation is averaged over the members, and summed up to five times the integral time.
    """
    members, count = series.shape
    deviation = series - series.mean()
    variance = float((deviation**2).mean())
    if count < 2 or variance == 0:
        return float(members * count)
    twice = 1.0
    for lag in range(1, count):
        twice += 2 * float((deviation[:, lag:] * deviation[:, :-lag]).sum() / (members * count * variance))
        if lag >= 2.5 * twice:
            break
    return float(members * count / max(1.0, twice))


def transient_end(series: Array) -> tuple[int, bool]:
    """The number of samples that belong to an initial transient, and whether it ends in the first half.

    It minimises the standard error of the mean of what is left (MSER: White, Simulation 69, 323, 1997), for the mean
    over members of series (members, times), in blocks of up to 5 samples.
    """
    mean = series.mean(axis=0)
    block = max(1, min(5, len(mean) // 10))
    blocks = mean[: len(mean) // block * block].reshape(-1, block).mean(axis=1)
    errors = [float(blocks[cut:].var()) / (len(blocks) - cut) for cut in range(max(1, len(blocks) // 2))]
    cut = int(np.argmin(errors))
    return cut * block, cut < len(errors) - 1 or len(errors) == 1
