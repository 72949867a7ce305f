"""Symmetries of the flows, and how the raw moments change under them.

A name counts how often each of the three directions occurs in a quantity: `uuw` is (2, 0, 1), tau_xz is
(1, 0, 1), and vorticity, being a curl, has the indices of the other two directions: omega_x is (0, 1, 1).
Turning a direction round changes the sign of the quantity as often as the direction occurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from math import comb

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.parameters import Buoyancy, FlowParameters
from sluice_post.statistics import Means


class Symmetry(Enum):
    """What maps the lower half of a flow onto the upper one."""

    MIRROR = "mirror image about the centre plane"  # channel: z -> Lz - z, w -> -w
    ROTATION = "half turn about the spanwise centre line"  # Couette: also x -> -x, u -> -u
    NONE = "none"


_CURL = {"x": "yz", "y": "xz", "z": "xy"}
# Directions in the profiles that budgets need, as far as they occur an odd number of times.
_OF_BUDGETS = dict.fromkeys(layout.BUDGET_CENTRE_PROFILES + layout.BUDGET_FACE_PROFILES, "") | {
    **{"www_flux": "z", "pw": "z", "uuw_flux": "z", "vvw_flux": "z"},
    **{"uw_jump": "x", "vw_jump": "y"},  # a difference along z, times w
    **dict.fromkeys(("uw_advection", "uw_pressure", "uw_viscous_xy", "uw_viscous_z"), "xz"),
    **dict.fromkeys(("p_strain_xz", "uw_dissipation_z"), "xz"),
}


def direction_counts(name: str) -> tuple[int, int, int]:
    """How often x, y and z occur in a quantity: uuu -> (3, 0, 0), omega_x -> (0, 1, 1), uw_kx -> (1, 0, 1)."""
    if name in _OF_BUDGETS:
        letters = _OF_BUDGETS[name]
    elif name.startswith("omega_"):
        letters = "".join(_CURL[letter] for letter in name.removeprefix("omega_"))
    elif name.startswith("tau_"):
        letters = name.removeprefix("tau_")
    else:
        letters = name.split("_")[0].translate(str.maketrans("uvw", "xyz"))
    return letters.count("x"), letters.count("y"), letters.count("z")


def reflected(rotation: tuple[float, float, float], reversed_directions: str) -> tuple[float, float, float]:
    """The rotation of the flow in which these directions are reversed: it is an axial vector."""
    x, y, z = (
        value * (-1) ** (len(reversed_directions) + (direction in reversed_directions))
        for direction, value in zip("xyz", rotation, strict=True)
    )
    return x, y, z


def sign_of(name: str, reversed_directions: str) -> int:
    """-1 if a quantity changes its sign when these directions are turned round, else 1."""
    counts = dict(zip("xyz", direction_counts(name), strict=True))
    return -1 if sum(counts[direction] for direction in reversed_directions) % 2 else 1


def image_of(means: Means, directions: str) -> Means:
    """The flow with these directions reversed; z, too: as it is seen from the other wall, z -> Lz - z."""
    order = slice(None, None, -1 if "z" in directions else 1)

    def turned(profiles: dict[str, Array]) -> dict[str, Array]:
        return {name: sign_of(name, directions) * values[order] for name, values in profiles.items()}

    def heights(z: Array) -> Array:
        return (means.z_face[-1] - z)[order] if "z" in directions else z

    return Means(
        heights(means.z),
        heights(means.z_face),
        turned(means.centre),
        turned(means.face),
        -means.forcing if "x" in directions else means.forcing,
        means.samples,
        turned(means.planes),
        {name: heights(z) for name, z in means.planes_z.items()},
    )


def _joined_planes(a: Means, b: Means) -> tuple[dict[str, Array], dict[str, Array]]:
    """The planes of both in order of height; the mean of those at one height."""
    planes, planes_z = {}, {}
    for name, values in a.planes.items():
        z = np.concatenate([a.planes_z[name], b.planes_z[name]])
        together = np.concatenate([values, b.planes[name]])
        order = np.argsort(z, kind="stable")
        apart = np.diff(z[order], prepend=-np.inf) > 1e-9 * a.z_face[-1]
        groups = np.split(order, np.flatnonzero(apart)[1:])
        planes[name] = np.array([together[group].mean(axis=0) for group in groups])
        planes_z[name] = np.array([z[group[0]] for group in groups])
    return planes, planes_z


def averaged(a: Means, b: Means) -> Means:
    """Mean of two sets on the same grid, each with the same weight."""
    return Means(
        a.z,
        a.z_face,
        {name: (values + b.centre[name]) / 2 for name, values in a.centre.items()},
        {name: (values + b.face[name]) / 2 for name, values in a.face.items()},
        (a.forcing + b.forcing) / 2,
        a.samples + b.samples,
        *_joined_planes(a, b),
    )


def shifted_moments(raw: Sequence[Array], shift: float) -> list[Array]:
    """Raw moments of q - shift, of order 1 on, from those of q, by the binomial theorem."""
    raw = [np.ones_like(raw[0]), *raw]
    return [
        np.asarray(np.sum([comb(n, m) * (-shift) ** (n - m) * raw[m] for m in range(n + 1)], axis=0))
        for n in range(1, len(raw))
    ]


def in_moving_frame(means: Means, u_frame: float, v_frame: float) -> Means:
    """The raw moments in a frame that moves with (u_frame, v_frame).

    The fluxes uw and vw at faces do not change: the mean of w at a face is zero by continuity.
    """
    if u_frame == 0 and v_frame == 0:
        return means
    centre = dict(means.centre)
    if "uv" in centre:
        u, v = centre["u"], centre["v"]
        centre["uv"] = centre["uv"] - u_frame * v - v_frame * u + u_frame * v_frame
    for letter, velocity in (("u", u_frame), ("v", v_frame)):
        names = [letter * n for n in range(1, 5) if letter * n in centre]
        centre |= zip(names, shifted_moments([means.centre[name] for name in names], velocity), strict=True)
    face = means.face
    if "uuw_flux" in face:
        face = face | {
            "uuw_flux": face["uuw_flux"] - 2 * u_frame * face["uw"],
            "vvw_flux": face["vvw_flux"] - 2 * v_frame * face["vw"],
            # u times the other terms of the momentum equation of w, whose mean is that of w w and p
            "uw_advection": face["uw_advection"] + u_frame * _inner_gradient(means, "ww_flux"),
            "uw_pressure": face["uw_pressure"] + u_frame * _inner_gradient(means, "p"),
        }
    return replace(means, centre=centre, face=face)


def _inner_gradient(means: Means, name: str) -> Array:
    """Derivative along z of a profile at centres, on the faces; 0 on the walls, where it is not known."""
    return np.pad(np.diff(means.centre[name]) / np.diff(means.z), 1)


def _is_own_mirror_image(buoyancy: Buoyancy | None) -> bool:
    """Across the walls gravity turns round, so the scalar must too; along them neither may."""
    if buoyancy is None:
        return True
    x, y, z = (component != 0 for component in buoyancy.gravity)
    parity = buoyancy.scalar.mirror_parity
    return not (z and parity != -1) and not ((x or y) and parity != 1)


def symmetry_of(parameters: FlowParameters, means: Means) -> Symmetry:
    """The symmetry of the mean flow, from walls, forcing, rotation, magnetic field, gravity and grid."""
    if not (parameters.no_slip_bottom and parameters.no_slip_top):
        return Symmetry.NONE
    height = means.z_face[-1]
    if not np.allclose(means.z_face, (height - means.z_face)[::-1], rtol=0, atol=1e-6 * height):
        return Symmetry.NONE
    if parameters.control_bottom != parameters.control_top or parameters.velocity_bottom[2] != 0:
        return Symmetry.NONE
    speeds = [abs(speed) for speed in (*parameters.velocity_bottom, *parameters.velocity_top)]
    moving = any(
        abs(top - bottom) > 1e-12 * max(speeds)
        for bottom, top in zip(parameters.velocity_bottom, parameters.velocity_top, strict=True)
    )
    # The rotation of the frame and gravity must look the same in the image.
    along_x, along_y, along_z = (component != 0 for component in parameters.rotation)
    if not moving:
        same = not (along_x or along_y) and _is_own_mirror_image(parameters.buoyancy)
        return Symmetry.MIRROR if same else Symmetry.NONE
    if parameters.buoyancy is not None:
        return Symmetry.NONE
    if parameters.magnetic_drag != 0 and parameters.velocity_bottom[0] + parameters.velocity_top[0] != 0:
        return Symmetry.NONE  # the fluid in the middle is not at rest in the field, which brakes it
    wall_stress = np.mean(np.abs(means.face["tau_xz"][[0, -1]]))
    forced = np.isfinite(means.forcing) and abs(means.forcing) * parameters.reach > 1e-6 * wall_stress
    spanwise = parameters.velocity_top[1] != parameters.velocity_bottom[1]
    plain = parameters.flow_type == "couette" and not forced and not spanwise and not (along_x or along_z)
    return Symmetry.ROTATION if plain else Symmetry.NONE
