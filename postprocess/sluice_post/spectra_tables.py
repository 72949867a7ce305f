"""Spectra and two-point correlations as tables: for the terminal and the report, and as CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice_post.arrays import Array
from sluice_post.export import csv_text
from sluice_post.printed import is_determined, peak_place, with_interval
from sluice_post.scalar_spectra import EvaluatedScalarSpectra
from sluice_post.spectra import AXES, CORRELATED, ON_WALL, VELOCITIES, EvaluatedSpectra, WallSpectra, last_double_mode
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
        uncertain = np.nan_to_num(self.half_width)
        if abs(self.value) + uncertain <= LONG_ENOUGH:
            return "the box is long enough"
        if not self.is_too_short:
            return "the run is too short to tell whether the box is long enough"
        return "the box is too short for the largest structures"


def half_box(evaluated: EvaluatedSpectra, axis: str) -> HalfBox:
    """Of the velocity's correlations at half the box, the one that exceeds the limit most certainly, else the largest.

    Those of the pressure are left out: they are long even in boxes that are usual.
    """
    boxes = evaluated.half_boxes
    values, widths = boxes.values[axis], boxes.widths[axis]
    certain = np.abs(values) - np.nan_to_num(widths)
    rank = certain if certain.max() > LONG_ENOUGH else np.abs(values)
    of, at = np.unravel_index(int(np.argmax(rank)), rank.shape)
    return HalfBox(VELOCITIES[of], boxes.names[at], float(values[of, at]), float(widths[of, at]))


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


def _peak(wavelength: Array, values: Array, half_widths: Array) -> tuple[str, str]:
    """The largest value with its interval, and the wavelengths at which it may be."""
    at = int(np.argmax(values))
    place, low, high = peak_range(wavelength, values, half_widths)
    return with_interval(float(values[at]), float(half_widths[at])), peak_place(place, low, high, ".4g")


def table_text(evaluated: EvaluatedSpectra) -> str:
    """Peaks, integral lengths and correlations at half the box, and what they say of the grid and the box."""
    found, lines, bands, blocks = evaluated.found, evaluated.lines, evaluated.bands, evaluated.blocks
    text = [
        f"spectra: {blocks.samples.sum()} samples in {len(blocks)} blocks, t = {blocks.time_begin[0]:g} to "
        f"{blocks.time_end[-1]:g}; {with_wall('Re_tau', found.wall)} = {found.re_tau:.2f}"
    ]
    for axis in AXES:
        text += [
            "",
            f"{'along ' + axis:<10}{'z+':>8}{'variance+':>22}{'peak of kE+':>22}{'at wavelength+':>26}"
            f"{'integral length/h':>34}{'R(half box)/R(0)':>24}",
        ]
        wavelength = found.wavelength_plus(axis)
        for quantity in CORRELATED:
            energy = lines.energy[quantity, axis]
            modes = np.arange(1, energy.shape[1])
            premultiplied = energy[:, 1:] * modes
            for n, height in enumerate(evaluated.names):
                widths = (
                    (bands.length[quantity, axis][n], bands.coefficient[quantity, axis][n, -1])
                    if bands
                    else (np.nan, np.nan)
                )
                variance = with_interval(float(energy[n].sum()), evaluated.width(f"variance {quantity}_{axis}", n))
                bounds = bands.energy[quantity, axis][n, 1:] * modes if bands else np.full(modes.shape, np.nan)
                peak, place = _peak(wavelength, premultiplied[n], bounds)
                length = with_interval(float(lines.length[quantity, axis][n]), float(widths[0]))
                end = with_interval(
                    float(lines.coefficient[quantity, axis][n, -1]),
                    float(widths[1]),
                    sign="+",
                    may_be_zero=True,
                    scale=1,
                )
                text.append(f"{quantity:<10}{height:>8}{variance:>22}{peak:>22}{place:>26}{length:>34}{end:>24}")
    return "\n".join([*text, *_wall_rows(evaluated), *_plane_rows(evaluated), "", *conclusions(evaluated)])


def _wall_rows(evaluated: EvaluatedSpectra) -> list[str]:
    """Peaks of the spectra of wall shear stress and wall pressure."""
    found, on_wall = evaluated.found, evaluated.lines.on_wall
    rows = [
        "",
        f"{'on the wall':<14}{'variance+':>22}"
        + "".join(f"{f'peak of kE+ along {axis}':>24}{'at wavelength+':>26}" for axis in AXES),
    ]
    for quantity in ON_WALL:
        variance = with_interval(float(on_wall[quantity, "x"].sum()), evaluated.width(f"wall {quantity}"))
        row = f"{quantity:<14}{variance:>22}"
        for axis in AXES:
            modes = np.arange(1, last_double_mode(found.cells[axis]) + 1)
            values = on_wall[quantity, axis][modes] * modes
            bands = evaluated.bands
            widths = bands.on_wall[quantity, axis][modes] * modes if bands else np.full(modes.shape, np.nan)
            peak, place = _peak(found.wavelength_plus(axis)[: modes.size], values, widths)
            row += f"{peak:>24}{place:>26}"
        rows.append(row)
    return rows


def _plane_rows(evaluated: EvaluatedSpectra) -> list[str]:
    """Peaks of the spectra in both directions, if there are any."""
    if not evaluated.peaks:
        return []
    rows = [
        "",
        f"{'along x, y':<10}{'z+':>8}{'variance+':>22}{'peak of kxkyE+':>22}{'at wavelength x+':>18}"
        f"{'at wavelength y+':>18}",
    ]
    for peak in evaluated.peaks:
        if peak.zero_by_symmetry:
            rows.append(f"{peak.quantity:<10}{peak.z_plus:>8.4g}  zero by symmetry")
            continue
        heights = evaluated.found.planes[peak.quantity].z_plus
        at = int(np.argmin(np.abs(heights - peak.z_plus)))
        variance = with_interval(peak.variance, evaluated.width(f"plane {peak.quantity}", at))
        row = f"{peak.quantity:<10}{peak.z_plus:>8.4g}{variance:>22}"
        if peak.value > 0:  # not on a wall
            row += f"{with_interval(peak.value, peak.half_width):>22}"
            row += f"{peak.wavelength_plus['x']:>18.4g}{peak.wavelength_plus['y']:>18.4g}"
        rows.append(row)
    return rows


def _columns(
    evaluated: EvaluatedSpectra | EvaluatedScalarSpectra,
    positions: dict[str, Array],
    values: dict[str, Array],
    bands: dict[str, Array],
) -> str:
    """One line for each height and position. Values are (height, position)."""
    heights, count = evaluated.z_plus, len(next(iter(positions.values())))
    columns = {"z_over_h": np.repeat(heights / evaluated.found.re_tau, count), "z_plus": np.repeat(heights, count)}
    columns |= {name: np.tile(position, len(heights)) for name, position in positions.items()}
    for name, array in values.items():
        columns[name] = array.ravel()
        if name in bands:
            columns[f"{name}_ci95"] = bands[name].ravel()
    return csv_text(columns)


def _modes(found: WallSpectra, axis: str) -> dict[str, Array]:
    """Wavenumbers and wavelengths of all modes."""
    wavelength = np.concatenate([[np.inf], found.wavelength_plus(axis)])
    k = 2 * np.pi / found.length[axis] * np.arange(len(wavelength))
    return {f"k{axis}_h": k, "wavelength_plus": wavelength}


def wall_csv(evaluated: EvaluatedSpectra, axis: str) -> str:
    """Spectra of wall shear stress and wall pressure as CSV in wall units: the sum over the modes is the variance."""
    columns = _modes(evaluated.found, axis)
    for quantity in ON_WALL:
        columns[f"E_{quantity}_plus"] = evaluated.lines.on_wall[quantity, axis]
        if evaluated.bands:
            columns[f"E_{quantity}_plus_ci95"] = evaluated.bands.on_wall[quantity, axis]
    return csv_text(columns)


def spectra_csv(evaluated: EvaluatedSpectra, axis: str) -> str:
    """Spectra as CSV in wall units: the sum over the modes of a height is the variance."""
    bands, positions = evaluated.bands, _modes(evaluated.found, axis)

    def named(arrays: dict[tuple[str, str], Array]) -> dict[str, Array]:
        return {f"E_{quantity}_plus": array for (quantity, along), array in arrays.items() if along == axis}

    return _columns(evaluated, positions, named(evaluated.lines.energy), named(bands.energy) if bands else {})


def scalar_spectra_csv(evaluated: EvaluatedScalarSpectra, axis: str) -> str:
    """Spectra of a scalar as CSV in wall units: the sum over the modes of a height is the variance or the flux."""

    def named(arrays: dict[tuple[str, str], Array]) -> dict[str, Array]:
        return {f"E_{quantity}_plus": array for (quantity, along), array in arrays.items() if along == axis}

    positions = _modes(evaluated.found, axis)
    return _columns(evaluated, positions, named(evaluated.energy), named(evaluated.bands))


def plane_spectra_csv(evaluated: EvaluatedSpectra, quantities: Sequence[str]) -> str:
    """Spectra in both directions as CSV in wall units: the sum over all modes of a height is the variance.

    The quantities are at the same heights. A line for each height, ky and kx.
    """
    found, planes = evaluated.found, [evaluated.found.planes[quantity] for quantity in quantities]
    z_plus, wave = planes[0].z_plus, {}
    for axis in AXES:
        wave[axis] = 2 * np.pi / found.length[axis] * np.arange(found.cells[axis] // 2 + 1)
    height, ky, kx = np.meshgrid(z_plus, wave["y"], wave["x"], indexing="ij")
    columns = {"z_over_h": height / found.re_tau, "z_plus": height, "kx_h": kx, "ky_h": ky}
    columns |= {f"E_{name}_plus": plane.energy for name, plane in zip(quantities, planes, strict=True)}
    return csv_text({name: values.ravel() for name, values in columns.items()})


def correlations_csv(evaluated: EvaluatedSpectra, axis: str) -> str:
    """Two-point correlation coefficients as CSV, from distance 0 to half the box."""
    found, bands = evaluated.found, evaluated.bands
    distance = evaluated.distances(axis)
    positions = {f"r{axis}_over_h": distance, f"r{axis}_plus": distance * found.re_tau}

    def named(arrays: dict[tuple[str, str], Array]) -> dict[str, Array]:
        return {f"R_{quantity}": array for (quantity, along), array in arrays.items() if along == axis}

    return _columns(evaluated, positions, named(evaluated.lines.coefficient), named(bands.coefficient) if bands else {})
