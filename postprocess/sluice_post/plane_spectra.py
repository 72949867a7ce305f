"""Spectra in both directions, over (ky, kx), at the heights that output.spectra.heights chooses.

They are one-sided in both directions: the plain sum over all modes is the variance, and mode (n, m) times n m is the
premultiplied density kx ky E(kx, ky).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.statistics import Means


def without_mean(means: Means) -> Means:
    """Planes of the fluctuations: mode (0, 0) of u, v and p is what the other modes lack of the variance."""
    planes = dict(means.planes)
    for quantity in layout.CENTRE_SPECTRA:
        name = layout.PLANE_SPECTRUM.format(quantity)
        if name not in planes:
            continue
        at = np.abs(means.z - means.planes_z[name][:, None]).argmin(axis=1)
        variance = means.centre[quantity][at] - means.centre[quantity[0]][at] ** 2
        values = planes[name].copy()
        values[:, 0, 0] = 0
        values[:, 0, 0] = variance - values.sum(axis=(1, 2))
        planes[name] = values
    return replace(means, planes=planes)


@dataclass(frozen=True)
class PlaneSpectra:
    """Spectra of one quantity in wall units, energy (height, ky, kx), at heights from a wall up to h."""

    z_plus: Array
    wavelength_plus: dict[str, Array]  # by axis, of the modes from 1 on
    energy: Array
    zero_by_symmetry: NDArray[np.bool_]  # at which heights: the flux uw on the centre plane of a channel

    def premultiplied(self) -> Array:
        """kx ky E(kx, ky), (height, ky, kx), from mode 1 on in both directions.

        The modes at half the numbers of cells are left out: they stand for one wavenumber, the others for two.
        """
        across, along = (self.wavelength_plus[axis].size + 1 for axis in "yx")
        modes = np.outer(np.arange(1, across), np.arange(1, along))
        values: Array = self.energy[:, 1:across, 1:along] * modes
        return values

    def nearest(self, z_plus: float) -> int:
        """The height nearest to z+."""
        return int(np.abs(self.z_plus - z_plus).argmin())


@dataclass(frozen=True)
class Peak:
    """The largest premultiplied density of a quantity at one height."""

    quantity: str
    z_plus: float
    variance: float
    value: float
    half_width: float  # NaN if not known
    wavelength_plus: dict[str, float]
    zero_by_symmetry: bool


Modes = dict[str, NDArray[np.intp]]  # one for each height, counted through premultiplied()


def _rows(found: PlaneSpectra) -> Array:
    return found.premultiplied().reshape(found.z_plus.size, -1)


def peak_modes(planes: dict[str, PlaneSpectra]) -> Modes:
    """Where each quantity has its largest premultiplied density."""
    return {quantity: _rows(found).argmax(axis=1) for quantity, found in planes.items()}


def values_at(planes: dict[str, PlaneSpectra], modes: Modes) -> dict[str, Array]:
    """The premultiplied densities of these modes at each height, by `peak QUANTITY`."""
    return {
        f"peak {quantity}": _rows(found)[np.arange(found.z_plus.size), modes[quantity]]
        for quantity, found in planes.items()
    }


def peaks_of(planes: dict[str, PlaneSpectra], modes: Modes, widths: dict[str, Array]) -> list[Peak]:
    """The peaks from the wall outwards; `widths`: their half widths as values_at gives them, or none."""
    values = values_at(planes, modes)
    peaks = []
    for quantity, found in planes.items():
        across, along = np.unravel_index(modes[quantity], found.premultiplied().shape[1:])
        for n, z_plus in enumerate(found.z_plus):
            peaks.append(
                Peak(
                    quantity,
                    float(z_plus),
                    float(found.energy[n].sum()),
                    float(values[f"peak {quantity}"][n]),
                    float(widths[f"peak {quantity}"][n]) if widths else np.nan,
                    {
                        "x": float(found.wavelength_plus["x"][along[n]]),
                        "y": float(found.wavelength_plus["y"][across[n]]),
                    },
                    bool(found.zero_by_symmetry[n]),
                )
            )
    return peaks
