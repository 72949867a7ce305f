"""The shear stresses, and the balance that their total must follow in a statistically steady flow."""

from __future__ import annotations

import numpy as np

from sluice_post.arrays import Array
from sluice_post.symmetry import Symmetry
from sluice_post.wall_view import WallView


def stress_profiles(seen: WallView) -> dict[str, Array]:
    """Stresses at faces over the wall stress, and the balance that a statistically steady flow must follow.

    d(total)/dz = -forcing, so it is the line that joins the stresses of the two walls: 1 - z/h in a channel, where the
    mean of the two wall stresses is the unit, 1 in Couette flow, 1 - z/h to a free surface. In a frame that rotates
    about z, the Coriolis force of the mean velocity bends it and adds a component along y. In an Ekman layer the mean
    pressure gradient is known: it balances the Coriolis force of the geostrophic velocity. The drag of a magnetic field
    bends it, too. It is that of the velocity of this view: a moving frame of reference only adds a constant force.
    """
    means, rate, drag, profiles = seen.means, seen.rotation[2], seen.parameters.magnetic_drag, {}
    u, v, dz = means.centre["u"], means.centre["v"], np.diff(means.z_face)
    geostrophic = seen.geostrophic or (0.0, 0.0)
    forces = {"uw": rate * (v - geostrophic[1]) - drag * u, "vw": -rate * (u - geostrophic[0]) - drag * v}
    for flux, tau, slope, ending in (("uw", "tau_xz", "dUdz", ""), ("vw", "tau_yz", "dVdz", "_y")):
        if flux not in means.face:
            continue
        profiles[f"minus_{flux}"] = -means.face[flux] / seen.wall_stress
        if flux == "vw" and not seen.turns:
            continue
        viscous, steps = means.face[tau] / seen.wall_stress, forces[flux] / seen.wall_stress * dz
        near = float(viscous[0])
        if seen.symmetry is Symmetry.NONE:
            far = float(viscous[-1]) if all(seen.no_slip) else 0.0
        else:
            far = -near if seen.symmetry is Symmetry.MIRROR else near
        if seen.geostrophic is None:  # a constant force follows from the stresses at both ends
            steps = steps + (near - far - np.sum(steps)) * dz / means.z_face[-1]
        else:
            near = far + float(np.sum(steps))
        total, balance = viscous + profiles[f"minus_{flux}"], near - np.concatenate([[0.0], np.cumsum(steps)])
        profiles |= {slope: viscous, f"total{ending}": total, f"balance{ending}": balance}
        profiles[f"residual{ending}"] = total - balance
    return profiles
