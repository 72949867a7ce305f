"""Profiles of scalars seen from a wall, in the units of the case and in wall units.

Signs: z points from the wall into the fluid, w likewise. The wall flux q_w is positive into the fluid, the friction
value is c_tau = q_w/u_tau with its sign, and profiles in wall units are those of Theta = (c_w - c)/c_tau, with c_w the
mean value at the wall. Theta is 0 at the wall and rises from it as U+ does, whether the wall is hot or cold.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles, central_moments, wall_profiles
from sluice_post.scalars import Scalar
from sluice_post.statistics import Means
from sluice_post.symmetry import Symmetry
from sluice_post.wall_view import WallView, wall_view

# Below this part of the largest value, a variance or a gradient is round-off, and what is divided by it unknown.
ROUND_OFF = 1e-10


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
    def far_flux(self) -> float:
        """The mean flux into the fluid at the other wall."""
        return float(self.gradient_flux[-1])

    @property
    def mean(self) -> Array:
        """The mean scalar at the centres."""
        return self.moments["c"] + self.shift

    @property
    def wall_value(self) -> float:
        """The mean at the wall at z = 0; exact for the scheme's own gradient there."""
        return float(self.mean[0] - self.gradient_flux[0] / self.kappa * self.flow.means.z[0])

    @property
    def far_value(self) -> float:
        """The mean at the other wall."""
        distance = self.flow.means.z_face[-1] - self.flow.means.z[-1]
        return float(self.mean[-1] + self.gradient_flux[-1] / self.kappa * distance)


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


def _shifted(raw: dict[str, Array], shift: float) -> dict[str, Array]:
    """Raw moments of c - shift."""
    powers = [np.ones_like(raw["c"]), *(raw["c" * n] for n in range(1, 5))]
    return {
        "c" * n: np.sum([comb(n, m) * (-shift) ** (n - m) * powers[m] for m in range(n + 1)], axis=0)
        for n in range(1, 5)
    }


def source_of(scalar: Scalar, means: Means) -> Array | None:
    """The mean source at the centres; not known if it changes in time or depends on the scalar."""
    if scalar.source == "streamwise":
        return scalar.source_amount * means.centre["u"]
    return scalar.source_amount * np.ones_like(means.z) if scalar.source in ("none", "uniform") else None


def scalar_view(means: Means, parameters: FlowParameters, scalar: Scalar, side: str) -> ScalarView:
    """The scalar as seen from a wall. `side`: both only if sides_of gives it."""
    flow = wall_view(means, parameters, side)
    stored = {ending: means.scalars[f"{scalar.name}{ending}"] for ending in ("", "_squared", "_cubed", "_fourth")}
    raw = {"c" * n: values for n, values in enumerate(stored.values(), start=1)}
    shift = float(raw["c"] @ np.diff(means.z_face) / means.z_face[-1])
    steady = not (scalar.bottom.formula or scalar.top.formula)
    if steady and scalar.bottom.kind == scalar.top.kind == "value":
        shift = (scalar.bottom.amount + scalar.top.amount) / 2
    moments = _shifted(raw, shift)
    u, v = (means.centre[name] - velocity for name, velocity in zip("uv", flow.frame, strict=True))
    # Products with c - shift in the frame of the view.
    products = {
        "uc": means.scalars[f"{scalar.name}_u"] - flow.frame[0] * raw["c"] - shift * u,
        "vc": means.scalars[f"{scalar.name}_v"] - flow.frame[1] * raw["c"] - shift * v,
        "wc": means.scalars[f"{scalar.name}_w"],
        "gradient_flux": means.scalars[f"{scalar.name}_gradient_flux"],
    }
    source = source_of(scalar, means)
    directions = {"uc": "x", "vc": "", "wc": "z", "gradient_flux": "z"}
    images: list[dict[str, Array]] = []
    for image in flow.images:
        sign = 1 if not images else parity_of(scalar, flow.symmetry, parameters)
        order = slice(None, None, -1 if "z" in image else None)
        found = {name: (sign ** len(name) * values)[order] for name, values in moments.items()}
        for name, values in products.items():
            found[name] = sign * (-1 if directions[name] and directions[name] in image else 1) * values[order]
        if source is not None:
            found["source"] = sign * source[order]
        images.append(found)
    mean = {name: np.mean([image[name] for image in images], axis=0) for name in images[0]}
    c = mean["c"]
    return ScalarView(
        flow,
        shift,
        {name: mean[name] for name in moments},
        mean["uc"] - flow.means.centre["u"] * c,
        mean["vc"] - flow.means.centre["v"] * c,
        mean["wc"],
        mean["gradient_flux"],
        mean.get("source"),
        parameters.viscosity / scalar.prandtl,
    )


def balance_of(view: ScalarView) -> Array:
    """The total flux on the faces of a steady mean: from one wall flux to the other as the source adds up."""
    dz = np.diff(view.flow.means.z_face)
    source = np.ones_like(dz) if view.source is None or not np.any(view.source) else view.source
    grown = np.concatenate([[0.0], np.cumsum(source * dz)])
    fraction = grown / grown[-1] if abs(grown[-1]) > ROUND_OFF * np.abs(source).max() else np.linspace(0, 1, grown.size)
    balance: Array = view.wall_flux + (-view.far_flux - view.wall_flux) * fraction
    return balance


