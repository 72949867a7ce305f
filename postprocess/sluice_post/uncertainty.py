"""95 % intervals of means of correlated series, and of figures that are computed from means.

Neighbouring blocks of a turbulent run are correlated. How much the mean of the run would differ from that of another
run is seen in the slowest changes within the run: in the cosines of 1/2, 1, 3/2, ..., 3 periods over its length. The
amplitudes of these six cosines are nearly independent of each other and of the mean, and have its variance, if the run
is long compared with the integral time scale of the flow. The six therefore act as six independent repetitions of the
run: the interval is their root mean square times Student's t for 6 degrees of freedom.

Lazarus, Lewis, Stock & Watson, J. Bus. Econ. Stat. 36, 541 (2018), sec. 3, where the number of cosines grows with the
length of the series; here it is fixed, as in Mueller, J. Bus. Econ. Stat. 32, 311 (2014). No time scale has to be
estimated, which is what makes intervals of short runs too narrow. README.md has the coverage that was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from sluice_post.arrays import Array
from sluice_post.datasets.variables import half_width_of
from sluice_post.printed import with_interval
from sluice_post.statistics import Blocks, Means

COSINES = 6  # with fewer, intervals are wider than need be; with more, those of short runs are too narrow


def degrees_of_freedom(blocks: int) -> int:
    """Number of cosines that a series of so many blocks has amplitudes for; 0 for a single block."""
    return min(COSINES, blocks - 1)


def student_t95(degrees: int) -> float:
    """Half width of the two-sided 95 % interval in standard errors; NaN without degrees of freedom."""
    return float(stdtrit(degrees, 0.975))


def student_t99(degrees: int) -> float:
    """Half width of the two-sided 99 % interval in standard errors."""
    return float(stdtrit(degrees, 0.995))


def standard_error(contributions: ArrayLike, samples: ArrayLike | None = None, *, without_trend: bool = False) -> Array:
    """Standard error of a mean from what each block adds to its deviation; NaN for a single block.

    `contributions` are weight times deviation from the mean, blocks along the first axis. `samples` of each block
    are its weight and its duration; None: all alike. `without_trend`: leaves out the slowest cosine, in which a
    trend would mostly appear; this leaves one degree of freedom less.
    """
    contributions = np.asarray(contributions, dtype=float)
    count = len(contributions)
    duration = np.ones(count) if samples is None else np.asarray(samples, dtype=float)
    middle = (np.cumsum(duration) - duration / 2) / duration.sum()
    periods = np.arange(2 if without_trend else 1, degrees_of_freedom(count) + 1) / 2
    if len(periods) == 0:
        return np.full(contributions.shape[1:], np.nan)
    cosines = np.sqrt(2) * np.cos(2 * np.pi * np.outer(periods, middle))
    amplitudes = np.tensordot(cosines, contributions, axes=1)
    return np.asarray(np.sqrt((amplitudes**2).mean(axis=0)))


@dataclass(frozen=True)
class MeanEstimate:
    """A mean, and the half width of its 95 % interval."""

    mean: float
    half_width: float


def mean_with_interval(values: Array) -> MeanEstimate:
    """Mean of a correlated series of evenly spaced values."""
    mean = float(np.mean(values))
    error = float(standard_error((values - mean) / len(values)))
    return MeanEstimate(mean, student_t95(degrees_of_freedom(len(values))) * error)


def peak_range(position: Array, values: Array, half_widths: Array) -> tuple[float, float, float]:
    """Where the largest of some values is, and between which positions it may be; NaN where that is not known.

    It may be wherever the upper end of the interval reaches the lower end of that of the largest value.
    """
    at = int(np.argmax(values))
    if not np.isfinite(half_widths[at]):
        return float(position[at]), float("nan"), float("nan")
    possible = position[values + np.nan_to_num(half_widths) >= values[at] - half_widths[at]]
    return float(position[at]), float(possible.min()), float(possible.max())


def jackknife(function: Callable[[Means], Array], blocks: Blocks) -> Array:
    """What each block adds to the deviation of `function(means)`, from leaving it out; blocks along the first axis.

    Exact for a mean; to first order for other functions, as for pseudo-values of blocks that differ in weight (Busing,
    Meijer & van der Leeden, Statistics and Computing 9, 3 (1999), eq. 12). NaN for a single block.
    """
    whole = np.asarray(function(blocks.means()), dtype=float)
    if len(blocks) < 2:
        return np.full((1, *whole.shape), np.nan)
    rest = 1 - blocks.samples / blocks.samples.sum()
    return np.stack([rest[j] * (whole - function(blocks.means(without=j))) for j in range(len(blocks))])


def degrees_of(blocks: Blocks, *, without_trend: bool = False) -> int:
    """Degrees of freedom of the standard errors of what is computed from these blocks; 0 for a single one."""
    if blocks.independent:
        return len(blocks) - 1
    return sum(max(degrees_of_freedom(len(run)) - without_trend, 0) for run in blocks.runs())


def error_of(contributions: Array, blocks: Blocks, *, without_trend: bool = False) -> Array:
    """Standard error from the contributions of `jackknife`; NaN for a single block.

    Of members of an ensemble, which are independent, it is that of a weighted mean of n numbers whose variances are in
    inverse proportion to their weights w: the root of sum(c^2/w)/(n - 1). Of the blocks of several members, it is the
    root of the sum of the squares of those of each: only changes within a member count.
    """
    if blocks.independent:
        weight = blocks.samples / blocks.samples.sum()
        return np.asarray(np.sqrt(np.tensordot(1 / weight, contributions**2, axes=1) / (len(blocks) - 1)))
    if blocks.member is None:
        return standard_error(contributions, blocks.samples, without_trend=without_trend)
    squares = []
    for run in blocks.runs():
        weight = blocks.samples[run] / blocks.samples[run].sum()
        within = contributions[run] - np.multiply.outer(weight, contributions[run].sum(axis=0))
        squares.append(standard_error(within, blocks.samples[run], without_trend=without_trend) ** 2)
    return np.asarray(np.sqrt(np.sum(squares, axis=0)))


def standard_error_of(function: Callable[[Means], Array], blocks: Blocks) -> Array:
    """Standard error of `function(means)`; NaN for a single block."""
    return error_of(jackknife(function, blocks), blocks)


def half_width95(function: Callable[[Means], Array], blocks: Blocks) -> Array:
    """Half width of the 95 % interval of `function(means)`; NaN for a single block, 0 without sampling error."""
    if not blocks.has_sampling_error:
        return np.zeros_like(np.asarray(function(blocks.means()), dtype=float))
    return student_t95(degrees_of(blocks)) * standard_error_of(function, blocks)


def half_widths95(function: Callable[[Means], dict[str, Array]], blocks: Blocks) -> dict[str, Array]:
    """Half widths of the 95 % intervals of all arrays that `function(means)` gives, by name; NaN for a single block."""
    shapes = {name: values.shape for name, values in function(blocks.means()).items()}
    widths = half_width95(lambda means: np.concatenate([v.ravel() for v in function(means).values()]), blocks)
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    parts = np.split(widths, ends[:-1])
    return {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}


Values = TypeVar("Values", Array, xr.Variable)


def intervals(function: Callable[[Means], dict[str, Values]], blocks: Blocks) -> dict[str, Values]:
    """What `function(means)` gives, arrays or variables by name, with half widths of 95 % intervals as NAME_ci95.

    A half width that is nowhere known, as of a single block, is left out; it is 0 without sampling error.
    """

    def arrays(means: Means) -> dict[str, Array]:
        return {name: np.asarray(values) for name, values in function(means).items()}

    found: dict[str, Any] = {}
    widths = half_widths95(arrays, blocks)
    for name, values in function(blocks.means()).items():
        found[name] = values
        if np.isfinite(widths[name]).any():
            found[f"{name}_ci95"] = widths[name]
            if isinstance(values, xr.Variable):
                found[f"{name}_ci95"] = half_width_of(values, widths[name])
    return found


@dataclass(frozen=True)
class EvaluatedValues:
    """Variables by name with the half widths of their intervals, as `intervals` gives them.

    Variables with a description are those of datasets; tables show the others, too.
    """

    variables: dict[str, xr.Variable]

    @cached_property
    def values(self) -> dict[str, Array]:
        """The arrays of all variables but the half widths."""
        return {name: of.values for name, of in self.variables.items() if not name.endswith("_ci95")}

    @cached_property
    def has_intervals(self) -> bool:
        """Whether there are any: a single block has none."""
        return len(self.values) < len(self.variables)

    def width(self, name: str) -> Array:
        """The half widths of a variable; NaN if they are not known."""
        found = self.variables.get(f"{name}_ci95")
        return np.full(self.values[name].shape, np.nan) if found is None else found.values

    def number(self, name: str, at: int | tuple[int, ...] = (), **options: Any) -> str:
        """One number of a variable with its interval; `options`: of printed.with_interval."""
        return with_interval(float(self.values[name][at]), float(self.width(name)[at]), **options)

    @property
    def described(self) -> dict[str, xr.Variable]:
        """The variables that have a description."""
        return {name: values for name, values in self.variables.items() if values.attrs}


def standard_errors_of(function: Callable[[Means], dict[str, Array]], blocks: Blocks) -> dict[str, Array]:
    """Standard errors of all arrays that `function(means)` gives, by name; NaN for a single block."""
    t = student_t95(degrees_of(blocks))
    return {name: width / t for name, width in half_widths95(function, blocks).items()}
