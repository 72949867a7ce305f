"""Probes: samples of the flow against time, their frequency spectra and convection velocities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.signal import welch

from sluice_post import layout
from sluice_post.errors import UsageError
from sluice_post.hdf5_file import Hdf5File
from sluice_post.probe_parts import index_path, read_samples

Array = NDArray[np.float64]

EQUAL_STEPS = 1e-6  # the relative difference of steps in time that counts as none
LONGEST_STEP = 2.0  # in medians of all steps; beyond it, samples are missing
MIN_SAMPLES = 16
MAX_SHOWN = 6  # heights of a field
CORRELATED = 0.5  # the least correlation at the lags from which a convection velocity is found


@dataclass(frozen=True)
class Probe:
    """The samples of one probe. `fields[name]` has the shape (samples, nz, ny, nx)."""

    name: str
    path: Path
    time: Array
    fields: dict[str, Array]
    coordinates: dict[str, Array]
    grid_velocity: float
    length_x: float

    def axis(self, field: str, axis: str) -> Array:
        """The coordinates x, y or z of a field."""
        return self.coordinates[layout.line_of(field, axis)]

    def equal_steps(self) -> tuple[Probe, float]:
        """The samples at equal intervals of time, by cubic splines where they are not; and by how much the intervals
        differ from their mean, relative to it.
        """
        steps = np.diff(self.time)
        largest = float(steps.max() / np.median(steps))
        if largest > LONGEST_STEP:
            at = int(np.argmax(steps))
            raise UsageError(
                f"{self.path}: no samples between times {self.time[at]:g} and {self.time[at + 1]:g}; choose times "
                "before or after by --to or --from"
            )
        difference = float(np.abs(steps / steps.mean() - 1).max())
        if difference <= EQUAL_STEPS:
            return self, 0.0
        time = np.linspace(self.time[0], self.time[-1], self.time.size)
        fields = {name: CubicSpline(self.time, values)(time) for name, values in self.fields.items()}
        return (
            Probe(self.name, self.path, time, fields, self.coordinates, self.grid_velocity, self.length_x),
            difference,
        )


def read_probe(directory: Path, name: str, begin: float | None = None, end: float | None = None) -> Probe:
    """The samples between two times; an error if there are too few."""
    path = index_path(directory, name)
    with Hdf5File(path, layout.PROBE_FORMAT) as index:
        velocity, length = float(index.value("grid_velocity")), float(index.value("length_x"))
    samples = read_samples(directory, name, layout.PROBE_FOLDER, begin, end)
    if samples.time.size < MIN_SAMPLES:
        raise UsageError(
            f"{path}: has {samples.time.size} samples between these times; {MIN_SAMPLES} are needed"
        )
    return Probe(name, path, samples.time, samples.fields, samples.coordinates, velocity, length)


@dataclass(frozen=True)
class FrequencySpectrum:
    """One-sided: the integral of `density[k]` over `frequency` is the variance at z[k]."""

    field: str
    z: Array
    frequency: Array
    density: Array  # (heights, frequencies)
    segments: int


def frequency_spectrum(probe: Probe, field: str, segment: float | None = None) -> FrequencySpectrum:
    """Welch's estimate, with Hann windows that overlap by half, averaged over the points of each height.

    `segment`: the length of a window in time; default: an eighth of the time.
    """
    values = probe.fields[field]
    step = float(probe.time[1] - probe.time[0])
    count = values.shape[0]
    length = count // 8 if segment is None else round(segment / step)
    if not 4 <= length <= count:
        raise UsageError(
            f"{probe.path}: a segment of {length} samples; choose --segment between {4 * step:g} and {count * step:g}"
            if segment is not None
            else f"{probe.path}: {count} samples are too few for a spectrum; 32 are needed"
        )
    fluctuation = values - values.mean(axis=(0, 2, 3), keepdims=True)
    frequency, density = welch(
        fluctuation, fs=1 / step, window="hann", nperseg=length, noverlap=length // 2, detrend=False, axis=0
    )
    segments = (count - length) // (length - length // 2) + 1
    return FrequencySpectrum(field, probe.axis(field, "z"), frequency, density.mean(axis=(2, 3)).T, segments)


@dataclass(frozen=True)
class Convection:
    """The space-time correlation at one height, R(r, tau)/R(0, 0), and the velocity at which it moves.

    `peak[n]` is the separation of the largest correlation at `lag[n]` in the laboratory, `grid_peak[n]` on the grid.
    """

    field: str
    z: float
    separation: Array
    lag: Array
    correlation: Array  # (lags, separations), in the frame of the grid
    peak: Array
    grid_peak: Array
    peak_correlation: Array
    velocity: float  # in the laboratory; nan where nothing is correlated long enough


def has_whole_line(probe: Probe, field: str) -> bool:
    """Whether the probe has all points of the periodic direction x."""
    x = probe.axis(field, "x")
    return x.size >= 8 and bool(np.isclose(x.size * (x[1] - x[0]), probe.length_x, rtol=1e-9))


def convection(probe: Probe, field: str, height: int) -> Convection:
    """From a line along x: the motion of the peak of the space-time correlation."""
    values = probe.fields[field][:, height]  # time, y, x
    fluctuation = values - values.mean()
    count, _, points = fluctuation.shape
    step = float(probe.time[1] - probe.time[0])
    lags = np.arange(max(2, min(count // 4, 400)))
    cross = np.zeros((lags.size, points // 2 + 1), dtype=np.complex128)  # lag, mode
    for row in range(fluctuation.shape[1]):
        modes = np.fft.rfft(fluctuation[:, row], axis=1)
        power = np.abs(np.fft.fft(modes, n=2 * count, axis=0)) ** 2
        cross += np.fft.ifft(power, axis=0)[: lags.size]
    cross /= (count - lags)[:, None]
    fine = 8  # times as many points as the grid has, by the Fourier series
    correlation = np.fft.irfft(cross, n=fine * points, axis=1)
    correlation /= correlation[0, 0]
    separation = np.arange(fine * points) * probe.length_x / (fine * points)

    # The peak is followed from lag to lag: what a turbulent flow carries is near where the last two lags lead.
    peak = np.zeros(lags.size)
    height_of_peak = np.ones(lags.size)
    reach = probe.length_x / 4
    for n in range(1, lags.size):
        expected = 2 * peak[n - 1] - peak[n - 2] if n > 1 else 0.0
        distance = (separation - expected + probe.length_x / 2) % probe.length_x - probe.length_x / 2
        near = np.abs(distance) <= reach if n > 1 else np.ones(separation.size, dtype=bool)
        best = int(np.argmax(np.where(near, correlation[n], -np.inf)))
        before, after = correlation[n, best - 1], correlation[n, (best + 1) % separation.size]
        curvature = before - 2 * correlation[n, best] + after
        shift = 0.5 * (before - after) / curvature if curvature < 0 else 0.0
        peak[n] = expected + distance[best] + shift * separation[1]
        height_of_peak[n] = correlation[n, best]
    low = np.flatnonzero(height_of_peak < CORRELATED)
    used = slice(1, int(low[0]) if low.size else lags.size)
    lag = lags * step
    moved = float(np.sum(lag[used] * peak[used]) / np.sum(lag[used] ** 2)) if lag[used].size else float("nan")
    shown = np.fft.fftshift(correlation[:, ::fine], axes=1)
    shown_separation = np.fft.fftshift(np.fft.fftfreq(points, 1 / probe.length_x))
    return Convection(
        field,
        float(probe.axis(field, "z")[height]),
        shown_separation,
        lag,
        shown,
        peak + probe.grid_velocity * lag,
        peak,
        height_of_peak,
        moved + probe.grid_velocity,
    )


def shown_heights(count: int) -> list[int]:
    """Which of so many heights tables on the terminal and figures show."""
    return sorted({round(n) for n in np.linspace(0, count - 1, min(count, MAX_SHOWN))})


def table_text(spectra: list[FrequencySpectrum], found: list[Convection]) -> str:
    """What the terminal shows."""
    lines = [
        f"{'field':<6} {'z':>9} {'variance':>12} {'frequency of the peak of f S':>29} {'convection velocity':>20}"
    ]
    velocities = {(one.field, one.z): one.velocity for one in found}
    for spectrum in spectra:
        for n in shown_heights(spectrum.z.size):
            z, density = spectrum.z[n], spectrum.density[n]
            variance = float(density.sum() * spectrum.frequency[1])
            peak = spectrum.frequency[int(np.argmax(spectrum.frequency * density))]
            velocity = velocities.get((spectrum.field, float(z)))
            told = "" if velocity is None else f"{velocity:.4g}"
            lines.append(f"{spectrum.field:<6} {z:>9.4g} {variance:>12.4e} {peak:>29.4g} {told:>20}")
    if any(spectrum.z.size > MAX_SHOWN for spectrum in spectra):
        lines.append(f"{MAX_SHOWN} heights of each field are shown; the CSV files have all of them")
    return "\n".join(lines)


def spectra_csv(spectra: list[FrequencySpectrum]) -> str:
    """A row for each field, height and frequency."""
    lines = ["field,z,frequency,density"]
    for spectrum in spectra:
        for z, density in zip(spectrum.z, spectrum.density, strict=True):
            lines += [
                f"{spectrum.field},{z!r},{f!r},{s!r}"
                for f, s in zip(spectrum.frequency.tolist(), density.tolist(), strict=True)
            ]
    return "\n".join(lines) + "\n"


def convection_csv(found: list[Convection]) -> str:
    """A row for each field, height and lag; separations in the laboratory."""
    lines = ["field,z,lag,separation,correlation,convection_velocity"]
    for one in found:
        lines += [
            f"{one.field},{one.z!r},{lag!r},{peak!r},{correlation!r},{one.velocity!r}"
            for lag, peak, correlation in zip(
                one.lag.tolist(), one.peak.tolist(), one.peak_correlation.tolist(), strict=True
            )
        ]
    return "\n".join(lines) + "\n"
