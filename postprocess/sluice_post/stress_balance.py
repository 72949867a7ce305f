"""The shear stresses, and the balance that their total must follow in a statistically steady flow."""

from __future__ import annotations

import numpy as np

from sluice_post.arrays import Array
from sluice_post.symmetry import Symmetry
from sluice_post.wall_view import WallView


def _far_stress(seen: WallView, viscous: Array) -> float:
    """The stress at the other end that the balance starts from."""
    if seen.symmetry is Symmetry.NONE:
        return float(viscous[-1]) if all(seen.no_slip) else 0.0
    return float(-viscous[0] if seen.symmetry is Symmetry.MIRROR else viscous[0])


def _balance(near: float, far: float, force: Array, z_face: Array, constant_force: bool) -> Array:
    """The total stress at the faces with d(total)/dz = -force, in a statistically steady flow.

    `near`, `far`: the stresses on the wall and at the other end. `constant_force`: whether a constant force, the mean
    pressure gradient, also acts. Its size follows from both stresses. Without it, the balance follows from `far` alone.
    """
    steps = force * np.diff(z_face)
    if not constant_force:
        near = far + float(np.sum(steps))
    steps = steps + (near - far - np.sum(steps)) * np.diff(z_face) / z_face[-1]
    return near - np.concatenate([[0.0], np.cumsum(steps)])


def stress_profiles(seen: WallView) -> dict[str, Array]:
    """Stresses at faces over the wall stress, and the balance that a statistically steady flow must follow.

    d(total)/dz = -forcing, so it is the line that joins the stresses of the two walls: 1 - z/h in a channel, where the
    mean of the two wall stresses is the unit, 1 in Couette flow, 1 - z/h to a free surface. In a frame that rotates
    about z, the Coriolis force of the mean velocity bends it and adds a component along y. In an Ekman layer the mean
    pressure gradient is known: it balances the Coriolis force of the geostrophic velocity. The drag of a magnetic field
    bends it, too. It is that of the velocity of this view: a moving frame of reference only adds a constant force.
    """
    means, wall_stress, rate = seen.means, seen.wall_stress, seen.rotation[2]
    u, v = means.centre["u"], means.centre["v"]
    constant_force = seen.geostrophic is None
    geostrophic = seen.geostrophic or (0.0, 0.0)
    profiles: dict[str, Array] = {}

    def add(viscous_name: str, flux: str, ending: str, force: Array) -> None:
        viscous = means.face[f"tau_{ending[-1:] or 'x'}z"] / wall_stress
        far = _far_stress(seen, viscous)
        balance = _balance(float(viscous[0]), far, force / wall_stress, means.z_face, constant_force)
        total = viscous - means.face[flux] / wall_stress
        profiles.update({viscous_name: viscous, f"minus_{flux}": -means.face[flux] / wall_stress})
        profiles.update({f"total{ending}": total, f"balance{ending}": balance})
        profiles[f"residual{ending}"] = total - balance

    add("dUdz", "uw", "", rate * (v - geostrophic[1]) - seen.magnetic_drag * u)
    if seen.turns and "vw" in means.face:
        add("dVdz", "vw", "_y", -rate * (u - geostrophic[0]) - seen.magnetic_drag * v)
    elif "vw" in means.face:
        profiles["minus_vw"] = -means.face["vw"] / wall_stress
    return profiles
