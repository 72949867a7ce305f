"""Frequency spectra and convection velocities as tables: for the terminal, and as CSV files."""

from __future__ import annotations

import numpy as np

from sluice_post.convection import Convection
from sluice_post.printed import peak_place, with_interval
from sluice_post.probes import FrequencySpectrum

MAX_SHOWN = 6  # heights of a field


def shown_heights(count: int) -> list[int]:
    """Which of so many heights tables on the terminal and figures show."""
    return sorted({round(n) for n in np.linspace(0, count - 1, min(count, MAX_SHOWN))})


def table_text(spectra: list[FrequencySpectrum], found: list[Convection]) -> str:
    """What the terminal shows."""
    lines = [
        f"{'field':<6} {'z':>9} {'variance':>24} {'peak of f S at frequency':>30} {'convection velocity':>22} "
        f"{'by phase':>22}"
    ]
    velocities = {(one.field, one.z): one for one in found}
    reasons: list[str] = []
    for spectrum in spectra:
        for n in shown_heights(spectrum.z.size):
            z, variance = spectrum.z[n], spectrum.variance[n]
            velocity = velocities.get((spectrum.field, float(z)))
            told = ("", "") if velocity is None else (velocity.text, velocity.phase_text)
            lines.append(
                f"{spectrum.field:<6} {z:>9.4g} {with_interval(variance.mean, variance.half_width):>24} "
                f"{peak_place(*spectrum.peak(n)):>30} {told[0]:>22} {told[1]:>22}".rstrip()
            )
            if velocity is not None and velocity.reason:
                reasons.append(f"convection velocity of {spectrum.field} at z = {z:.4g}: {velocity.reason}")
    lines += reasons
    if any(spectrum.z.size > MAX_SHOWN for spectrum in spectra):
        lines.append(f"{MAX_SHOWN} heights of each field are shown; the CSV files have all of them")
    return "\n".join(lines)


def spectra_csv(spectra: list[FrequencySpectrum]) -> str:
    """A row for each field, height and frequency."""
    lines = ["field,z,frequency,density,density_ci95"]
    for spectrum in spectra:
        for z, density, width in zip(spectrum.z, spectrum.density, spectrum.half_width, strict=True):
            columns = (spectrum.frequency.tolist(), density.tolist(), width.tolist())
            lines += [f"{spectrum.field},{z!r},{f!r},{s!r},{w!r}" for f, s, w in zip(*columns, strict=True)]
    return "\n".join(lines) + "\n"


def convection_csv(found: list[Convection]) -> str:
    """A row for each field, height and lag; separations in the laboratory; `used`: whether velocities use the lag."""
    lines = [
        "field,z,lag,separation,correlation,used,convection_velocity,convection_velocity_ci95,phase_velocity,"
        "phase_velocity_ci95"
    ]
    for one in found:
        numbers = (one.velocity, one.half_width, one.phase_velocity, one.phase_half_width)
        velocities = ",".join(map(repr, numbers))
        columns = (one.lag.tolist(), one.peak.tolist(), one.peak_correlation.tolist(), one.used.tolist())
        lines += [
            f"{one.field},{one.z!r},{lag!r},{peak!r},{correlation!r},{used:d},{velocities}"
            for lag, peak, correlation, used in zip(*columns, strict=True)
        ]
    return "\n".join(lines) + "\n"
