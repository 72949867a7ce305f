"""Spectra along x and y in wall units, and the two-point correlations that follow from them.

A spectrum is one-sided: the plain sum over its modes, mode 0 included, is the variance. Mode m has the wavenumber
2 pi m/L and the wavelength L/m; the premultiplied density k E(k) is m times the value of the mode. Spectra in both
directions, over (ky, kx), at the heights that output.spectra.heights chooses, are one-sided in both: the sum over all
modes is the variance, and mode (n, m) times n m is the premultiplied density kx ky E(kx, ky).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array, interpolate
from sluice_post.companions import choose_blocks, with_profiles
from sluice_post.datasets import variables as described
from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import Variables, dataset, variable
from sluice_post.errors import InputOutputError, NoBlocksError, UsageError
from sluice_post.parameters import FlowParameters
from sluice_post.statistics import Blocks, Means, read_spectra
from sluice_post.symmetry import Symmetry
from sluice_post.uncertainty import EvaluatedValues, intervals
from sluice_post.wall_view import SeenFromWall, WallView, wall_view

AXES = layout.SPECTRA_AXES
VELOCITIES = ("uu", "vv", "ww")
CORRELATED = (*VELOCITIES, "pp")
# Description, dimension of the height, and unit of what has spectra, of the flow and of a scalar.
ABOUT = {
    "uu": ("uu", "z", "u_tau^2"),
    "vv": ("vv", "z", "u_tau^2"),
    "ww": ("ww", "z_face", "u_tau^2"),
    "minus_uw": ("-uw", "z_face", "u_tau^2"),
    "pp": ("pp", "z", "rho^2 u_tau^4"),
    "cc": ("Theta", "z", "c_tau^2"),
    "minus_wc": ("-w Theta", "z_face", "c_tau u_tau"),
}
ON_WALL = {"tau_x": "streamwise wall shear stress", "tau_y": "spanwise wall shear stress", "p": "wall pressure"}
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


def last_double_mode(cells: int) -> int:
    """The largest mode that stands for two wavenumbers, k and -k; the one at half the number of cells is one."""
    return (cells - 1) // 2


@dataclass(frozen=True)
class PlaneSpectra:
    """Spectra of one quantity in wall units, energy (height, ky, kx), at heights from a wall up to h."""

    z_plus: Array
    wavelength_plus: dict[str, Array]  # by axis, of the modes from 1 on that stand for two wavenumbers
    energy: Array
    zero_by_symmetry: NDArray[np.bool_]  # at which heights: the flux uw on the centre plane of a channel

    def premultiplied(self) -> Array:
        """kx ky E(kx, ky), (height, ky, kx), from mode 1 on in both directions.

        The modes at half the numbers of cells are left out: they stand for one wavenumber, the others for two.
        """
        across, along = (self.wavelength_plus[axis].size + 1 for axis in "yx")
        modes = np.outer(np.arange(1, across), np.arange(1, along))
        return np.asarray(self.energy[:, 1:across, 1:along] * modes)

    def peaks(self) -> tuple[NDArray[np.intp], ...]:
        """The indices of the largest premultiplied density at each height: into heights, ky and kx."""
        values = self.premultiplied()
        largest = values.reshape(len(values), -1).argmax(axis=1)
        return np.arange(len(values)), *np.unravel_index(largest, values.shape[1:])

    def nearest(self, z_plus: float) -> int:
        """The height nearest to z+."""
        return int(np.abs(self.z_plus - z_plus).argmin())


@dataclass(frozen=True)
class WallSpectra(SeenFromWall):
    """Spectra over the whole height as seen from a wall, in wall units: `energy[quantity, axis]` is (point, mode)."""

    energy: dict[tuple[str, str], Array]
    planes: dict[str, PlaneSpectra] = field(default_factory=dict)  # in both directions, by quantity; empty without

    @property
    def length(self) -> dict[str, float]:
        """Of the domain along x and y."""
        return dict(zip(AXES, self.view.parameters.size, strict=False))

    @property
    def cells(self) -> dict[str, int]:
        """Along x and y."""
        return dict(zip(AXES, self.view.parameters.cells, strict=False))

    @property
    def z(self) -> dict[str, Array]:
        """Where each quantity is."""
        return {quantity: getattr(self.view.means, ABOUT[quantity][1]) for quantity, _ in self.energy}

    def z_plus(self, quantity: str) -> Array:
        """Heights of a quantity in wall units."""
        return self.z[quantity] * self.re_tau

    def double_modes(self, axis: str) -> NDArray[np.int64]:
        """The modes from 1 on that stand for two wavenumbers."""
        return np.arange(1, last_double_mode(self.cells[axis]) + 1)

    def wavelength_plus(self, axis: str) -> Array:
        """Wavelengths of the modes from 1 on."""
        modes = np.arange(1, self.cells[axis] // 2 + 1)
        return self.length[axis] / modes * self.re_tau

    def premultiplied(self, quantity: str, axis: str) -> tuple[Array, Array, Array]:
        """Heights z+ up to the first at or beyond h, wavelengths+ from long to short, and k E(k), (height, wavelength).

        The mode at half the number of cells is left out.
        """
        modes, z_plus = self.double_modes(axis), self.z_plus(quantity)
        end = int(np.searchsorted(z_plus, self.reach_plus * (1 - 1e-9))) + 1
        shown = slice(1 if z_plus[0] <= 0 else 0, end)
        return (
            z_plus[shown],
            self.wavelength_plus(axis)[modes - 1],
            self.energy[quantity, axis][shown][:, modes] * modes,
        )

    def at(self, quantity: str, axis: str, z_plus: Array) -> Array:
        """Spectra at chosen heights, (height, mode), by cubics."""
        z, energy = self.z_plus(quantity), self.energy[quantity, axis]
        return interpolate(np.clip(z_plus, z[0], z[-1]), z, energy)

    def on_wall(self) -> dict[tuple[str, str], Array]:
        """Spectra of the wall shear stress and of the wall pressure, over their squared units u_tau^2.

        The scheme's wall shear stress is nu u/z of the first cell centre, u relative to the wall; the pressure is that
        of this point, as its gradient at the wall is 0.
        """
        shear = 1 / self.z_plus("uu")[0] ** 2
        factors = (("tau_x", "uu", shear), ("tau_y", "vv", shear), ("p", "pp", 1.0))
        return {(name, axis): self.energy[of, axis][0] * factor for name, of, factor in factors for axis in AXES}

    def falls(self, quantity: str, axis: str) -> Array:
        """The ratio of a spectrum's maximum to its end at the heights of `premultiplied`."""
        energy = self.premultiplied(quantity, axis)[2] / self.double_modes(axis)
        largest, last = energy.max(axis=1), energy[:, -1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(last > 0, largest / last, inf)

    def fall(self, quantity: str, axis: str) -> tuple[float, float]:
        """The smallest of `falls`, and z+ of its height."""
        ratio = self.falls(quantity, axis)
        worst = int(np.argmin(ratio))
        return float(ratio[worst]), float(self.premultiplied(quantity, axis)[0][worst])


def _without_mean(means: Means) -> Means:
    """Planes of the fluctuations: mode (0, 0) of u, v and p is what the other modes lack of the variance."""
    planes = dict(means.planes)
    for quantity in layout.CENTRE_SPECTRA:
        name = layout.PLANE_SPECTRUM.format(quantity)
        if name in planes:
            at = np.abs(means.z - means.planes_z[name][:, None]).argmin(axis=1)
            values = planes[name] = planes[name].copy()
            values[:, 0, 0] = 0
            variance = means.centre[quantity][at] - means.centre[quantity[0]][at] ** 2
            values[:, 0, 0] = variance - values.sum(axis=(1, 2))
    return replace(means, planes=planes)


def wall_spectra(means: Means, parameters: FlowParameters, side: str | None = None) -> WallSpectra:
    """Spectra of the fluctuations in wall units. `side`: both (symmetric halves averaged), bottom or top.

    Mode 0 is what the other modes lack of the variance of the statistics. With equal samples this is the stored value
    less the square of the mean. With others, the squares of two means would leave an error that exceeds the energy of
    the mode. The mean of w is 0, so ww and uw are of the fluctuations as they are.
    """
    view = wall_view(_without_mean(means), parameters, side)
    centre, face, energy = view.means.centre, view.means.face, {}
    for axis in AXES:
        for quantity in layout.CENTRE_SPECTRA:
            values = centre[layout.SPECTRUM.format(quantity, axis)].copy()
            values[:, 0] = centre[quantity] - centre[quantity[0]] ** 2 - values[:, 1:].sum(axis=1)
            energy[quantity, axis] = values / _unit(quantity, view)
        energy["ww", axis] = face[layout.SPECTRUM.format("ww", axis)] / _unit("ww", view)
        energy["minus_uw", axis] = -face[layout.SPECTRUM.format("uw", axis)] / _unit("uw", view)
    found = WallSpectra(view, energy)
    for quantity in ("uu", "vv", "ww", "minus_uw", "pp"):
        if layout.PLANE_SPECTRUM.format(quantity.removeprefix("minus_")) in view.means.planes:
            found.planes[quantity] = _plane_spectra(view, quantity, found)
    return found


def _unit(quantity: str, view: WallView) -> float:
    return view.u_tau ** (4 if quantity == "pp" else 2)


def _plane_spectra(view: WallView, quantity: str, found: WallSpectra) -> PlaneSpectra:
    name = layout.PLANE_SPECTRUM.format(quantity.removeprefix("minus_"))
    z = view.means.planes_z[name]
    near = view.near(z)
    sign = -1 if quantity == "minus_uw" else 1
    wavelength = {axis: found.wavelength_plus(axis)[found.double_modes(axis) - 1] for axis in AXES}
    zero = np.isclose(z[near], found.height) & (quantity == "minus_uw" and view.symmetry is Symmetry.MIRROR)
    return PlaneSpectra(
        z[near] * found.re_tau, wavelength, sign * view.means.planes[name][near] / _unit(quantity, view), zero
    )


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
class SpectraAtHeights(EvaluatedValues):
    """Spectra over the whole height, and variables at chosen heights z+."""

    found: WallSpectra
    heights: tuple[float, ...]  # z+; inf is the centre
    names: tuple[str, ...]  # of the heights

    @property
    def z_plus(self) -> Array:
        """The heights in wall units."""
        return np.minimum(self.heights, self.found.reach_plus)

    def distances(self, axis: str) -> Array:
        """Distances over h at which correlations are known."""
        cells = self.found.cells[axis]
        return np.arange(cells // 2 + 1) * self.found.length[axis] / cells

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Spectra, correlations and integral lengths, as seen from a wall and in wall units.

        - `uu_kx` (z, kx), `ww_kx` (z_face, kx), ...: energy of each mode; the plain sum over kx is the variance. For
          the density over k+ divide by the spacing of k+; k E(k) is the energy times the number of the mode.
        - `uu_kxky` (z_kxky, ky, kx), ...: the same in both directions, at the heights of the case.
        - `uu_kx_at` (height, kx), `R_uu_x` (height, r_x), `L_uu_x` (height): spectrum, two-point correlation
          coefficient and integral length at the chosen heights, with intervals.
        - `tau_x_wall_kx`, `tau_y_wall_kx`, `p_wall_kx` (kx): wall shear stress and wall pressure, with intervals.
        """
        found, variables, coordinates = self.found, Variables(), Variables()
        for quantity, plane in found.planes.items():
            name, dim, unit = ABOUT[quantity]
            about = f"energy of {name} in each pair of modes"
            variables[f"{quantity}_kxky"] = variable((f"{dim}_kxky", "ky", "kx"), plane.energy, about, unit)
            coordinates |= described.heights(f"{dim}_kxky", plane.z_plus / found.re_tau, found)
        for (quantity, axis), energy in found.energy.items():
            name, dim, unit = ABOUT[quantity]
            about, near = f"energy of {name} in each mode along {axis}", found.view.near(found.z[quantity])
            variables[f"{quantity}_k{axis}"] = variable((dim, f"k{axis}"), energy[near], about, unit)
            coordinates |= described.heights(dim, found.z[quantity][near], found)
        variables |= self.described
        coordinates["height"] = variable("height", np.array(self.names), "chosen height: z+, centre or surface")
        coordinates["height_plus"] = variable("height", self.z_plus, "chosen height", "nu/u_tau")
        for axis in AXES:
            dim, wavelength = f"k{axis}", np.append(np.inf, found.wavelength_plus(axis))
            k = 2 * np.pi * np.arange(wavelength.size) / found.length[axis]
            coordinates[dim] = variable(dim, k, f"wavenumber along {axis}", "1/h")
            coordinates[f"lambda_{axis}_plus"] = variable(dim, wavelength, f"wavelength along {axis}", "nu/u_tau")
            if f"R_uu_{axis}" in variables:
                dim = f"r_{axis}"
                coordinates[dim] = variable(dim, self.distances(axis), f"separation along {axis}", "h")
        attributes = {"u_tau": found.u_tau, "re_tau": found.re_tau, "wall": found.wall}
        return dataset(variables, coordinates, PLANES_AND_TIME, **attributes)


@dataclass(frozen=True)
class EvaluatedSpectra(SpectraAtHeights):
    """Spectra of the flow, with further numbers than those of the dataset.

    These are `variance_uu_x`, `variance_wall_tau_x_x`, `variance_plane_uu`, and `peak_uu` of the spectra in both
    directions; `fall_x`, and `half_box_x` (component, height), the correlation coefficients of the velocity at half the
    box at the heights `usual`, whichever are chosen.
    """

    blocks: Blocks
    usual: tuple[str, ...]  # names of those of DEFAULT_HEIGHTS that exist

    def fall(self, axis: str) -> tuple[float, float, float]:
        """The smallest ratio of the maximum of E_uu to its end, the half width of its interval, and z+ of it."""
        ratio, z_plus = self.found.fall("uu", axis)
        return ratio, float(self.width(f"fall_{axis}")), z_plus


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


def names_of_heights(heights: Sequence[float], parameters: FlowParameters) -> tuple[str, ...]:
    """In tables and figures: z+, or centre, surface, top."""
    return tuple(parameters.far_end if height == inf else f"{height:.4g}" for height in heights)


def at_heights(found: WallSpectra, heights: Sequence[float]) -> Variables:
    """Spectra, and of the flow correlations and integral lengths, at the heights z+; inf is the centre."""
    z_plus, values = np.minimum(heights, found.reach_plus), Variables()
    for quantity, axis in found.energy:
        name, _, unit = ABOUT[quantity]
        energy, of = found.at(quantity, axis, z_plus), f"of {name} along {axis}"
        about = f"energy of {name} in each mode along {axis} at a height"
        values[f"{quantity}_k{axis}_at"] = variable(("height", f"k{axis}"), energy, about, unit)
        values[f"variance_{quantity}_{axis}"] = xr.Variable("height", energy.sum(axis=1))
        if quantity in CORRELATED:
            covariance, spacing = correlation(energy, found.cells[axis]), found.length[axis] / found.cells[axis]
            with np.errstate(invalid="ignore"):  # w is 0 on a free-slip surface
                coefficient = covariance / covariance[:, :1]
            about = f"two-point correlation coefficient {of}"
            values[f"R_{quantity}_{axis}"] = variable(("height", f"r_{axis}"), coefficient, about)
            length = [integral_length(row, spacing) for row in coefficient]
            values[f"L_{quantity}_{axis}"] = variable("height", length, f"integral length {of}", "h")
    return values


def _beside_heights(found: WallSpectra, usual: Sequence[float], whole: WallSpectra) -> Variables:
    """What does not depend on the chosen heights; where `whole`, the mean of all blocks, has its peaks and least falls.

    Correlations at half the box are sums over the modes, without those at other distances.
    """
    values, z_plus = Variables(), np.minimum(usual, found.reach_plus)
    for (quantity, axis), energy in found.on_wall().items():
        about = f"energy of the {ON_WALL[quantity]} in each mode along {axis}"
        values[f"{quantity}_wall_k{axis}"] = variable(f"k{axis}", energy, about, ABOUT["pp"][2])
        values[f"variance_wall_{quantity}_{axis}"] = xr.Variable((), energy.sum())
    for quantity, plane in found.planes.items():
        values[f"variance_plane_{quantity}"] = xr.Variable("plane", plane.energy.sum(axis=(1, 2)))
        values[f"peak_{quantity}"] = xr.Variable("plane", plane.premultiplied()[whole.planes[quantity].peaks()])
    for axis, cells in found.cells.items():
        cosines = np.cos(2 * np.pi * np.arange(cells // 2 + 1) * (cells // 2) / cells)
        energies = np.array([found.at(quantity, axis, z_plus) for quantity in VELOCITIES])
        with np.errstate(invalid="ignore"):
            coefficient = energies @ cosines / energies.sum(axis=2)
        values[f"half_box_{axis}"] = xr.Variable(("component", "usual"), coefficient)
        values[f"fall_{axis}"] = xr.Variable((), found.falls("uu", axis)[np.argmin(whole.falls("uu", axis))])
    return values


def evaluate_spectra(
    blocks: Blocks, parameters: FlowParameters, heights: Sequence[float] | None = None, side: str | None = None
) -> EvaluatedSpectra:
    """Spectra with intervals at the heights z+; default: those of DEFAULT_HEIGHTS that exist."""
    whole = wall_spectra(blocks.means(), parameters, side)
    usual = usual_heights(parameters, whole.reach_plus)
    chosen = tuple(usual if heights is None else heights)
    require_heights(chosen, parameters, whole.reach_plus)

    def variables_of(means: Means) -> Variables:
        found = wall_spectra(means, parameters, side)
        return at_heights(found, chosen) | _beside_heights(found, usual, whole)

    names, names_of_usual = (names_of_heights(some, parameters) for some in (chosen, usual))
    return EvaluatedSpectra(intervals(variables_of, blocks), whole, chosen, names, blocks, names_of_usual)
