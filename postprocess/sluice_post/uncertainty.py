"""Confidence intervals from blocks: batch means, and the jackknife for what is not a plain mean.

Blocks of a turbulent run are correlated with their neighbours. Neighbouring blocks are merged into batches
until the batches look independent; the scatter of the batches then gives the standard error. A quantity such
as Re_tau or the peak of u'+ is not linear in the sums: its error comes from leaving out one batch at a time,
which for a plain mean is the batch-means formula itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from sluice_post.statistics import Blocks, Means

Array = NDArray[np.float64]

MINIMUM_BATCHES = 8  # merging stops here: with fewer the interval itself becomes too uncertain


def student_t95(degrees: int) -> float:
    """Half width of the two-sided 95 % interval in standard errors; NaN without degrees of freedom."""
    return float(stdtrit(degrees, 0.975))


def lag_one_correlation(values: Array) -> float:
    """Correlation of neighbouring values; 0 for fewer than 3 or constant ones."""
    fluctuation = values - values.mean()
    variance = float(fluctuation @ fluctuation)
    if len(values) < 3 or variance <= (1e-14 * max(1.0, float(np.max(np.abs(values))))) ** 2:
        return 0.0
    return float(fluctuation[:-1] @ fluctuation[1:]) / variance


def _batch_means(values: Array, factor: int) -> Array:
    count = len(values) // factor
    batches = values[: count * factor].reshape(count, factor)
    return np.asarray(batches.mean(axis=1))


def merge_factor(signals: Sequence[Array], minimum: int = MINIMUM_BATCHES) -> int:
    """How many neighbouring blocks make one batch.

    The smallest number for which the lag-one correlation of the batches of every signal is that of
    independent ones, less than two standard deviations above its expectation -1/n. Merging stops before
    fewer than `minimum` batches are left.
    """
    count = len(signals[0])
    factor = 1
    while count // (factor + 1) >= minimum:
        batches = [_batch_means(signal, factor) for signal in signals]
        threshold = 2 / np.sqrt(len(batches[0])) - 1 / len(batches[0])
        if all(lag_one_correlation(batch) <= threshold for batch in batches):
            break
        factor += 1
    return factor


@dataclass(frozen=True)
class MeanEstimate:
    """A mean, its standard error, the half width of its 95 % interval, and how it was found."""

    mean: float
    standard_error: float
    half_width: float
    batches: int
    effective_samples: float


def batch_mean(values: Array, factor: int | None = None) -> MeanEstimate:
    """Mean of a correlated series with its batch-means error.

    `effective_samples` is the number of independent values that would give the same error.
    """
    values = np.asarray(values, dtype=float)
    if factor is None:
        factor = merge_factor([values])
    batches = _batch_means(values, factor)
    mean = float(values.mean())
    if len(batches) < 2:
        return MeanEstimate(mean, float("nan"), float("nan"), len(batches), float("nan"))
    error = float(batches.std(ddof=1) / np.sqrt(len(batches)))
    variance = float(values.var(ddof=1))
    effective = variance / error**2 if error > 0 else float(len(values))
    half_width = student_t95(len(batches) - 1) * error
    return MeanEstimate(mean, error, half_width, len(batches), min(effective, float(len(values))))


def jackknife(function: Callable[[Means], Array], batches: Blocks) -> Array:
    """Standard error of `function(means)` from leaving out one batch at a time. NaN for a single batch.

    Batches may differ in their number of samples: the delete-m_j jackknife of Busing, Meijer & van der
    Leeden, Statistics and Computing 9, 3 (1999), eq. 12, with h_j = n/m_j.
    """
    whole = np.asarray(function(batches.means()), dtype=float)
    count = len(batches)
    if count < 2:
        return np.full_like(whole, np.nan)
    h = batches.samples.sum() / batches.samples
    left_out = np.stack([np.asarray(function(batches.means(without=j)), dtype=float) for j in range(count)])
    column = h.reshape((count,) + (1,) * whole.ndim)
    estimate = count * whole - ((1 - 1 / column) * left_out).sum(axis=0)
    pseudo = column * whole - (column - 1) * left_out
    return np.asarray(np.sqrt(((pseudo - estimate) ** 2 / (column - 1)).mean(axis=0)))


def half_width95(function: Callable[[Means], Array], batches: Blocks) -> Array:
    """Half width of the 95 % interval of `function(means)`; NaN for a single batch."""
    if len(batches) < 2:
        return np.full_like(np.asarray(function(batches.means()), dtype=float), np.nan)
    return student_t95(len(batches) - 1) * jackknife(function, batches)


def independent_batches(blocks: Blocks) -> Blocks:
    """Blocks merged until wall shear, bulk velocity and the total energy of the batches look independent."""
    if len(blocks) < 3:
        return blocks
    dz = np.diff(blocks.z_face)
    shear = blocks.series("tau_xz")
    energy = sum(blocks.series(name) @ dz for name in ("uu", "vv", "ww"))
    signals = [shear[:, 0], shear[:, -1], np.asarray(energy)]
    return blocks.merged(merge_factor(signals))
