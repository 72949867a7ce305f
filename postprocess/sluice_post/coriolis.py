"""What the Coriolis force of a rotating frame does to Reynolds stresses, from the stresses themselves.

The force is -f x u with f = 2 Omega. Each stress changes at the rate <u_i' F_j'> + <u_j' F_i'>. The scheme's own fluxes
give uu, vv and ww exactly (docs/equations.md, Budgets), uw to second order in dz.
"""

from __future__ import annotations

import numpy as np

from sluice_post.arrays import Array
from sluice_post.statistics import Means

Vector = tuple[float, float, float]


def reflected(rotation: Vector, reversed_directions: str) -> Vector:
    """The rotation of the flow in which these directions are reversed: it is an axial vector."""
    determinant = -1.0 if len(reversed_directions) % 2 else 1.0
    x, y, z = (
        determinant * (-value if direction in reversed_directions else value)
        for direction, value in zip("xyz", rotation, strict=True)
    )
    return x, y, z


def _flux_means(means: Means, c: str, dz: Array) -> tuple[Array, Array]:
    """<c'w'> as the force on c sees it, at the centres, and as the force on w does, on the faces."""
    flux, jump = means.face[f"{c}w"], means.face[f"{c}w_jump"]
    of_below, of_above = flux - jump, flux + jump  # c of the cell below and above a face
    size = np.pad(dz, 1, mode="edge")
    at_faces = (size[:-1] * of_below + size[1:] * of_above) / (size[:-1] + size[1:])
    return (of_below[1:] + of_above[:-1]) / 2, at_faces


def coriolis_terms(means: Means, rotation: Vector) -> dict[str, Array]:
    """Rates of change of uu and vv at the centres, of ww on the faces and of uw on the inner ones. `rotation`: f."""
    x, y, z = rotation
    dz = np.diff(means.z_face)
    uw_centre, uw_face = _flux_means(means, "u", dz)
    vw_centre, vw_face = _flux_means(means, "v", dz)
    centre = means.centre
    uu, uv = centre["uu"] - centre["u"] ** 2, centre["uv"] - centre["u"] * centre["v"]

    def on_faces(values: Array) -> Array:
        return np.asarray((values[1:] + values[:-1]) / 2)

    return {
        "uu": 2 * (z * uv - y * uw_centre),
        "vv": 2 * (x * vw_centre - z * uv),
        "ww": 2 * (y * uw_face - x * vw_face),
        "uw": y * (on_faces(uu) - means.face["ww_face"][1:-1]) + z * vw_face[1:-1] - x * on_faces(uv),
    }
