"""Probes: samples of the flow against time, and their frequency spectra."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import spectrogram

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import UsageError
from sluice_post.hdf5_file import Hdf5File
from sluice_post.probe_parts import index_path, read_samples
from sluice_post.uncertainty import (
    MeanEstimate,
    degrees_of_freedom,
    mean_with_interval,
    peak_range,
    standard_error,
    student_t95,
)

EQUAL_STEPS = 1e-6  # the relative difference of steps in time that counts as none
LONGEST_STEP = 2.0  # in medians of all steps; beyond it, samples are missing
MIN_SAMPLES = 16


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
        raise UsageError(f"{path}: has {samples.time.size} samples between these times; {MIN_SAMPLES} are needed")
    return Probe(name, path, samples.time, samples.fields, samples.coordinates, velocity, length)


@dataclass(frozen=True)
class FrequencySpectrum:
    """One-sided: the integral of `density[k]` over `frequency` is the variance at z[k].

    `half_width`: of the 95 % intervals of the density, NaN for a single window.
    """

    field: str
    z: Array
    frequency: Array
    density: Array  # (heights, frequencies)
    half_width: Array
    segments: int
    variance: list[MeanEstimate]  # at each height

    def peak(self, height: int) -> tuple[float, float, float]:
        """The frequency at which f S is largest, and between which frequencies this may be; NaN: not known."""
        frequency, density = self.frequency[1:], self.density[height, 1:]
        return peak_range(frequency, frequency * density, frequency * self.half_width[height, 1:])


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
    found = [_windows(fluctuation[:, height], 1 / step, length) for height in range(values.shape[1])]
    frequency, windows = found[0][0], np.stack([densities for _, densities in found], axis=1)
    density = windows.mean(axis=0)
    error = standard_error((windows - density) / len(windows))
    return FrequencySpectrum(
        field,
        probe.axis(field, "z"),
        frequency,
        density,
        student_t95(degrees_of_freedom(len(windows))) * error,
        len(windows),
        [mean_with_interval(of_height) for of_height in (fluctuation**2).mean(axis=(2, 3)).T],
    )


def _windows(values: Array, rate: float, length: int) -> tuple[Array, Array]:
    """Frequencies, and the density in each window, (window, frequency), averaged over the points."""
    frequency, _, density = spectrogram(
        values, fs=rate, window="hann", nperseg=length, noverlap=length // 2, detrend=False, axis=0
    )
    return frequency, density.mean(axis=(1, 2)).T
