"""Profiles and numbers of scalars seen from a wall, in the units of the case and in wall units.

Signs: z points from the wall into the fluid, w likewise. The wall flux q_w is positive into the fluid, the friction
value is c_tau = q_w/u_tau with its sign, and profiles in wall units are those of Theta = (c_w - c)/c_tau, with c_w the
mean value at the wall. Theta is 0 at the wall and rises from it as U+ does, whether the wall is hot or cold.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles, central_moments, wall_profiles
from sluice_post.scalars import Scalar
from sluice_post.statistics import Means
from sluice_post.symmetry import Symmetry, shifted_moments
from sluice_post.wall_view import WallView, wall_view

# Below this part of the largest value, a variance or a gradient is round-off, and what is divided by it unknown.
ROUND_OFF = 1e-10

# Description, unit and column of the CSV file of each profile.
PROFILES: dict[str, tuple[str, str, str]] = {
    "C": ("mean of Theta", "1", "Theta_plus"),
    "c_rms": ("rms scalar", "c_tau", "c_rms_plus"),
    "cc": ("variance of the scalar", "c_tau^2", ""),
    "skew_c": ("skewness of Theta", "1", "skewness_c"),
    "flat_c": ("flatness of the scalar", "1", "flatness_c"),
    "uc": ("covariance of u and Theta", "u_tau", "uc_plus"),
    "vc": ("covariance of v and Theta", "u_tau", "vc_plus"),
    "R_uc": ("correlation coefficient of u and Theta", "1", "R_uc"),
    "R_wc": ("correlation coefficient of w and Theta", "1", "R_wc"),
    "minus_wc": ("turbulent flux", "q_w", "minus_wc_plus"),
    "conduction": ("conductive flux", "q_w", "conduction_plus"),
    "total": ("total flux", "q_w", "total_flux_plus"),
    "balance": ("total flux that the fluxes of the walls and the source ask for", "q_w", ""),
    "residual": ("total flux less that of the balance", "q_w", "total_flux_residual"),
    "kappa_t": ("turbulent diffusivity", "nu", "kappa_t_over_nu"),
    "nu_t": ("turbulent viscosity", "nu", ""),
    "Pr_t": ("turbulent Prandtl number", "1", "Pr_t"),
    "outer_C": ("mean scalar", "C", "outer_C"),
    "outer_c_rms": ("rms scalar", "C", "outer_c_rms"),
    "outer_uc": ("covariance of u and the scalar", "C U", "outer_uc"),
    "outer_vc": ("covariance of v and the scalar", "C U", "outer_vc"),
    "outer_wc": ("turbulent flux away from the wall", "C U", "outer_wc"),
    "outer_gradient_flux": ("kappa times the derivative away from the wall", "C U", "outer_gradient_flux"),
    "outer_total": ("total flux away from the wall", "C U", "outer_total"),
}


@dataclass(frozen=True)
class ScalarView:
    """Means of a scalar over the whole height as seen from a wall, in the units of the case.

    `moments`: raw moments of order 1 to 4 of c - `shift`, under c, cc, ccc, cccc. `uc`, `vc` (centres), `wc` (faces):
    covariances. `gradient_flux`: kappa dc/dz. `source` is None if it is not known.
    """

    flow: WallView
    shift: float
    moments: dict[str, Array]
    uc: Array
    vc: Array
    wc: Array
    gradient_flux: Array
    source: Array | None
    kappa: float

    @property
    def wall_flux(self) -> float:
        """q_w, the mean flux into the fluid at the wall at z = 0."""
        return -float(self.gradient_flux[0])

    @property
    def mean(self) -> Array:
        """The mean scalar at the centres."""
        return self.moments["c"] + self.shift

    @property
    def wall_values(self) -> tuple[float, float]:
        """The means at the wall at z = 0 and at the other one; exact for the scheme's own gradients there."""
        z, z_face, gradient = self.flow.means.z, self.flow.means.z_face, self.gradient_flux / self.kappa
        near = self.mean[0] - gradient[0] * (z[0] - z_face[0])
        return float(near), float(self.mean[-1] + gradient[-1] * (z_face[-1] - z[-1]))


def parity_of(scalar: Scalar, symmetry: Symmetry, parameters: FlowParameters) -> int:
    """1 if the mean scalar has the same values at mirror images, -1 if opposite ones about its middle, else 0.

    `symmetry`: that of the flow.
    """
    if symmetry is Symmetry.NONE:
        return 0
    if scalar.source == "streamwise" and symmetry is Symmetry.ROTATION:
        odd = scalar.parity_of_walls == -1 and parameters.velocity_bottom[0] == -parameters.velocity_top[0]
        return -1 if odd else 0
    return scalar.mirror_parity


