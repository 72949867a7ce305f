"""Convection velocities from lines along x: two estimates, each with an interval, or the reason why there is none.

u_k(t) are the Fourier modes along x, and C(k, tau) = <u_k*(t) u_k(t + tau)>. A pattern that moves at the velocity c has
C = |u_k|^2 exp(-i k c tau). The two estimates are

- the ridge: the space-time correlation R(r, tau), the Fourier transform of C along k, is largest at r = c tau;
- the phase: that of C is -k c tau in each mode.

Structures of different sizes move at different velocities, so both are averages, with different weights: the ridge
follows the structures that correlate longest, the phase gives small scales more weight.

What does not move with the flow is removed first: the mean along x at each time, and in the laboratory the mean and the
linear trend in time at each point. Otherwise a mean that varies along x, or a structure that outlasts the samples,
keeps the correlation high at separations where the flow has none, and pulls the ridge towards 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.signal import detrend

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.printed import with_interval
from sluice_post.uncertainty import degrees_of_freedom, standard_error, student_t95

Modes = NDArray[np.complex128]

SEGMENTS = 8  # of the samples; the intervals come from what each of them adds
MIN_SEGMENTS = 4
MIN_LENGTH = 8  # samples of a segment
CORRELATED = 0.5  # the least correlation of a lag that is used, over that of the first lag
FIRST_CORRELATED = 0.3  # the least correlation after one interval of the samples
SAME = 0.2  # the largest relative difference of both estimates, if their intervals do not explain it
MAX_LAGS = 400
FINE = 8  # correlations are evaluated at so many times as many points as the grid has, by the Fourier series


@dataclass(frozen=True)
class Convection:
    """The space-time correlation at one height, R(r, tau)/R(0, 0), and the velocity at which it moves.

    `peak[n]` is the separation of the largest correlation at `lag[n]` in the laboratory, `grid_peak[n]` on the grid.
    `used`: the lags from which the velocities are found. Velocities are those in the laboratory, NaN if `reason` says
    why there is none; half widths are those of 95 % intervals.
    """

    field: str
    z: float
    separation: Array
    lag: Array
    correlation: Array  # (lags, separations), in the frame of the grid
    peak: Array
    grid_peak: Array
    peak_correlation: Array
    used: NDArray[np.bool_]
    velocity: float  # by the ridge
    half_width: float
    phase_velocity: float
    phase_half_width: float
    reason: str = ""

    def _text(self, velocity: float, half_width: float) -> str:
        return "not determined" if self.reason else with_interval(velocity, half_width, may_be_zero=True)

    @property
    def text(self) -> str:
        """The velocity of the ridge with its interval."""
        return self._text(self.velocity, self.half_width)

    @property
    def phase_text(self) -> str:
        """The velocity of the phase with its interval."""
        return self._text(self.phase_velocity, self.phase_half_width)


def has_whole_line(probe: xr.Dataset, field: str) -> bool:
    """Whether the probe has all points of the periodic direction x."""
    x = probe[layout.line_of(field, "x")].values
    return x.size >= 8 and bool(np.isclose(x.size * (x[1] - x[0]), probe.attrs["length_x"], rtol=1e-9))


def _moving_modes(values: Array, time: Array, wavenumber: Array, grid_velocity: float) -> Modes:
    """Fourier modes (time, y, mode) along x on the grid, without mode 0 and without what stands in the laboratory."""
    modes = np.fft.rfft(values, axis=2)
    modes[:, :, 0] = 0
    carried = np.exp(-1j * grid_velocity * np.outer(time, wavenumber))[:, None, :]
    return np.asarray(detrend(modes * carried, axis=0) / carried)


def _cross_spectra(modes: Modes, segments: int, lags: int) -> tuple[Modes, NDArray[np.int64]]:
    """Sums over y and time of u_k*(t) u_k(t + tau), (segment, lag, mode), and how many times each lag has.

    A pair of times belongs to the segment of the first.
    """
    count = modes.shape[0]
    edges = np.linspace(0, count, segments + 1).astype(int)
    sums = np.zeros((segments, lags, modes.shape[2]), dtype=np.complex128)
    pairs = np.zeros((segments, lags), dtype=np.int64)
    for n, (begin, end) in enumerate(pairwise(edges)):
        later = modes[begin : min(end + lags, count)]
        size = later.shape[0] + end - begin
        pairs[n] = np.minimum(end, count - np.arange(lags)) - begin
        for row in range(modes.shape[1]):
            first = np.fft.fft(modes[begin:end, row], n=size, axis=0)
            second = np.fft.fft(later[:, row], n=size, axis=0)
            sums[n] += np.fft.ifft(first.conj() * second, axis=0)[:lags]
    return sums, np.maximum(pairs, 0)


def _ridge(correlation: Array, separation: Array, length: float) -> tuple[Array, Array]:
    """Separation and height of the largest correlation at each lag.

    It is followed from lag to lag: what a turbulent flow carries is near where the last two lags lead.
    """
    peak, height = np.zeros(len(correlation)), np.ones(len(correlation))
    for n in range(1, len(correlation)):
        expected = 2 * peak[n - 1] - peak[n - 2] if n > 1 else 0.0
        distance = (separation - expected + length / 2) % length - length / 2
        near = np.abs(distance) <= (length / 4 if n > 1 else length)
        heights = np.where(near, correlation[n], -np.inf)
        equal = heights >= heights.max() - 1e-9  # a wave that fits into the box several times has several peaks
        best = int(np.argmin(np.where(equal, np.abs(distance), np.inf)))
        before, after = correlation[n, best - 1], correlation[n, (best + 1) % separation.size]
        curvature = before - 2 * correlation[n, best] + after
        shift = 0.5 * (before - after) / curvature if curvature < 0 else 0.0
        peak[n] = expected + distance[best] + shift * separation[1]
        height[n] = correlation[n, best]
    return peak, height


def _used_lags(peak: Array, height: Array, length: float) -> NDArray[np.bool_]:
    """The lags up to the first that is correlated too little, or at which the pattern has crossed half the box."""
    good = (height >= CORRELATED * height[min(1, height.size - 1)]) & (np.abs(peak) <= length / 2)
    good[:1] = True
    used = np.logical_and.accumulate(good)
    used[:1] = False
    return np.asarray(used)


def _phase_velocity(cross: Modes, used: NDArray[np.bool_], lag: Array, wavenumber: Array, near: float) -> float:
    """The slope of the phase over k tau, of modes as long as they are coherent.

    The phase is followed from lag to lag. `near`: a velocity that tells which turn the change in one lag belongs to.
    """
    size = np.abs(cross)
    coherent = size >= CORRELATED * size[1]
    coherent[:2] = size[1] >= FIRST_CORRELATED * size[0]
    chosen = used[:, None] & np.logical_and.accumulate(coherent, axis=0)
    expected = near * lag[1] * wavenumber
    steps = expected - np.angle(cross[1:] * cross[:-1].conj() * np.exp(1j * expected))
    phase = np.concatenate([np.zeros((1, wavenumber.size)), np.cumsum(steps, axis=0)])
    turned = np.outer(lag, wavenumber)
    weight = np.where(chosen, size, 0.0) * turned
    moved = float(np.sum(weight * turned))
    return float(np.sum(weight * phase)) / moved if moved > 0 else float("nan")


def _why_not(values: Array, half_widths: Array, segments: int, first: float, samples: int) -> str:
    """Why there is no velocity; empty if there is one. `first`: the correlation at the first lag."""
    if not np.isfinite(first):
        return "nothing fluctuates along x"
    if segments == 1:
        return f"{samples} samples are too few; {MIN_SEGMENTS * MIN_LENGTH} are needed"
    if first < FIRST_CORRELATED:
        return f"the correlation falls to {first:.2g} between two samples; the samples are too far apart in time"
    if not np.isfinite(values).all():
        return "no wavenumber is coherent from one sample to the next"
    difference = abs(values[0] - values[1])
    if difference > max(SAME * np.abs(values).max(), float(np.hypot(*half_widths))):
        ridge, phase = (with_interval(*pair, may_be_zero=True) for pair in zip(values, half_widths, strict=True))
        return f"the correlation moves at {ridge}, the phases at {phase}"
    return ""


def convection(probe: xr.Dataset, field: str, height: int) -> Convection:
    """The convection velocities at a height of a probe that has whole lines along x."""
    values, time = probe[field].values[:, height], probe.time.values  # time, y, x
    count, _, points = values.shape
    length, grid_velocity = probe.attrs["length_x"], probe.attrs["grid_velocity"]
    wavenumber = 2 * np.pi / length * np.arange(points // 2 + 1)
    segments = min(SEGMENTS, count // MIN_LENGTH)
    segments = segments if segments >= MIN_SEGMENTS else 1  # too few samples for intervals
    lags = max(2, min(count // (2 * segments), MAX_LAGS))
    lag = (time[1] - time[0]) * np.arange(lags)
    modes = _moving_modes(values, time, wavenumber, grid_velocity)
    sums, pairs = _cross_spectra(modes, segments, lags)
    separation = np.arange(FINE * points) * length / (FINE * points)

    def ridge_of(of: Modes) -> tuple[Array, Array, Array]:
        """R(r, tau)/R(0, 0) at the separations, and its ridge."""
        correlation = np.fft.irfft(of, n=FINE * points, axis=1)
        correlation = correlation / correlation[0, 0]
        return correlation, *_ridge(correlation, separation, length)

    def velocities(of: Modes) -> Array:
        """By the ridge: its slope through 0, lags with the square of their correlation as weights; by the phase."""
        _, moved, weight = ridge_of(of)
        tau, squared = lag[used], weight[used] ** 2
        ridge = float(np.sum(squared * tau * moved[used]) / np.sum(squared * tau**2))
        return np.array([ridge, _phase_velocity(of, used, lag, wavenumber, ridge)])

    cross = sums.sum(axis=0) / pairs.sum(axis=0)[:, None]
    if float(np.abs(sums[:, 0].sum())) > 1e-18 * float(np.sum(values**2)) * points:
        correlation, peak, peak_correlation = ridge_of(cross)
        first = float(peak_correlation[1])
    else:
        correlation, first = np.full((lags, separation.size), np.nan), float("nan")
        peak, peak_correlation = _ridge(correlation, separation, length)
    used = _used_lags(peak, peak_correlation, length)
    both, widths = np.full(2, np.nan), np.full(2, np.nan)
    if np.isfinite(first) and used.any():
        both = velocities(cross)
    if np.isfinite(both).all() and segments > 1:
        others = [np.arange(segments) != n for n in range(segments)]
        without = [velocities(sums[kept].sum(axis=0) / pairs[kept].sum(axis=0)[:, None]) for kept in others]
        added = (1 - 1 / segments) * (both - np.stack(without))
        widths = student_t95(degrees_of_freedom(segments)) * standard_error(added)
    both = both + grid_velocity
    reason = _why_not(both, widths, segments, first, count)
    if reason:
        both, widths = np.full(2, np.nan), np.full(2, np.nan)
    return Convection(
        field,
        float(probe[layout.line_of(field, "z")][height]),
        np.fft.fftshift(np.fft.fftfreq(points, 1 / length)),
        lag,
        np.fft.fftshift(correlation[:, ::FINE], axes=1),
        peak + grid_velocity * lag,
        peak,
        peak_correlation,
        used,
        float(both[0]),
        float(widths[0]),
        float(both[1]),
        float(widths[1]),
        reason,
    )
