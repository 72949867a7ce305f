"""Spectra and two-point correlations as tables: for the terminal and the report, and as CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from sluice_post.arrays import Array
from sluice_post.export import dataset_text
from sluice_post.printed import is_determined, peak_place, with_interval
from sluice_post.spectra import AXES, CORRELATED, ON_WALL, VELOCITIES, EvaluatedSpectra, SpectraAtHeights
from sluice_post.uncertainty import peak_range
from sluice_post.wall_view import with_wall

# Two-point correlations at half the box that are larger than this say that structures do not fit into it.
LONG_ENOUGH = 0.1


@dataclass(frozen=True)
class HalfBox:
    """The largest correlation coefficient of the velocity, in magnitude, at half the length of the box."""

    quantity: str
    height: str
    value: float
    half_width: float  # NaN if not known

    @property
    def is_too_short(self) -> bool:
        """Whether the correlation exceeds the limit for certain."""
        return bool(abs(self.value) - np.nan_to_num(self.half_width) > LONG_ENOUGH)

    @property
    def verdict(self) -> str:
        """What it says about the length of the box."""
        if self.is_too_short:
            return "the box is too short for the largest structures"
        if abs(self.value) + np.nan_to_num(self.half_width) <= LONG_ENOUGH:
            return "the box is long enough"
        return "the run is too short to tell whether the box is long enough"


def half_box(evaluated: EvaluatedSpectra, axis: str) -> HalfBox:
    """Of the velocity's correlations at half the box, the one that exceeds the limit most certainly, else the largest.

    Those of the pressure are left out: they are long even in boxes that are usual.
    """
    values, widths = evaluated.values[f"half_box_{axis}"], evaluated.width(f"half_box_{axis}")
    certain = np.abs(values) - np.nan_to_num(widths)
    rank = certain if certain.max() > LONG_ENOUGH else np.abs(values)
    of, at = np.unravel_index(int(np.argmax(rank)), rank.shape)
    return HalfBox(VELOCITIES[of], evaluated.usual[at], float(values[of, at]), float(widths[of, at]))


def conclusions(evaluated: EvaluatedSpectra) -> list[str]:
    """Sentences on the resolution and on the length of the box."""
    lines = []
    for axis in AXES:
        ratio, width, z_plus = evaluated.fall(axis)
        known = "of at least" if is_determined(ratio, width) else "that is"
        lines.append(
            f"E_uu along {axis} falls by a factor {known} {with_interval(ratio, width)} from its maximum to the "
            f"largest wavenumber (the least at z+ = {z_plus:.3g})"
        )
    for axis in AXES:
        box = half_box(evaluated, axis)
        place = box.height if box.height in ("centre", "surface", "top") else f"z+ = {box.height}"
        number = with_interval(box.value, box.half_width, sign="+", may_be_zero=True, scale=1)
        lines.append(
            f"largest correlation of the velocity at half the box along {axis}: {number} ({box.quantity}, {place}); "
            f"limit {LONG_ENOUGH:g}: {box.verdict}"
        )
    return lines


def _peak(wavelength: Array, energy: Array, half_widths: Array) -> tuple[str, str]:
    """The largest premultiplied value with its interval, and the wavelengths of modes from 1 on at which it may be."""
    modes = np.arange(1, wavelength.size + 1)
    values, half_widths = energy[modes] * modes, half_widths[modes] * modes
    at = int(np.argmax(values))
    place, low, high = peak_range(wavelength, values, half_widths)
    return with_interval(float(values[at]), float(half_widths[at])), peak_place(place, low, high, 4)


def table_text(evaluated: EvaluatedSpectra) -> str:
    """Peaks, integral lengths and correlations at half the box, and what they say of the grid and the box."""
    found, blocks = evaluated.found, evaluated.blocks
    text = [
        f"spectra: {blocks.samples.sum()} samples in {blocks.count_text}, t = {blocks.times[0]:g} to "
        f"{blocks.times[1]:g}; {with_wall('Re_tau', found.wall)} = {found.re_tau:.2f}"
    ]
    for axis in AXES:
        text += [
            "",
            f"{'along ' + axis:<10}{'z+':>8}{'variance+':>22}{'peak of kE+':>22}{'at wavelength+':>26}"
            f"{'integral length/h':>34}{'R(half box)/R(0)':>24}",
        ]
        for quantity in CORRELATED:
            name, of = f"{quantity}_k{axis}_at", f"{quantity}_{axis}"
            for n, height in enumerate(evaluated.names):
                variance, length = evaluated.number(f"variance_{of}", n), evaluated.number(f"L_{of}", n)
                end = evaluated.number(f"R_{of}", (n, -1), sign="+", may_be_zero=True, scale=1)
                energy, width = evaluated.values[name][n], evaluated.width(name)[n]
                peak, place = _peak(found.wavelength_plus(axis), energy, width)
                text.append(f"{quantity:<10}{height:>8}{variance:>22}{peak:>22}{place:>26}{length:>34}{end:>24}")
    return "\n".join([*text, *_wall_rows(evaluated), *_plane_rows(evaluated), "", *conclusions(evaluated)])


def _wall_rows(evaluated: EvaluatedSpectra) -> list[str]:
    """Peaks of the spectra of wall shear stress and wall pressure."""
    peaks = "".join(f"{f'peak of kE+ along {axis}':>24}{'at wavelength+':>26}" for axis in AXES)
    rows = ["", f"{'on the wall':<14}{'variance+':>22}{peaks}"]
    for quantity in ON_WALL:
        row = f"{quantity:<14}{evaluated.number(f'variance_wall_{quantity}_x'):>22}"
        for axis in AXES:
            name = f"{quantity}_wall_k{axis}"
            wavelength = evaluated.found.wavelength_plus(axis)[evaluated.found.double_modes(axis) - 1]
            peak, place = _peak(wavelength, evaluated.values[name], evaluated.width(name))
            row += f"{peak:>24}{place:>26}"
        rows.append(row)
    return rows


def _plane_rows(evaluated: EvaluatedSpectra) -> list[str]:
    """Peaks of the spectra in both directions, if there are any."""
    heading = f"{'along x, y':<10}{'z+':>8}{'variance+':>22}{'peak of kxkyE+':>22}"
    rows = ["", heading + "".join(f"{f'at wavelength {axis}+':>18}" for axis in AXES)]
    for quantity, plane in evaluated.found.planes.items():
        for n, across, along in zip(*plane.peaks(), strict=True):
            row = f"{quantity:<10}{plane.z_plus[n]:>8.4g}"
            if plane.zero_by_symmetry[n]:
                rows.append(f"{row}  zero by symmetry")
                continue
            row += f"{evaluated.number(f'variance_plane_{quantity}', n):>22}"
            if evaluated.values[f"peak_{quantity}"][n] > 0:  # not on a wall
                x, y = plane.wavelength_plus["x"][along], plane.wavelength_plus["y"][across]
                row += f"{evaluated.number(f'peak_{quantity}', n):>22}{x:>18.4g}{y:>18.4g}"
            rows.append(row)
    return rows if evaluated.found.planes else []


def _heights(evaluated: SpectraAtHeights, dim: str) -> dict[str, str | xr.DataArray]:
    z_plus = evaluated.dataset[f"{dim}_plus"]
    return {"z_over_h": z_plus / evaluated.found.re_tau, "z_plus": z_plus}


def _modes(axis: str) -> dict[str, str | xr.DataArray]:
    return {f"k{axis}_h": f"k{axis}", "wavelength_plus": f"lambda_{axis}_plus"}


def wall_csv(evaluated: EvaluatedSpectra, axis: str) -> str:
    """Spectra of wall shear stress and wall pressure as CSV in wall units: the sum over the modes is the variance."""
    return dataset_text(
        evaluated.dataset, _modes(axis) | {f"E_{name}_plus": f"{name}_wall_k{axis}" for name in ON_WALL}
    )


def spectra_csv(evaluated: SpectraAtHeights, axis: str) -> str:
    """Spectra as CSV in wall units: the sum over the modes of a height is the variance, or the flux of a scalar."""
    energy = {f"E_{name}_plus": f"{name}_k{axis}_at" for name, along in evaluated.found.energy if along == axis}
    return dataset_text(evaluated.dataset, _heights(evaluated, "height") | _modes(axis) | energy)


def plane_spectra_csv(evaluated: EvaluatedSpectra, quantities: Sequence[str]) -> str:
    """Spectra in both directions as CSV in wall units: the sum over all modes of a height is the variance.

    The quantities are at the same heights. A line for each height, ky and kx.
    """
    energy = {f"E_{name}_plus": f"{name}_kxky" for name in quantities}
    height = str(evaluated.dataset[f"{quantities[0]}_kxky"].dims[0])
    return dataset_text(evaluated.dataset, _heights(evaluated, height) | {"kx_h": "kx", "ky_h": "ky"} | energy)


def correlations_csv(evaluated: EvaluatedSpectra, axis: str) -> str:
    """Two-point correlation coefficients as CSV, from distance 0 to half the box."""
    r = evaluated.dataset[f"r_{axis}"]
    distances = {f"r{axis}_over_h": r, f"r{axis}_plus": r * evaluated.found.re_tau}
    coefficients = {f"R_{quantity}": f"R_{quantity}_{axis}" for quantity in CORRELATED}
    return dataset_text(evaluated.dataset, _heights(evaluated, "height") | distances | coefficients)