def sides_of(scalar: Scalar, means: Means, parameters: FlowParameters, side: str | None = None) -> list[str]:
    """The views that show the scalar: both halves averaged where walls and source allow it, else each no-slip wall."""
    if side in ("bottom", "top"):
        return [side]
    walls = {"bottom": parameters.no_slip_bottom, "top": parameters.no_slip_top}
    known = parity_of(scalar, wall_view(means, parameters).symmetry, parameters)
    return ["both"] if known else [name for name, no_slip in walls.items() if no_slip]


def over_images(view: WallView, values: Array, directions: str = "", parity: int = 1) -> Array:
    """The mean of an array, heights along the first axis, over the images of the flow that a view averages.

    `directions`: those that reverse its sign when they are reversed; `parity`: its sign in all images but the first.
    """
    images = [
        (parity if n else 1) * (-1) ** sum(x in image for x in directions) * values[:: -1 if "z" in image else 1]
        for n, image in enumerate(view.images)
    ]
    return np.asarray(np.mean(images, axis=0))


def source_of(scalar: Scalar, means: Means) -> Array | None:
    """The mean source at the centres; not known if it changes in time or depends on the scalar."""
    if scalar.source == "streamwise":
        return scalar.source_amount * means.centre["u"]
    return scalar.source_amount * np.ones_like(means.z) if scalar.source in ("none", "uniform") else None


def scalar_view(means: Means, parameters: FlowParameters, scalar: Scalar, side: str) -> ScalarView:
    """The scalar as seen from a wall. `side`: both only if sides_of gives it."""
    flow = wall_view(means, parameters, side)
    parity = parity_of(scalar, flow.symmetry, parameters)

    def stored(ending: str) -> Array:
        return means.scalars[f"{scalar.name}{ending}"]

    raw = [stored(ending) for ending in ("", "_squared", "_cubed", "_fourth")]
    shift = float(raw[0] @ np.diff(means.z_face) / means.z_face[-1])
    steady = not (scalar.bottom.formula or scalar.top.formula)
    if steady and scalar.bottom.kind == scalar.top.kind == "value":
        shift = (scalar.bottom.amount + scalar.top.amount) / 2
    shifted = enumerate(shifted_moments(raw, shift), start=1)
    moments = {"c" * n: over_images(flow, values, "", parity**n) for n, values in shifted}

    def covariance(c: str, frame: float, direction: str) -> Array:
        """Of u or v with c - shift, in the frame of the view."""
        product = stored(f"_{c}") - frame * raw[0] - shift * (means.centre[c] - frame)
        return over_images(flow, product, direction, parity) - flow.means.centre[c] * moments["c"]

    source = source_of(scalar, means)
    return ScalarView(
        flow,
        shift,
        moments,
        covariance("u", flow.frame[0], "x"),
        covariance("v", flow.frame[1], ""),
        over_images(flow, stored("_w"), "z", parity),
        over_images(flow, stored("_gradient_flux"), "z", parity),
        None if source is None else over_images(flow, source, "", parity),
        parameters.viscosity / scalar.prandtl,
    )


def balance_of(view: ScalarView) -> Array:
    """The total flux on the faces of a steady mean: from one wall flux to the other as the source adds up."""
    dz = np.diff(view.flow.means.z_face)
    source = np.ones_like(dz) if view.source is None or not np.any(view.source) else view.source
    grown = np.concatenate([[0.0], np.cumsum(source * dz)])
    fraction = grown / grown[-1] if abs(grown[-1]) > ROUND_OFF * np.abs(source).max() else np.linspace(0, 1, grown.size)
    far_flux = float(view.gradient_flux[-1])
    return np.asarray(view.wall_flux - (far_flux + view.wall_flux) * fraction)


@dataclass(frozen=True)
class ScalarProfiles:
    """Profiles of a scalar from the wall to h, at the centres and on the faces, by the names of PROFILES.

    `outer_...` are those of c itself in the units of the case, the others in wall units. `numbers`: by the keys of
    scalar_numbers.LABELS, in the units of the case; those that are not defined are left out.
    """

    scalar: Scalar
    wall: WallProfiles
    c_tau: float
    wall_value: float
    wall_flux: float
    centre: dict[str, Array]
    face: dict[str, Array]
    numbers: dict[str, float]

    @property
    def side(self) -> str:
        """both, bottom or top."""
        return self.wall.view.side

    @property
    def constant(self) -> bool:
        """Whether the scalar does not fluctuate, as in a laminar flow."""
        return bool(np.max(self.centre["c_rms"]) < 1e-4)


