"""Spectra along x and y in wall units, and the two-point correlations that follow from them.

A spectrum is one-sided: the plain sum over its modes, mode 0 included, is the variance. Mode m has the wavenumber
2 pi m/L and the wavelength L/m; the premultiplied density k E(k) is m times the value of the mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.companions import choose_blocks, with_profiles
from sluice_post.errors import InputOutputError, NoBlocksError, UsageError
from sluice_post.interpolation import interpolate
from sluice_post.parameters import FlowParameters
from sluice_post.plane_spectra import Peak, PlaneSpectra, peak_modes, peaks_of, values_at, without_mean
from sluice_post.statistics import Blocks, Means, read_spectra
from sluice_post.symmetry import Symmetry
from sluice_post.uncertainty import half_widths95
from sluice_post.wall_view import WallView, wall_view

AXES = layout.SPECTRA_AXES
QUANTITIES = ("uu", "vv", "ww", "minus_uw", "pp")
VELOCITIES = ("uu", "vv", "ww")
CORRELATED = (*VELOCITIES, "pp")
ON_WALL = ("tau_x", "tau_y", "p")  # shear stress along x and y, pressure
DEFAULT_HEIGHTS = (5.0, 15.0, 30.0, 100.0, inf)  # z+; inf is the centre, or the surface of an open channel

_MIN_CELLS = 5  # two wavenumbers besides 0

# What the mean and the variance of the statistics are needed for.
_CENTRE_PROFILES = ("u", "v", "w", "p", "uu", "vv", "ww", "pp")
_FACE_PROFILES = ("uw", "tau_xz", "tau_yz")


def load_spectra(directory: Path, statistics: Blocks, begin: float | None, end: float | None) -> Blocks:
    """Blocks of spectra between two times, with the profiles of the statistics; an error if there are none."""
    path = directory / layout.SPECTRA_FILE
    if not path.is_file():
        raise InputOutputError(f"{path}: no such file; a run writes it with output.spectra")
    parameters, blocks = read_spectra(path)
    nx, ny, _ = parameters.cells
    if min(nx, ny) < _MIN_CELLS:
        raise NoBlocksError(f"{path}: {nx} x {ny} cells along x and y have too few wavenumbers for figures")
    blocks = choose_blocks(path, blocks, statistics, begin, end)
    return with_profiles(blocks, statistics, path, _CENTRE_PROFILES, _FACE_PROFILES)


@dataclass(frozen=True)
class WallSpectra:
    """Spectra over the whole height as seen from a wall, in wall units: `energy[quantity, axis]` is (point, mode)."""

    u_tau: float
    viscosity: float
    height: float
    length: dict[str, float]  # of the domain along x and y
    cells: dict[str, int]
    z: dict[str, Array]  # where each quantity is
    energy: dict[tuple[str, str], Array]
    planes: dict[str, PlaneSpectra] = field(default_factory=dict)  # in both directions, by quantity; empty without
    wall: str = ""  # from which wall, where there is a choice

    @property
    def reach_plus(self) -> float:
        """z+ at the end of the view from the wall."""
        return self.height * self.u_tau / self.viscosity

    @property
    def re_tau(self) -> float:
        """Friction Reynolds number."""
        return self.u_tau / self.viscosity

    def z_plus(self, quantity: str) -> Array:
        """Heights of a quantity in wall units."""
        return self.z[quantity] * self.u_tau / self.viscosity

    def wavelength_plus(self, axis: str) -> Array:
        """Wavelengths of the modes from 1 on."""
        modes = np.arange(1, self.cells[axis] // 2 + 1)
        return self.length[axis] / modes * self.u_tau / self.viscosity

    def premultiplied(self, quantity: str, axis: str) -> tuple[Array, Array, Array]:
        """Heights z+ up to the first at or beyond h, wavelengths+ from long to short, and k E(k), (height, wavelength).

        The mode at half the number of cells is left out: it stands for one wavenumber, the others for two, k and -k.
        """
        modes = np.arange(1, last_double_mode(self.cells[axis]) + 1)
        z_plus = self.z_plus(quantity)
        end = int(np.searchsorted(z_plus, self.reach_plus * (1 - 1e-9))) + 1
        near = slice(1 if z_plus[0] <= 0 else 0, end)
        values = self.energy[quantity, axis][near][:, modes] * modes
        return z_plus[near], self.wavelength_plus(axis)[modes - 1], values

    def at(self, quantity: str, axis: str, z_plus: Array) -> Array:
        """Spectra at chosen heights, (height, mode), by cubics."""
        z, energy = self.z_plus(quantity), self.energy[quantity, axis]
        return interpolate(np.clip(z_plus, z[0], z[-1]), z, energy)

    def on_wall(self) -> dict[tuple[str, str], Array]:
        """Spectra of the wall shear stress and of the wall pressure, over their squared units u_tau^2.

        The scheme's wall shear stress is nu u/z of the first cell centre, u relative to the wall; the pressure is that
        of this point, as its gradient at the wall is 0.
        """
        first = self.z_plus("uu")[0]
        factors = {"tau_x": ("uu", 1 / first**2), "tau_y": ("vv", 1 / first**2), "p": ("pp", 1.0)}
        return {
            (name, axis): self.energy[quantity, axis][0] * factor
            for name, (quantity, factor) in factors.items()
            for axis in AXES
        }

    def fall(self, quantity: str, axis: str) -> tuple[float, float]:
        """Smallest ratio, over all heights, of a spectrum's maximum to its end; and z+ of that height."""
        z_plus, _, _ = self.premultiplied(quantity, axis)
        ratio = self.falls(quantity, axis)
        worst = int(np.argmin(ratio))
        return float(ratio[worst]), float(z_plus[worst])

    def falls(self, quantity: str, axis: str) -> Array:
        """The ratio of a spectrum's maximum to its end at the heights of `premultiplied`."""
        _, _, premultiplied = self.premultiplied(quantity, axis)
        energy = premultiplied / np.arange(1, premultiplied.shape[1] + 1)
        largest, last = energy.max(axis=1), energy[:, -1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(last > 0, largest / last, inf)


def last_double_mode(cells: int) -> int:
    """The largest mode that stands for two wavenumbers; the one at half the number of cells stands for one."""
    return (cells - 1) // 2


def _fluctuations(view: WallView) -> dict[tuple[str, str], Array]:
    """Spectra of the fluctuations. Mode 0 is what the other modes lack of the variance of the statistics.

    With equal samples this is the stored value less the square of the mean. With others, the squares of two means would
    leave an error that exceeds the energy of the mode. The mean of w is 0, so ww and uw are of the fluctuations as they
    are.
    """
    means, energy = view.means, {}
    for axis in AXES:
        for quantity in layout.CENTRE_SPECTRA:
            values = means.centre[layout.SPECTRUM.format(quantity, axis)].copy()
            variance = means.centre[quantity] - means.centre[quantity[0]] ** 2
            values[:, 0] = variance - values[:, 1:].sum(axis=1)
            energy[quantity, axis] = values
        energy["ww", axis] = means.face[layout.SPECTRUM.format("ww", axis)]
        energy["minus_uw", axis] = -means.face[layout.SPECTRUM.format("uw", axis)]
    return energy


def wall_spectra(means: Means, parameters: FlowParameters, side: str | None = None) -> WallSpectra:
    """Spectra in wall units. `side`: both (symmetric halves averaged), bottom or top."""
    view = wall_view(without_mean(means), parameters, side)
    units = {quantity: view.u_tau ** (4 if quantity == "pp" else 2) for quantity in QUANTITIES}
    centre, face = view.means.z, view.means.z_face
    found = WallSpectra(
        view.u_tau,
        parameters.viscosity,
        parameters.reach,
        dict(zip(AXES, parameters.size, strict=False)),
        dict(zip(AXES, parameters.cells, strict=False)),
        {quantity: centre if quantity in layout.CENTRE_SPECTRA else face for quantity in QUANTITIES},
        {key: values / units[key[0]] for key, values in _fluctuations(view).items()},
        wall=view.wall,
    )
    planes = {quantity: _plane_spectra(view, quantity, found, unit) for quantity, unit in units.items()}
    return replace(found, planes={quantity: plane for quantity, plane in planes.items() if plane is not None})


def _plane_spectra(view: WallView, quantity: str, found: WallSpectra, unit: float) -> PlaneSpectra | None:
    name = layout.PLANE_SPECTRUM.format(quantity.removeprefix("minus_"))
    if name not in view.means.planes:
        return None
    z = view.means.planes_z[name]
    near = z <= found.height * (1 + 1e-9)
    sign = -1 if quantity == "minus_uw" else 1
    wavelength = {axis: found.wavelength_plus(axis)[: last_double_mode(found.cells[axis])] for axis in AXES}
    energy = sign * view.means.planes[name][near] / unit
    zero = np.isclose(z[near], found.height) & (quantity == "minus_uw" and view.symmetry is Symmetry.MIRROR)
    return PlaneSpectra(z[near] * found.u_tau / found.viscosity, wavelength, energy, zero)


def correlation(energy: Array, cells: int) -> Array:
    """Two-point correlation at distances of 0, 1, ..., cells/2 cells from one-sided spectra along the last axis."""
    two_sided = energy.copy()
    two_sided[..., 1 : last_double_mode(cells) + 1] /= 2
    return np.fft.irfft(two_sided, n=cells, axis=-1)[..., : cells // 2 + 1] * cells


def integral_length(coefficient: Array, spacing: float) -> float:
    """Integral of a correlation coefficient from 0 to its first zero, else to its end."""
    below = np.flatnonzero(coefficient <= 0)
    end = int(below[0]) if len(below) > 0 else len(coefficient)
    positive = coefficient[:end]
    length = float(positive.sum() - (positive[0] + positive[-1]) / 2) * spacing
    if end < len(coefficient):
        length += spacing * positive[-1] ** 2 / (positive[-1] - coefficient[end]) / 2
    return length


@dataclass(frozen=True)
class Lines:
    """Values at the chosen heights, (height, ...), by quantity and axis; or the half widths of their intervals."""

    energy: dict[tuple[str, str], Array]
    coefficient: dict[tuple[str, str], Array]  # of two-point correlations
    length: dict[tuple[str, str], Array]  # integral length over h
    on_wall: dict[tuple[str, str], Array]  # (mode,), of the quantities ON_WALL

    def joined(self) -> dict[str, Array]:
        """All of them by a name."""
        parts = {"energy": self.energy, "coefficient": self.coefficient, "length": self.length, "on_wall": self.on_wall}
        return {f"{part} {'_'.join(key)}": v for part, arrays in parts.items() for key, v in arrays.items()}

    def like(self, joined: dict[str, Array]) -> Lines:
        """Lines of the same keys from what `joined` gives."""
        return Lines(
            {key: joined[f"energy {'_'.join(key)}"] for key in self.energy},
            {key: joined[f"coefficient {'_'.join(key)}"] for key in self.coefficient},
            {key: joined[f"length {'_'.join(key)}"] for key in self.length},
            {key: joined[f"on_wall {'_'.join(key)}"] for key in self.on_wall},
        )


def lines_of(found: WallSpectra, heights: Sequence[float]) -> Lines:
    """Spectra, correlations and integral lengths at the heights z+; inf is the centre."""
    z_plus = np.minimum(heights, found.reach_plus)
    energy = {key: found.at(*key, z_plus) for key in found.energy}
    coefficient, length = {}, {}
    for key in ((quantity, axis) for axis in AXES for quantity in CORRELATED):
        axis = key[1]
        covariance = correlation(energy[key], found.cells[axis])
        coefficient[key] = covariance / covariance[:, :1]
        spacing = found.length[axis] / found.cells[axis]
        length[key] = np.array([integral_length(row, spacing) for row in coefficient[key]])
    return Lines(energy, coefficient, length, found.on_wall())


@dataclass(frozen=True)
class HalfBoxes:
    """Correlation coefficients of the velocity at half the box, (component, height) by axis; with half widths.

    At the heights `names` of DEFAULT_HEIGHTS, whichever are chosen for figures.
    """

    names: tuple[str, ...]
    values: dict[str, Array]
    widths: dict[str, Array]  # NaN for a single block


@dataclass(frozen=True)
class EvaluatedSpectra:
    """Spectra, what they give at the chosen heights, and its intervals, which a single block does not have."""

    found: WallSpectra
    heights: tuple[float, ...]
    names: tuple[str, ...]  # of the heights
    lines: Lines
    bands: Lines | None
    blocks: Blocks
    peaks: list[Peak]  # of the spectra in both directions
    half_boxes: HalfBoxes
    widths: dict[str, Array]  # half widths of the intervals of further_of; empty for a single block

    def width(self, name: str, at: int = 0) -> float:
        """The half width of one of the numbers of further_of; NaN if it is not known."""
        return float(self.widths[name][at]) if name in self.widths else float("nan")

    def fall(self, axis: str) -> tuple[float, float, float]:
        """The smallest ratio of the maximum of E_uu to its end, the half width of its interval, and z+ of it."""
        ratio, z_plus = self.found.fall("uu", axis)
        return ratio, self.width(f"fall {axis}"), z_plus

    @property
    def z_plus(self) -> Array:
        """The heights in wall units."""
        return np.minimum(self.heights, self.found.reach_plus)

    def distances(self, axis: str) -> Array:
        """Distances over h at which correlations are known."""
        count = self.found.cells[axis] // 2 + 1
        return np.arange(count) * self.found.length[axis] / self.found.cells[axis]


def _at_half_box(found: WallSpectra, z_plus: Array) -> dict[str, Array]:
    """Correlation coefficients of the velocity at half the box, (component, height), by axis."""
    coefficients = {}
    for axis, cells in found.cells.items():
        cosines = np.cos(2 * np.pi * np.arange(cells // 2 + 1) * (cells // 2) / cells)
        energies = [found.at(quantity, axis, z_plus) for quantity in VELOCITIES]
        coefficients[axis] = np.array([energy @ cosines / energy.sum(axis=1) for energy in energies])
    return coefficients


def further_of(found: WallSpectra, lines: Lines, worst: dict[str, int]) -> dict[str, Array]:
    """Variances by `variance QUANTITY AXIS`, `wall QUANTITY`, `plane QUANTITY`; `fall AXIS` at the heights `worst`."""
    values = {f"variance {'_'.join(key)}": energy.sum(axis=1) for key, energy in lines.energy.items()}
    values |= {f"wall {name}": lines.on_wall[name, "x"].sum(keepdims=True) for name in ON_WALL}
    values |= {f"plane {name}": plane.energy.sum(axis=(1, 2)) for name, plane in found.planes.items()}
    return values | {f"fall {axis}": found.falls("uu", axis)[[at]] for axis, at in worst.items()}


def usual_heights(parameters: FlowParameters, reach_plus: float) -> list[float]:
    """Those of DEFAULT_HEIGHTS that exist, without the top of an Ekman layer, where the flow is not turbulent."""
    far = [] if parameters.is_ekman_layer else [inf]
    return [height for height in DEFAULT_HEIGHTS if height < 0.95 * reach_plus] + far


def require_heights(heights: Sequence[float], parameters: FlowParameters, reach_plus: float) -> None:
    """An error if one of the heights z+ is beyond the view from the wall."""
    for height in heights:
        if not (height == inf or 0 < height <= reach_plus * 1.001):
            raise UsageError(
                f"z+ = {height:g} is not between 0 and {reach_plus:.5g}, which is the {parameters.far_end}"
            )


def evaluate_spectra(
    blocks: Blocks, parameters: FlowParameters, heights: Sequence[float] | None = None, side: str | None = None
) -> EvaluatedSpectra:
    """Spectra with intervals at the heights z+; default: those of DEFAULT_HEIGHTS that exist."""
    found = wall_spectra(blocks.means(), parameters, side)
    usual = usual_heights(parameters, found.reach_plus)
    heights = usual if heights is None else heights
    require_heights(heights, parameters, found.reach_plus)

    def names(of: Sequence[float]) -> tuple[str, ...]:
        return tuple(parameters.far_end if height == inf else f"{height:.4g}" for height in of)

    def half_boxes(of: WallSpectra) -> dict[str, Array]:
        return _at_half_box(of, np.minimum(usual, of.reach_plus))

    lines, values = lines_of(found, heights), half_boxes(found)
    modes, bands, widths = peak_modes(found.planes), None, {}
    unknown = {axis: np.full(array.shape, np.nan) for axis, array in values.items()}
    worst = {axis: int(np.argmin(found.falls("uu", axis))) for axis in AXES}
    if len(blocks) > 1:

        def joined(means: Means) -> dict[str, Array]:
            other = wall_spectra(means, parameters, side)
            at_half_box = {f"half box {axis}": array for axis, array in half_boxes(other).items()}
            its_lines = lines_of(other, heights)
            further = further_of(other, its_lines, worst)
            return its_lines.joined() | values_at(other.planes, modes) | at_half_box | further

        widths = half_widths95(joined, blocks)
        bands = lines.like(widths)
    return EvaluatedSpectra(
        found,
        tuple(heights),
        names(heights),
        lines,
        bands,
        blocks,
        peaks_of(found.planes, modes, widths),
        HalfBoxes(names(usual), values, {axis: widths.get(f"half box {axis}", unknown[axis]) for axis in AXES}),
        {name: widths[name] for name in further_of(found, lines, worst) if name in widths},
    )
