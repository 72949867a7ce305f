"""Probes: samples of the flow against time, their frequency spectra, and tables of what is found from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy.signal import spectrogram

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.convection import Convection
from sluice_post.datasets.fields import samples_dataset
from sluice_post.errors import UsageError
from sluice_post.printed import peak_place, with_interval
from sluice_post.probe_parts import index_path
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
MAX_SHOWN = 6  # heights of a field


def read_probe(directory: Path, name: str, begin: float | None = None, end: float | None = None) -> xr.Dataset:
    """The samples between two times, in memory, in double precision: see series_dataset; an error if there are few."""
    found = samples_dataset(directory, name, layout.PROBE_FOLDER, begin, end)
    path = str(index_path(directory, name))
    if found.sizes["time"] < MIN_SAMPLES:
        raise UsageError(f"{path}: has {found.sizes['time']} samples between these times; {MIN_SAMPLES} are needed")
    loaded: xr.Dataset = found.load().astype(float)
    loaded.encoding["source"] = path
    return loaded


def equal_steps(probe: xr.Dataset) -> tuple[xr.Dataset, float]:
    """The samples at equal intervals of time, by cubic splines where they are not.

    And by how much the intervals differ from their mean, relative to it.
    """
    at = probe.time.values
    steps = np.diff(at)
    n = int(np.argmax(steps))
    if steps[n] / np.median(steps) > LONGEST_STEP:
        raise UsageError(
            f"{probe.encoding['source']}: no samples between times {at[n]:g} and {at[n + 1]:g}; choose times "
            "before or after by --to or --from"
        )
    difference = float(np.abs(steps / steps.mean() - 1).max())
    if difference <= EQUAL_STEPS:
        return probe, 0.0
    found = probe.drop_vars("step").interp(time=np.linspace(at[0], at[-1], at.size), method="cubic")
    found.encoding = probe.encoding
    return found, difference


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


def frequency_spectrum(probe: xr.Dataset, field: str, segment: float | None = None) -> FrequencySpectrum:
    """Welch's estimate, with Hann windows that overlap by half, averaged over the points of each height.

    `segment`: the length of a window in time; default: an eighth of the time.
    """
    values, count, path = probe[field].values, probe.sizes["time"], probe.encoding.get("source", "")
    step = float(probe.time[1] - probe.time[0])
    length = count // 8 if segment is None else round(segment / step)
    if not 4 <= length <= count:
        raise UsageError(
            f"{path}: a segment of {length} samples; choose --segment between {4 * step:g} and {count * step:g}"
            if segment is not None
            else f"{path}: {count} samples are too few for a spectrum; 32 are needed"
        )
    fluctuation = values - values.mean(axis=(0, 2, 3), keepdims=True)
    frequency, _, found = spectrogram(
        fluctuation, fs=1 / step, window="hann", nperseg=length, noverlap=length // 2, detrend=False, axis=0
    )
    windows = np.moveaxis(found.mean(axis=(2, 3)), -1, 0).swapaxes(1, 2)  # (window, height, frequency)
    density = windows.mean(axis=0)
    error = standard_error((windows - density) / len(windows))
    return FrequencySpectrum(
        field,
        probe[layout.line_of(field, "z")].values,
        frequency,
        density,
        student_t95(degrees_of_freedom(len(windows))) * error,
        len(windows),
        [mean_with_interval(of_height) for of_height in (fluctuation**2).mean(axis=(2, 3)).T],
    )


def shown_heights(count: int) -> list[int]:
    """Which of so many heights tables on the terminal and figures show."""
    return sorted({round(n) for n in np.linspace(0, count - 1, min(count, MAX_SHOWN))})


def table_text(spectra: list[FrequencySpectrum], found: list[Convection]) -> str:
    """What the terminal shows."""
    form = "{:<6} {:>9} {:>24} {:>30} {:>22} {:>22}"
    lines = [form.format("field", "z", "variance", "peak of f S at frequency", "convection velocity", "by phase")]
    velocities = {(one.field, one.z): one for one in found}
    reasons: list[str] = []
    for spectrum in spectra:
        for n in shown_heights(spectrum.z.size):
            z, variance = f"{spectrum.z[n]:.4g}", spectrum.variance[n]
            velocity = velocities.get((spectrum.field, float(spectrum.z[n])))
            told = ("", "") if velocity is None else (velocity.text, velocity.phase_text)
            with_width = with_interval(variance.mean, variance.half_width)
            lines.append(form.format(spectrum.field, z, with_width, peak_place(*spectrum.peak(n)), *told).rstrip())
            if velocity is not None and velocity.reason:
                reasons.append(f"convection velocity of {spectrum.field} at z = {z}: {velocity.reason}")
    lines += reasons
    if any(spectrum.z.size > MAX_SHOWN for spectrum in spectra):
        lines.append(f"{MAX_SHOWN} heights of each field are shown; the CSV files have all of them")
    return "\n".join(lines)


def _csv(tables: list[dict[str, object]]) -> str:
    """One table below the other; what is one number in a table stands in all its rows."""
    text: str = pd.concat([pd.DataFrame(table) for table in tables]).to_csv(index=False, na_rep="nan")
    return text


def spectra_csv(spectra: list[FrequencySpectrum]) -> str:
    """A row for each field, height and frequency."""
    return _csv(
        [
            {"field": one.field, "z": z, "frequency": one.frequency, "density": density, "density_ci95": width}
            for one in spectra
            for z, density, width in zip(one.z, one.density, one.half_width, strict=True)
        ]
    )


def convection_csv(found: list[Convection]) -> str:
    """A row for each field, height and lag; separations in the laboratory; `used`: whether velocities use the lag."""
    return _csv(
        [
            {
                "field": one.field,
                "z": one.z,
                "lag": one.lag,
                "separation": one.peak,
                "correlation": one.peak_correlation,
                "used": one.used.astype(int),
                "convection_velocity": one.velocity,
                "convection_velocity_ci95": one.half_width,
                "phase_velocity": one.phase_velocity,
                "phase_velocity_ci95": one.phase_half_width,
            }
            for one in found
        ]
    )