def _ratio(numerator: Array, denominator: Array, defined: NDArray[np.bool_] | None = None) -> Array:
    """NaN where it is not defined: by default, where the denominator is round-off."""
    if defined is None:
        size = np.where(np.isfinite(denominator), np.abs(denominator), 0.0)
        defined = size > ROUND_OFF * size.max()
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), np.nan)


def scalar_profiles(means: Means, parameters: FlowParameters, scalar: Scalar, side: str) -> ScalarProfiles:
    """Profiles of a scalar; `side` is one of sides_of. An error if no flux passes the wall."""
    view, wall = scalar_view(means, parameters, scalar, side), wall_profiles(means, parameters, side)
    flow, nu, u_tau, q = view.flow.means, parameters.viscosity, wall.u_tau, view.wall_flux
    moments, largest_square = central_moments(view.moments, "c"), float(np.max(view.moments["cc"]))
    if not abs(q) > ROUND_OFF * u_tau * np.sqrt(largest_square):
        raise InputOutputError(
            f"no mean flux of {scalar.name} passes the {'top' if side == 'top' else 'bottom'} wall: "
            "wall units of the scalar are not defined"
        )
    variance, c_tau, conduction = moments[2], q / u_tau, -view.gradient_flux
    fluctuates, rms = variance > ROUND_OFF * largest_square, np.sqrt(variance)
    total, balance = view.wc + conduction, balance_of(view)
    uu, ww = (central_moments(flow.centre, letter)[2] for letter in "uw")
    nu_t = _ratio(-flow.face["uw"] * nu, flow.face["tau_xz"])
    kappa_t = _ratio(view.wc * view.kappa, conduction)
    sign = -np.sign(c_tau)  # of Theta against c
    centre = {
        "C": (view.wall_values[0] - view.mean) / c_tau,
        "c_rms": rms / abs(c_tau),
        "cc": variance / c_tau**2,
        "skew_c": sign * _ratio(moments[3], variance**1.5, fluctuates),
        "flat_c": _ratio(moments[4], variance**2, fluctuates),
        "uc": -view.uc / (c_tau * u_tau),
        "vc": -view.vc / (c_tau * u_tau),
        "R_uc": sign * _ratio(view.uc, np.sqrt(uu * variance)),
        "R_wc": sign * _ratio((view.wc[1:] + view.wc[:-1]) / 2, np.sqrt(ww * variance)),
        **{"outer_C": view.mean, "outer_c_rms": rms, "outer_uc": view.uc, "outer_vc": view.vc},
    }
    face = {
        **{"minus_wc": view.wc / q, "conduction": conduction / q, "total": total / q, "balance": balance / q},
        "residual": (total - balance) / q,
        **{"kappa_t": kappa_t / nu, "nu_t": nu_t / nu},
        "Pr_t": _ratio(nu_t, kappa_t, np.abs(view.wc) > ROUND_OFF * abs(q)),
        **{"outer_wc": view.wc, "outer_gradient_flux": view.gradient_flux, "outer_total": total},
    }
    found = {name: values[: wall.z.size] for name, values in centre.items()}
    on_faces = {name: values[: wall.z_face.size] for name, values in face.items()}
    numbers = _numbers(view, means, parameters, scalar) | {"residual": float(np.max(np.abs(on_faces["residual"])))}
    return ScalarProfiles(scalar, wall, c_tau, view.wall_values[0], q, found, on_faces, numbers)


def _numbers(view: ScalarView, means: Means, parameters: FlowParameters, scalar: Scalar) -> dict[str, float]:
    """The numbers of a scalar at a wall but the residual; of `bulk`, the mixed mean, U is relative to the wall."""
    dz, u, q = np.diff(means.z_face), view.flow.velocity_along(parameters.wall_direction), view.wall_flux
    height, carried = float(means.z_face[-1]), float(u @ dz)
    bulk = float((u * view.mean) @ dz / carried) if abs(carried) > 1e-9 * float(np.abs(u) @ dz) else nan
    near, far = view.wall_values
    if scalar.is_between_walls:
        nusselt = q * height / (view.kappa * (near - far))
    else:
        nusselt = q * 4 * parameters.reach / (view.kappa * (near - bulk))
    u_b = abs(carried) / height
    values = {
        **{"c_tau": q / view.flow.u_tau, "wall_flux": q, "bulk": bulk, "nu": nusselt},
        "st": q / (u_b * (near - bulk)) if u_b > 0 else nan,
    }
    if (source := source_of(scalar, means)) is not None:
        flux = means.scalars[f"{scalar.name}_gradient_flux"]  # of both walls, not averaged
        values["imbalance"] = float((flux[-1] - flux[0] + source @ dz) / (abs(flux[-1]) + abs(flux[0])))
    return {key: value for key, value in values.items() if np.isfinite(value)}
