"""Histograms with equal bins: how they are reflected, scaled and averaged, their moments and densities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator

from sluice_post.arrays import Array


@dataclass(frozen=True)
class Histogram:
    """Points in bins along the last axis; any axes before it count histograms, each with bins of its own.

    Bin b is [low + b width, low + (b + 1) width). The first bin also has all points below, the last all above.
    """

    counts: Array
    low: Array
    width: Array

    @property
    def centres(self) -> Array:
        """Middles of the bins."""
        bins = np.arange(self.counts.shape[-1]) + 0.5
        return np.asarray(self.low[..., None] + self.width[..., None] * bins)

    @property
    def edges(self) -> Array:
        """Edges of the bins, one more than there are bins."""
        return np.asarray(self.low[..., None] + self.width[..., None] * np.arange(self.counts.shape[-1] + 1))

    @cached_property
    def probability(self) -> Array:
        """Fraction of the points in each bin."""
        return np.asarray(self.counts / self.counts.sum(axis=-1, keepdims=True))

    @property
    def in_end_bins(self) -> Array:
        """Fraction of the points in the first and last bin, whose values are not known."""
        return np.asarray(self.probability[..., 0] + self.probability[..., -1])

    def linear(self, factor: float | Array, offset: float | Array = 0.0) -> Histogram:
        """The histogram of factor x + offset from that of x."""
        factor = np.broadcast_to(factor, self.width.shape)
        counts = np.where(factor[..., None] < 0, self.counts[..., ::-1], self.counts)
        return Histogram(counts, *_linear(self.low, self.width, self.counts.shape[-1], factor, offset))

    def at(self, index: int | slice | NDArray[np.int64]) -> Histogram:
        """Some of the histograms."""
        return replace(self, counts=self.counts[index], low=self.low[index], width=self.width[index])

    def cumulative(self, x: Array) -> Array:
        """Probability of a value below x, of a single histogram; NaN where x is within the end bins or beyond.

        Monotone cubics through the known values at the edges.
        """
        at_edges = np.cumsum(self.probability)[:-1]
        return np.asarray(PchipInterpolator(self.edges[1:-1], at_edges, extrapolate=False)(x))


def _linear(low: Array, width: Array, bins: Any, factor: Array, offset: float | Array) -> tuple[Array, Array]:
    """Lower edges and widths of the bins of factor x + offset."""
    return np.where(factor < 0, low + width * bins, low) * factor + offset, width * np.abs(factor)


@dataclass(frozen=True)
class Moments:
    """Mean, variance, skewness and flatness; the latter two are NaN where the variance is lost in the bins."""

    mean: Array
    variance: Array
    skewness: Array
    flatness: Array

    @property
    def rms(self) -> Array:
        """Standard deviation."""
        return np.asarray(np.sqrt(self.variance))


_TAIL_BINS = 8  # beside an end bin, from which the decay of the tail is estimated


def _tail_changes(h: Histogram, mean: Array) -> Array:
    """Changes of the moments of order 1 to 4 about `mean` if the points of the end bins were an exponential tail.

    The tail begins at the end bin's inner edge and decays as the histogram does over the bins before it. These count as
    if they held at least half as many points as the end bin: a few points far from all others tell no decay.
    """
    changes = np.zeros((5, *mean.shape))
    for end, inside, sign in ((0, slice(1, 1 + _TAIL_BINS), -1), (-1, slice(-1 - _TAIL_BINS, -1), 1)):
        points, near = h.probability[..., end], h.probability[..., inside].sum(axis=-1)
        ratio = np.maximum(near, points / 2) / np.where(points > 0, points, 1.0)
        decay = _TAIL_BINS * h.width / np.log1p(np.where(points > 0, ratio, 1.0))
        edge = sign * (h.edges[..., 1 if end == 0 else -2] - mean)
        counted = edge + h.width / 2
        for n in range(1, 5):
            tail = sum(comb(n, m) * factorial(m) * edge ** (n - m) * decay**m for m in range(n + 1))
            changes[n] += sign**n * points * (tail - counted**n)
    return changes


def beyond_bins(histograms: Sequence[Histogram]) -> Moments:
    """What the values beyond the bins would add to `moments`: an estimate, with exponential tails."""
    known = moments(histograms)
    changes = np.mean([_tail_changes(h, known.mean) for h in histograms], axis=0)
    raw = [np.ones_like(known.mean), changes[1], known.variance + changes[2]]
    raw.append(np.nan_to_num(known.skewness) * known.variance**1.5 + changes[3])
    raw.append(np.nan_to_num(known.flatness) * known.variance**2 + changes[4])
    variance = raw[2] - raw[1] ** 2
    third = raw[3] - 3 * raw[1] * raw[2] + 2 * raw[1] ** 3
    fourth = raw[4] - 4 * raw[1] * raw[3] + 6 * raw[1] ** 2 * raw[2] - 3 * raw[1] ** 4
    safe = np.where(np.isfinite(known.skewness), variance, np.nan)
    return Moments(
        changes[1], variance - known.variance, third / safe**1.5 - known.skewness, fourth / safe**2 - known.flatness
    )


def moments(histograms: Sequence[Histogram]) -> Moments:
    """Moments of the average of histograms, each with the same weight and bins of its own.

    Points are at the middles of their bins; what this adds to the moments of a smooth density is removed (Sheppard's
    corrections: Kendall & Stuart, The Advanced Theory of Statistics, vol. 1, sec. 3.18).
    """
    mean = np.mean([(h.probability * h.centres).sum(axis=-1) for h in histograms], axis=0)
    raw = np.zeros((5, *mean.shape))
    for h in histograms:
        x, squared_width = h.centres - mean[..., None], h.width**2
        first, second, third, fourth = ((h.probability * x**n).sum(axis=-1) for n in (1, 2, 3, 4))
        raw[2] += second - squared_width / 12
        raw[3] += third - first * squared_width / 4
        raw[4] += fourth - second * squared_width / 2 + 7 / 240 * squared_width**2
    raw /= len(histograms)
    variance = np.maximum(raw[2], 0.0)
    width = np.max([h.width for h in histograms], axis=0)
    safe = np.where(variance > width**2, variance, np.nan)
    return Moments(mean, variance, raw[3] / safe**1.5, raw[4] / safe**2)


def density(histograms: Sequence[Histogram], edges: Array) -> Array:
    """Density of the average of single histograms between neighbouring edges; NaN where one of them is not known."""
    average = np.mean([np.diff(h.cumulative(edges)) for h in histograms], axis=0)
    return np.asarray(average / np.diff(edges))


@dataclass(frozen=True)
class Joint:
    """A histogram of two variables, of the shape of its bins: the first variable along the first axis."""

    counts: Array
    low: Array  # of both variables
    width: Array

    def linear(self, factors: ArrayLike, offsets: ArrayLike = (0.0, 0.0)) -> Joint:
        """The histogram of factor x + offset of both variables."""
        factor = np.asarray(factors, dtype=float)
        counts = self.counts[:: -1 if factor[0] < 0 else 1, :: -1 if factor[1] < 0 else 1]
        return Joint(counts, *_linear(self.low, self.width, self.counts.shape, factor, np.asarray(offsets)))

    def marginal(self, variable: int) -> Histogram:
        """The histogram of one variable."""
        return Histogram(self.counts.sum(axis=1 - variable), self.low[variable], self.width[variable])

    @property
    def probability(self) -> Array:
        """Fraction of the points in each bin."""
        return np.asarray(self.counts / self.counts.sum())

    def density(self, edges: tuple[Array, Array]) -> Array:
        """Mean density between the edges of other bins; points are spread evenly over their own.

        Points in the end bins, whose values are not known, are left out.
        """
        shares = [_shares(self.marginal(n).edges[1:-1], edges[n]) for n in (0, 1)]
        areas = np.outer(np.diff(edges[0]), np.diff(edges[1]))
        return np.asarray(shares[0].T @ self.probability[1:-1, 1:-1] @ shares[1] / areas)


def _shares(old: Array, new: Array) -> Array:
    """Which part of each old bin lies in each new one, (old, new)."""
    low = np.maximum(old[:-1, None], new[None, :-1])
    high = np.minimum(old[1:, None], new[None, 1:])
    return np.asarray(np.maximum(high - low, 0.0) / np.diff(old)[:, None])
