"""95 % intervals of all profiles of a run, and the profiles as CSV."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sluice_post.arrays import Array
from sluice_post.export import csv_text
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles, wall_profiles
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import degrees_of_freedom, half_width95, student_t95

# CSV column -> profile. All in wall units but z_over_h; face profiles are taken to the cell centres.
CSV_CENTRE = {
    "U_plus": "U",
    "V_plus": "V",
    "U_along_stress_plus": "U_along_stress",
    "P_plus": "P",
    "u_rms_plus": "u_rms",
    "v_rms_plus": "v_rms",
    "w_rms_plus": "w_rms",
    "p_rms_plus": "p_rms",
    "uv_plus": "uv",
    "k_plus": "k",
    "skewness_u": "skew_u",
    "skewness_v": "skew_v",
    "skewness_w": "skew_w",
    "flatness_u": "flat_u",
    "flatness_v": "flat_v",
    "flatness_w": "flat_w",
    "omega_x_rms_plus": "omega_x_rms",
    "omega_y_rms_plus": "omega_y_rms",
    "omega_z_rms_plus": "omega_z_rms",
}
CSV_FACE = {
    "dU_dz_plus": "dUdz",
    "minus_uw_plus": "minus_uw",
    "minus_vw_plus": "minus_vw",
    "total_stress_plus": "total",
    "total_stress_residual": "residual",
    "dV_dz_plus": "dVdz",
    "total_stress_y_plus": "total_y",
    "total_stress_y_residual": "residual_y",
}


@dataclass(frozen=True)
class Bands:
    """Half widths of the 95 % intervals of profiles at fixed z/h; none at all for a single block."""

    centre: dict[str, Array] = field(default_factory=dict)  # at cell centres: all profiles
    face: dict[str, Array] = field(default_factory=dict)  # at faces: those that live there
    per_standard_error: float = float("nan")

    def get(self, name: str) -> Array | None:
        """The half widths of a profile where it lives."""
        return self.face.get(name, self.centre.get(name))

    def standard_errors(self, profiles: WallProfiles) -> WallProfiles:
        """Profiles at cell centres whose values are the standard errors."""
        errors = {name: width / self.per_standard_error for name, width in self.centre.items()}
        return replace(profiles, centre=errors, face={})


def bands_of(blocks: Blocks, parameters: FlowParameters, side: str | None = None) -> Bands:
    """The intervals of all profiles that wall_profiles gives; none for a laminar flow."""
    if len(blocks) < 2 or not blocks.has_sampling_error:
        return Bands()

    def columns(profiles: WallProfiles) -> tuple[dict[str, Array], dict[str, Array]]:
        return profiles.centre | {name: profiles.at_centres(name) for name in profiles.face}, profiles.face

    def joined(means: Means) -> Array:
        centre, face = columns(wall_profiles(means, parameters, side))
        return np.concatenate([*centre.values(), *face.values()])

    centre, face = columns(wall_profiles(blocks.means(), parameters, side))
    ends = np.cumsum([len(values) for values in (*centre.values(), *face.values())])
    widths = np.split(half_width95(joined, blocks), ends[:-1])
    return Bands(
        dict(zip(centre, widths[: len(centre)], strict=True)),
        dict(zip(face, widths[len(centre) :], strict=True)),
        student_t95(degrees_of_freedom(len(blocks))),
    )


def csv_columns(profiles: WallProfiles, bands: Bands | None = None) -> dict[str, Array]:
    """The columns of the CSV file at the cell centres; `<column>_ci95` is the half width of an interval."""
    columns = {"z_over_h": profiles.z, "z_plus": profiles.z_plus}
    for column, name in {**CSV_CENTRE, **CSV_FACE}.items():
        if profiles.has(name):
            columns[column] = profiles.at_centres(name)
            if bands is not None and name in bands.centre:
                columns[f"{column}_ci95"] = bands.centre[name]
    return columns


def profiles_csv(profiles: WallProfiles, bands: Bands | None = None) -> str:
    """The CSV file: one header line, then one line per cell from the wall outwards."""
    return csv_text(csv_columns(profiles, bands))
