"""Profiles in wall units seen from a wall: central moments, stresses and their balance.

Sluice's z is wall-normal and y spanwise. All profiles here are seen from the wall at z = 0 of the view: the
bottom wall, the top wall (mirrored), or both halves averaged with the parity of each quantity.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import nan

import numpy as np

from sluice_post.arrays import Array, interpolate
from sluice_post.export import csv_text
from sluice_post.parameters import FlowParameters
from sluice_post.statistics import LAMINAR_VARIANCE, Blocks, Means
from sluice_post.symmetry import Symmetry
from sluice_post.uncertainty import degrees_of, half_widths95, student_t95
from sluice_post.wall_view import SeenFromWall, WallView, wall_view

# Column of the CSV file: profile. All in wall units; those from faces are taken to the cell centres.
CSV_COLUMNS = {
    **{"U_plus": "U", "V_plus": "V", "U_along_stress_plus": "U_along_stress", "P_plus": "P"},
    **{f"{name}_plus": name for name in ("u_rms", "v_rms", "w_rms", "p_rms", "uv", "k")},
    **{f"skewness_{c}": f"skew_{c}" for c in "uvw"},
    **{f"flatness_{c}": f"flat_{c}" for c in "uvw"},
    **{f"omega_{axis}_rms_plus": f"omega_{axis}_rms" for axis in "xyz"},
    **{"dU_dz_plus": "dUdz", "minus_uw_plus": "minus_uw", "minus_vw_plus": "minus_vw"},
    **{"total_stress_plus": "total", "total_stress_residual": "residual", "dV_dz_plus": "dVdz"},
    **{"total_stress_y_plus": "total_y", "total_stress_y_residual": "residual_y"},
}
_AT_CENTRES = "{} at centres"


@dataclass(frozen=True)
class WallProfiles(SeenFromWall):
    """Profiles in wall units; a velocity is relative to the wall and positive along the wall shear.

    `centre` lives at `z_plus` (cell centres), `face` at `z_face_plus` (faces, the wall first). Names: U, V,
    P (0 at the wall), uu vv ww uv pp k, u_rms v_rms w_rms p_rms, skew_* and flat_* of u v, omega_x_rms ...;
    at faces minus_uw, minus_vw, dUdz (the viscous stress), total, balance (what it should be), residual, skew_w and
    flat_w, which are NaN on the wall. Where the mean flow turns with the height, also U_along_stress, the component of
    the mean velocity along the wall stress, and at faces dVdz, total_y, balance_y and residual_y. `half_widths`: of the
    95 % intervals, by name; for profiles on faces also by _AT_CENTRES; empty where there are none.
    """

    z: Array
    z_face: Array
    centre: dict[str, Array]
    face: dict[str, Array]
    half_widths: dict[str, Array] = field(default_factory=dict)
    per_standard_error: float = nan  # how many standard errors a half width is
    half_widths_in_time: dict[str, Array] = field(default_factory=dict)  # of an ensemble, whose others are of members

    @property
    def turns(self) -> bool:
        """Whether the mean flow changes its direction with the height, so that stresses have two components."""
        return self.view.turns

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
        return self.centre[name] if name in self.centre else values_at_centres(self.z, self.z_face, self.face[name])

    def half_width_at_centres(self, name: str, *, in_time: bool = False) -> Array | None:
        """The half widths of `at_centres`; None if they are not known."""
        widths = self.half_widths_in_time if in_time else self.half_widths
        return widths.get(name if name in self.centre else _AT_CENTRES.format(name))

    def column(self, name: str) -> tuple[Array, Array]:
        """(z+, values) of a profile wherever it lives."""
        if name in self.centre:
            return self.z_plus, self.centre[name]
        return self.z_face_plus, self.face[name]

    def has(self, name: str) -> bool:
        """Whether the run recorded what this profile needs."""
        return name in self.centre or name in self.face


def values_at_centres(z: Array, z_face: Array, values: Array) -> Array:
    """A profile from the faces at cell centres, by cubics; NaN beyond the first and the last face where it is known."""
    known = np.isfinite(values)
    if not known.any():
        return np.full(len(z), np.nan)
    faces = z_face[known]
    return np.where((z >= faces[0]) & (z <= faces[-1]), interpolate(z, faces, values[known]), np.nan)


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


def _centre_profiles(raw: dict[str, Array], u_tau: float, viscosity: float) -> dict[str, Array]:
    """Fluctuations of velocity, pressure and vorticity, as far as recorded."""
    profiles = {}
    for letter in "uvw":
        variance = central_moments(raw, letter)[2]
        profiles[letter * 2] = variance / u_tau**2
        profiles[f"{letter}_rms"] = np.sqrt(variance) / u_tau
        if letter != "w":
            profiles |= _skewness_and_flatness(raw, letter, u_tau)
    profiles["k"] = (profiles["uu"] + profiles["vv"] + profiles["ww"]) / 2
    if "uv" in raw:
        profiles["uv"] = (raw["uv"] - raw["u"] * raw["v"]) / u_tau**2
    if "p" in raw:
        # p + w'w' is constant in z, so the pressure at the wall is that sum in the first cell.
        profiles["P"] = (raw["p"] - (raw["p"][0] + raw["ww"][0])) / u_tau**2
    if "pp" in raw:
        profiles["pp"] = np.maximum(raw["pp"] - raw["p"] ** 2, 0.0) / u_tau**4
        profiles["p_rms"] = np.sqrt(profiles["pp"])
    for mean, square in ((f"omega_{axis}", f"omega_{axis * 2}") for axis in "xyz"):
        if square in raw:
            variance = np.maximum(raw[square] - raw[mean] ** 2, 0.0)
            profiles[f"{mean}_rms"] = np.sqrt(variance) * viscosity / u_tau**2
    return profiles


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


def wall_profiles(means: Means, parameters: FlowParameters, side: str | None = None) -> WallProfiles:
    """Profiles in wall units. `side`: both (symmetric halves averaged), bottom or top."""
    seen = wall_view(means, parameters, side)
    view, u_tau, (along_x, along_y) = seen.means, seen.u_tau, seen.wall_velocity
    centre = {"U": (view.centre["u"] - along_x) / u_tau, "V": (view.centre["v"] - along_y) / u_tau}
    if seen.turns:
        x, y = (component / seen.wall_stress for component in seen.stress_vector)
        centre["U_along_stress"] = x * centre["U"] + y * centre["V"]
    centre |= _centre_profiles(view.centre, u_tau, parameters.viscosity)
    face = stress_profiles(seen)
    if not parameters.passes_fluid:
        # On the faces, where w is. From the stored means over two faces they would be wrong near a wall, where w grows
        # as z^2: the flatness at the first centre would be twice that of the first face.
        of_w = {"w" * n: face_values(view.centre["w" * n]) for n in range(1, 5) if "w" * n in view.centre}
        face |= _skewness_and_flatness(of_w, "w", u_tau)
    n_centre, n_face = (int(np.count_nonzero(seen.near(z))) for z in (view.z, view.z_face))
    if n_centre >= n_face:  # an odd number of cells: the centre plane cuts a cell; keep both its faces
        n_face = n_centre + 1
    return WallProfiles(
        seen,
        view.z[:n_centre],
        view.z_face[:n_face],
        {name: values[:n_centre] for name, values in centre.items()},
        {name: values[:n_face] for name, values in face.items()},
    )


def with_intervals(profiles: WallProfiles, blocks: Blocks) -> WallProfiles:
    """The profiles of these blocks with their 95 % intervals; without, for a single block and for a laminar flow."""
    if len(blocks) < 2 or not blocks.has_sampling_error:
        return profiles

    def all_of(means: Means) -> dict[str, Array]:
        found = wall_profiles(means, profiles.view.parameters, profiles.view.side)
        at_centres = {_AT_CENTRES.format(name): found.at_centres(name) for name in found.face}
        return found.centre | found.face | at_centres

    per_standard_error = student_t95(degrees_of(blocks))
    of_time = {} if blocks.in_time is None else half_widths95(all_of, blocks.in_time)
    return replace(
        profiles,
        half_widths=half_widths95(all_of, blocks),
        per_standard_error=per_standard_error,
        half_widths_in_time=of_time,
    )


def profiles_csv(profiles: WallProfiles) -> str:
    """The CSV file: a line per cell from the wall outwards. `<column>_ci95` is the half width of an interval.

    Of an ensemble, it is that of the interval across its members, and `<column>_ci95_time` that in time.
    """
    columns = {"z_over_h": profiles.z, "z_plus": profiles.z_plus}
    for column, name in CSV_COLUMNS.items():
        if profiles.has(name):
            columns[column] = profiles.at_centres(name)
            for ending, in_time in (("_ci95", False), ("_ci95_time", True)):
                if (half_width := profiles.half_width_at_centres(name, in_time=in_time)) is not None:
                    columns[column + ending] = half_width
    return csv_text(columns)


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
