"""What the budgets of u, v and scalars have in common: quantities at the centres that w carries through the z faces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice_post.arrays import Array


def between_walls(values: Array) -> Array:
    """Values on the inner faces, with the 0 of both walls."""
    return np.pad(values, 1)


def center_distances(z_face: Array) -> Array:
    """Distances of the centres on both sides of each face; a wall is midway between a centre and its image."""
    dz = np.pad(np.diff(z_face), 1, mode="edge")
    return (dz[1:] + dz[:-1]) / 2


@dataclass(frozen=True)
class Transported:
    """Averages of q = u, v or a scalar, which is at the centres in z, carried by w and with a given diffusivity."""

    mean: Array
    square: Array
    flux: Array  # on the faces, of the mean of q below and above, and `jump` of half the difference
    jump: Array
    squared_flux: Array  # of q below times q above
    along_xy: Array  # squares of the derivatives along x and y
    along_z: Array  # square of the derivative along z, on the faces
    gradient: Array  # of the mean, likewise
    diffusivity: float

    @property
    def flux_of_below(self) -> Array:
        """Of q below a face."""
        return self.flux - self.jump

    @property
    def flux_of_above(self) -> Array:
        """Of q above a face."""
        return self.flux + self.jump

    def carried(self, other: Array, z_face: Array) -> Array:
        """The flux of q times the difference of another mean over the two faces of a cell: -<q'w'> dA/dz."""
        step = between_walls(np.diff(other))  # w is 0 on the walls
        flux = step[1:] * self.flux_of_below[1:] + step[:-1] * self.flux_of_above[:-1]
        return np.asarray(-flux / (2 * np.diff(z_face)))


def mean_of_faces(values: Array, z_face: Array) -> Array:
    """Values on the faces, averaged over the two of a cell with the distances of the centres."""
    weighted = values * center_distances(z_face)
    return np.asarray((weighted[1:] + weighted[:-1]) / (2 * np.diff(z_face)))


def variance_terms(q: Transported, z_face: Array) -> dict[str, Array]:
    """Terms at the centres, with `diffusion`. Derivatives along z are sums over the two faces of a cell."""
    dz, inner = np.diff(z_face), slice(1, -1)
    triple = between_walls(  # <q' q' w'> with one q' below and one above the face
        q.squared_flux[inner] - q.mean[:-1] * q.flux_of_above[inner] - q.mean[1:] * q.flux_of_below[inner]
    )
    variance = q.square - q.mean**2
    diffusive_flux = q.diffusivity * between_walls(np.diff(variance) / center_distances(z_face)[inner])
    dissipation = 2 * q.diffusivity * (q.along_xy + mean_of_faces(q.along_z - q.gradient**2, z_face))
    return {
        "production": 2 * q.carried(q.mean, z_face),
        "turbulent_transport": -np.diff(triple) / dz,
        "diffusion": np.diff(diffusive_flux) / dz,
        "dissipation": -dissipation,
    }
