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
        if name in planes:
            at = np.abs(means.z - means.planes_z[name][:, None]).argmin(axis=1)
            values = planes[name] = planes[name].copy()
            values[:, 0, 0] = 0
            variance = means.centre[quantity][at] - means.centre[quantity[0]][at] ** 2
            values[:, 0, 0] = variance - values.sum(axis=(1, 2))
    return replace(means, planes=planes)


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