@dataclass(frozen=True)
class ScalarProfiles:
    """Profiles of a scalar from the wall to h. Names are those of `datasets/scalar_profiles.py`.

    `centre` and `face` are in wall units: C (Theta), c_rms, cc, skew_c, flat_c, uc, vc, R_uc, R_wc; minus_wc,
    conduction, total, balance, residual over q_w, kappa_t and nu_t over nu, Pr_t. `outer_centre` and `outer_face` are
    those of c itself in the units of the case: C, c_rms, uc, vc; wc, gradient_flux, total.
    """

    scalar: Scalar
    wall: WallProfiles
    c_tau: float
    wall_value: float
    wall_flux: float
    centre: dict[str, Array]
    face: dict[str, Array]
    outer_centre: dict[str, Array]
    outer_face: dict[str, Array]

    @property
    def side(self) -> str:
        """both, bottom or top."""
        return self.wall.side

    @property
    def residual(self) -> float:
        """Largest departure of the total flux from its balance, over the wall flux."""
        return float(np.max(np.abs(self.face["residual"])))

    @property
    def constant(self) -> bool:
        """Whether the scalar does not fluctuate, as in a laminar flow."""
        return bool(np.max(self.centre["c_rms"]) < 1e-4)


def _ratio(numerator: Array, denominator: Array) -> Array:
    """NaN where the denominator is round-off."""
    size = np.where(np.isfinite(denominator), np.abs(denominator), 0.0)
    defined = size > ROUND_OFF * size.max()
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), np.nan)


def _higher_moments(view: ScalarView, variance: Array) -> dict[str, Array]:
    """Skewness and flatness of c; NaN where it does not fluctuate."""
    moments = central_moments(view.moments, "c")
    square = view.moments["cc"].max()
    defined = variance > ROUND_OFF * square
    safe = np.where(defined, variance, 1.0)
    return {
        name: np.where(defined, moments[order] / safe ** (order / 2), np.nan)
        for order, name in ((3, "skew_c"), (4, "flat_c"))
    }


def scalar_profiles(means: Means, parameters: FlowParameters, scalar: Scalar, side: str) -> ScalarProfiles:
    """Profiles of a scalar; `side` is one of sides_of. An error if no flux passes the wall."""
    view, wall = scalar_view(means, parameters, scalar, side), wall_profiles(means, parameters, side)
    flow, nu, u_tau, q = view.flow.means, parameters.viscosity, wall.u_tau, view.wall_flux
    variance = central_moments(view.moments, "c")[2]
    if not abs(q) > ROUND_OFF * u_tau * float(np.sqrt(np.max(view.moments["cc"]))):
        raise InputOutputError(
            f"no mean flux of {scalar.name} passes the {'top' if side == 'top' else 'bottom'} wall: "
            "wall units of the scalar are not defined"
        )
    c_tau = q / u_tau
    rms, conduction = np.sqrt(variance), -view.gradient_flux
    total, balance = view.wc + conduction, balance_of(view)
    higher = _higher_moments(view, variance)
    uu, ww = (central_moments(flow.centre, letter)[2] for letter in "uw")
    wc_centre = (view.wc[1:] + view.wc[:-1]) / 2
    nu_t = _ratio(-flow.face["uw"] * nu, flow.face["tau_xz"])
    kappa_t = _ratio(view.wc * view.kappa, conduction)
    carried = np.abs(view.wc) > ROUND_OFF * abs(q)
    prandtl_t = np.where(carried, nu_t / np.where(carried, kappa_t, 1.0), np.nan)
    sign = -np.sign(c_tau)  # of Theta against c
    centre = {
        "C": (view.wall_value - view.mean) / c_tau,
        "c_rms": rms / abs(c_tau),
        "cc": variance / c_tau**2,
        "skew_c": sign * higher["skew_c"],
        "flat_c": higher["flat_c"],
        "uc": -view.uc / (c_tau * u_tau),
        "vc": -view.vc / (c_tau * u_tau),
        "R_uc": sign * _ratio(view.uc, np.sqrt(uu * variance)),
        "R_wc": sign * _ratio(wc_centre, np.sqrt(ww * variance)),
    }
    face = {
        "minus_wc": view.wc / q,
        "conduction": conduction / q,
        "total": total / q,
        "balance": balance / q,
        "residual": (total - balance) / q,
        "kappa_t": kappa_t / nu,
        "nu_t": nu_t / nu,
        "Pr_t": prandtl_t,
    }
    outer_centre = {"C": view.mean, "c_rms": rms, "uc": view.uc, "vc": view.vc}
    outer_face = {"wc": view.wc, "gradient_flux": view.gradient_flux, "total": total}

    def cut(columns: dict[str, Array], count: int) -> dict[str, Array]:
        return {name: values[:count] for name, values in columns.items()}

    return ScalarProfiles(
        scalar,
        wall,
        c_tau,
        view.wall_value,
        q,
        cut(centre, wall.z.size),
        cut(face, wall.z_face.size),
        cut(outer_centre, wall.z.size),
        cut(outer_face, wall.z_face.size),
    )
