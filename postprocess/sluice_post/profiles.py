"""Profiles in wall units seen from a wall: central moments, stresses and their balance.

Sluice's z is wall-normal and y spanwise. All profiles here are seen from the wall at z = 0 of the view: the
bottom wall, the top wall (mirrored), or both halves averaged with the parity of each quantity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice_post.arrays import Array
from sluice_post.interpolation import interpolate
from sluice_post.parameters import FlowParameters
from sluice_post.statistics import LAMINAR_VARIANCE, Means
from sluice_post.stress_balance import stress_profiles
from sluice_post.symmetry import Symmetry
from sluice_post.wall_view import wall_view


@dataclass(frozen=True)
class WallProfiles:
    """Profiles in wall units; a velocity is relative to the wall and positive along the wall shear.

    `centre` lives at `z_plus` (cell centres), `face` at `z_face_plus` (faces, the wall first). Names: U, V,
    P (0 at the wall), uu vv ww uv pp k, u_rms v_rms w_rms p_rms, skew_* and flat_* of u v, omega_x_rms ...;
    at faces minus_uw, minus_vw, dUdz (the viscous stress), total, balance (what it should be), residual, skew_w and
    flat_w, which are NaN on the wall. Where the mean flow turns with the height, also U_along_stress, the component of
    the mean velocity along the wall stress, and at faces dVdz, total_y, balance_y and residual_y. `height`: where the
    profiles end, in the unit of length h.
    """

    u_tau: float
    viscosity: float
    height: float
    symmetry: Symmetry
    side: str
    z: Array
    z_face: Array
    centre: dict[str, Array]
    face: dict[str, Array]
    wall: str = ""  # which of two walls all of this is of, in words; empty: of both, or of the only one
    runs_along_x: bool = True  # whether x is streamwise and y spanwise at every height

    @property
    def re_tau(self) -> float:
        """Friction Reynolds number u_tau h/nu, of `wall`."""
        return self.u_tau / self.viscosity

    @property
    def turns(self) -> bool:
        """Whether the mean flow changes its direction with the height, so that stresses have two components."""
        return "total_y" in self.face

    @property
    def along_stress(self) -> str:
        """The name of the profile of the mean velocity that the law of the wall applies to."""
        return "U_along_stress" if self.turns else "U"

    @property
    def production(self) -> Array:
        """Production of k at the faces, from the stresses of the mean velocity."""
        along_x: Array = self.face["minus_uw"] * self.face["dUdz"]
        return along_x + self.face["minus_vw"] * self.face["dVdz"] if self.turns else along_x

    @property
    def z_plus(self) -> Array:
        """Cell centres in wall units."""
        return self.z * self.u_tau / self.viscosity

    @property
    def z_face_plus(self) -> Array:
        """Faces in wall units, the wall included."""
        return self.z_face * self.u_tau / self.viscosity

    @property
    def laminar(self) -> bool:
        """Whether w fluctuates by less than 1e-4 u_tau everywhere.

        u and v also vary in a laminar flow that changes in time: under a pulsating force, or at an oscillating wall.
        """
        return bool(np.max(self.centre["ww"]) < LAMINAR_VARIANCE)

    @property
    def residual(self) -> float:
        """Largest departure of the total stress from its balance, in units of the wall stress."""
        along_y = self.face["residual_y"] if self.turns else 0.0
        return float(np.max(np.hypot(self.face["residual"], along_y)))

    def at_centres(self, name: str) -> Array:
        """A profile at cell centres; one from faces by cubics, so that a linear one, the total stress, stays exact.

        NaN beyond the first and the last face where the profile is known.
        """
        if name in self.centre:
            return self.centre[name]
        known = np.isfinite(self.face[name])
        if not known.any():
            return np.full(len(self.z), np.nan)
        z_face = self.z_face[known]
        inside = (self.z >= z_face[0]) & (self.z <= z_face[-1])
        return np.where(inside, interpolate(self.z, z_face, self.face[name][known]), np.nan)

    def column(self, name: str) -> tuple[Array, Array]:
        """(z+, values) of a profile wherever it lives."""
        if name in self.centre:
            return self.z_plus, self.centre[name]
        return self.z_face_plus, self.face[name]

    def has(self, name: str) -> bool:
        """Whether the run recorded what this profile needs."""
        return name in self.centre or name in self.face


def central_moments(raw: dict[str, Array], letter: str) -> dict[int, Array]:
    """Central moments of order 2 to 4 (as far as recorded) from the raw ones of one component."""
    m1, m2 = raw[letter], raw[letter * 2]
    moments = {2: np.maximum(m2 - m1**2, 0.0)}
    if letter * 3 in raw:
        m3 = raw[letter * 3]
        moments[3] = m3 - 3 * m1 * m2 + 2 * m1**3
        if letter * 4 in raw:
            moments[4] = raw[letter * 4] - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    return moments


def face_values(centre: Array) -> Array:
    """A profile of w on the faces from what is stored: means over the two faces of each cell. It is 0 on both walls."""
    signs = np.resize([1.0, -1.0], len(centre))
    return np.concatenate([[0.0], 2 * signs * np.cumsum(signs * centre)])


def _skewness_and_flatness(raw: dict[str, Array], letter: str, u_tau: float) -> dict[str, Array]:
    """As far as recorded; NaN where nothing fluctuates."""
    moments = central_moments(raw, letter)
    variance = moments[2]
    # Differences of moments lose as many digits as the mean square exceeds the variance.
    defined = (variance > LAMINAR_VARIANCE * u_tau**2) & (variance > 1e-10 * raw[letter] ** 2)
    safe = np.where(defined, variance, 1.0)
    return {
        f"{name}_{letter}": np.where(defined, moments[order] / safe ** (order / 2), np.nan)
        for order, name in ((3, "skew"), (4, "flat"))
        if order in moments
    }


def _higher_moments_of_w(raw: dict[str, Array], u_tau: float) -> dict[str, Array]:
    """Skewness and flatness of w on the faces, where w is.

    From the stored means over two faces they would be wrong near a wall, where w grows as z^2: the flatness at the
    first centre would be twice that of the first face.
    """
    names = ("w", "ww", "www", "wwww")
    return _skewness_and_flatness({name: face_values(raw[name]) for name in names if name in raw}, "w", u_tau)


def _velocity_profiles(raw: dict[str, Array], u_tau: float) -> dict[str, Array]:
    profiles = {}
    for letter in "uvw":
        variance = central_moments(raw, letter)[2]
        profiles[letter * 2] = variance / u_tau**2
        profiles[f"{letter}_rms"] = np.sqrt(variance) / u_tau
        if letter != "w":
            profiles.update(_skewness_and_flatness(raw, letter, u_tau))
    profiles["k"] = (profiles["uu"] + profiles["vv"] + profiles["ww"]) / 2
    if "uv" in raw:
        profiles["uv"] = (raw["uv"] - raw["u"] * raw["v"]) / u_tau**2
    return profiles


def _pressure_profiles(raw: dict[str, Array], u_tau: float) -> dict[str, Array]:
    if "p" not in raw:
        return {}
    # p + w'w' is constant in z, so the pressure at the wall is that sum in the first cell.
    profiles = {"P": (raw["p"] - (raw["p"][0] + raw["ww"][0])) / u_tau**2}
    if "pp" in raw:
        profiles["pp"] = np.maximum(raw["pp"] - raw["p"] ** 2, 0.0) / u_tau**4
        profiles["p_rms"] = np.sqrt(profiles["pp"])
    return profiles


def _vorticity_profiles(raw: dict[str, Array], u_tau: float, viscosity: float) -> dict[str, Array]:
    profiles = {}
    for axis in "xyz":
        mean, square = f"omega_{axis}", f"omega_{axis}{axis}"
        if mean in raw and square in raw:
            variance = np.maximum(raw[square] - raw[mean] ** 2, 0.0)
            profiles[f"{mean}_rms"] = np.sqrt(variance) * viscosity / u_tau**2
    return profiles


def wall_profiles(means: Means, parameters: FlowParameters, side: str | None = None) -> WallProfiles:
    """Profiles in wall units. `side`: both (symmetric halves averaged), bottom or top."""
    seen = wall_view(means, parameters, side)
    view, u_tau = seen.means, seen.u_tau
    along_x, along_y = seen.wall_velocity
    centre = {"U": (view.centre["u"] - along_x) / u_tau, "V": (view.centre["v"] - along_y) / u_tau}
    if seen.turns:
        x, y = (component / seen.wall_stress for component in seen.stress_vector)
        centre["U_along_stress"] = x * centre["U"] + y * centre["V"]
    centre.update(_velocity_profiles(view.centre, u_tau))
    centre.update(_pressure_profiles(view.centre, u_tau))
    centre.update(_vorticity_profiles(view.centre, u_tau, parameters.viscosity))
    face = stress_profiles(seen)
    if not parameters.passes_fluid:
        face |= _higher_moments_of_w(view.centre, u_tau)
    height = parameters.reach
    slack = 1e-9 * height
    n_centre = int(np.count_nonzero(view.z <= height + slack))
    n_face = int(np.count_nonzero(view.z_face <= height + slack))
    if n_centre >= n_face:  # an odd number of cells: the centre plane cuts a cell; keep both its faces
        n_face = n_centre + 1
    return WallProfiles(
        u_tau,
        parameters.viscosity,
        height,
        seen.symmetry,
        seen.side,
        view.z[:n_centre],
        view.z_face[:n_face],
        {name: values[:n_centre] for name, values in centre.items()},
        {name: values[:n_face] for name, values in face.items()},
        seen.wall,
        parameters.runs_along_x,
    )


def value_at_height(z: Array, values: Array, height: float, even: bool) -> float:
    """A profile at z, extrapolated to `height`: by the parabola even about it, or by a straight line."""
    distance = height - z
    if distance[-1] <= 1e-9 * height or len(values) < 2:
        return float(values[-1])
    d1, d2 = distance[-1], distance[-2]
    if even:
        return float(values[-1] + (values[-1] - values[-2]) * d1**2 / (d2**2 - d1**2))
    return float(values[-1] + (values[-1] - values[-2]) * d1 / (d2 - d1))


def peak(position: Array, values: Array) -> tuple[float, float]:
    """Largest value and where it is, from the parabola through the three points about the largest one."""
    i = int(np.argmax(values))
    if i == 0 or i == len(values) - 1:
        return float(values[i]), float(position[i])
    x = position[i - 1 : i + 2] - position[i]
    slope = (values[i + 1] - values[i]) / x[2]
    slope_before = (values[i] - values[i - 1]) / -x[0]
    curvature = (slope - slope_before) / (x[2] - x[0])
    if curvature >= 0:
        return float(values[i]), float(position[i])
    tangent = slope - curvature * x[2]
    at = -tangent / (2 * curvature)
    return float(values[i] + tangent * at + curvature * at**2), float(position[i] + at)
