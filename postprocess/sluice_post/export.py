"""Profiles as tables: CSV, and the column layout of Lee & Moser (2015)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.bands import Bands
from sluice_post.errors import InputOutputError
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles

Array = NDArray[np.float64]

# CSV column -> profile. All in wall units but z_over_h; face profiles are taken to the cell centres.
CSV_CENTRE = {
    "U_plus": "U",
    "V_plus": "V",
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
}


def csv_columns(profiles: WallProfiles, bands: Bands | None = None) -> dict[str, Array]:
    """The columns of the CSV file at the cell centres; `<column>_ci95` is the half width of an interval."""
    columns = {"z_over_h": profiles.z / profiles.height, "z_plus": profiles.z_plus}
    for column, name in {**CSV_CENTRE, **CSV_FACE}.items():
        if profiles.has(name):
            columns[column] = profiles.at_centres(name)
            if bands is not None and name in bands.centre:
                columns[f"{column}_ci95"] = bands.centre[name]
    return columns


def csv_text(profiles: WallProfiles, bands: Bands | None = None) -> str:
    """The CSV file: one header line, then one line per cell from the wall outwards."""
    return columns_text(csv_columns(profiles, bands))


def columns_text(columns: dict[str, Array]) -> str:
    """Columns as CSV: one header line with their names, then one line per point."""
    lines = [",".join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append(",".join(f"{value:.10g}" for value in row))
    return "\n".join(lines) + "\n"


def _lee_moser_text(
    name: str,
    description: str,
    names: Sequence[str],
    remarks: Sequence[str],
    columns: Sequence[Array],
    profiles: WallProfiles,
    parameters: FlowParameters,
) -> str:
    nx, ny, nz = parameters.cells
    lx, ly, _ = parameters.size
    header = [
        f"Filename : {name}",
        "",
        f"Description : {description}",
        "",
        f"Total number of data points  : {len(columns[0])}",
        "",
        f"Simulation : {parameters.title or parameters.flow_type}",
        f"Code       : Sluice {parameters.version} {parameters.git_revision}".rstrip(),
        "",
        "Here y is the wall-normal direction and v its velocity, z the spanwise one and w its velocity.",
        "",
        f" Grid (streamwise)       nx = {nx}",
        f" Grid (wall-normal)      ny = {nz}",
        f" Grid (spanwise)         nz = {ny}",
        f" Streamwise domain size  Lx = {lx:.6g}",
        f" Spanwise domain size    Lz = {ly:.6g}",
        f" Kinematic Viscosity     nu = {parameters.viscosity:.5e}",
        f" Channel half width   delta = {profiles.height:.3f}",
        f" Friction vel         u_tau = {profiles.u_tau:.5e}",
        f" Re_tau              Re_tau = {profiles.re_tau:8.3f}",
        "",
        "All data are normalized by u_tau and nu (signified with a ^+) except",
        "for y/delta",
        "",
        "Remark:",
        "",
        *remarks,
        "",
        "-----------End of header---------",
        "",
        "".join(f"{column:^25}" for column in names).rstrip(),
        "-" * (25 * len(names)),
    ]
    lines = [f"% {line}".rstrip() for line in header]
    for row in zip(*columns, strict=True):
        lines.append("".join(f"{value:25.15e}" for value in row))
    return "\n".join(lines) + "\n"


# Columns: heading, profile, factor, value at the wall.
_MEAN_COLUMNS = (
    ("U", "U", 1, 0.0),
    ("dU/dy", "dUdz", 1, 1.0),
    ("W", "V", 1, 0.0),
    ("P", "P", 1, 0.0),
)
_FLUCTUATION_COLUMNS = (
    ("u'u'", "uu", 1, 0.0),
    ("v'v'", "ww", 1, 0.0),
    ("w'w'", "vv", 1, 0.0),
    ("u'v'", "minus_uw", -1, 0.0),
    ("u'w'", "uv", 1, 0.0),
    ("v'w'", "minus_vw", -1, 0.0),
    ("k", "k", 1, 0.0),
)
_MEAN_REMARKS = (
    "     U       : Mean profile of streamwise velocity, relative to the wall",
    "   dU/dy     : Derivative of U in wall-normal direction",
    "     W       : Mean profile of spanwise velocity",
    "     P       : Mean profile of pressure, 0 at the wall",
)
_FLUCTUATION_REMARKS = ("      k      : Turbulent kinetic energy, k = 0.5*(u'u' + v'v' + w'w')",)


def lee_moser_texts(
    profiles: WallProfiles, parameters: FlowParameters, bands: Bands | None = None
) -> dict[str, str]:
    """The files of profiles by name, wall included, with their v wall-normal and their w spanwise.

    Two, and with intervals two more of the same columns, of standard errors. What the run did not record is NaN.
    """
    absent = np.full_like(profiles.z, np.nan)
    errors = bands.standard_errors(profiles) if bands is not None and bands.centre else None
    texts = {}
    for name, error_name, description, columns, remarks in (
        (layout.LEE_MOSER_MEAN, layout.LEE_MOSER_MEAN_ERRORS,
         "Profiles of the mean velocity and pressure", _MEAN_COLUMNS, _MEAN_REMARKS),
        (layout.LEE_MOSER_FLUCTUATIONS, layout.LEE_MOSER_FLUCTUATION_ERRORS,
         "Variance and covariance of velocity components", _FLUCTUATION_COLUMNS, _FLUCTUATION_REMARKS),
    ):  # fmt: skip
        headings = ["y/delta", "y^+", *(heading for heading, *_ in columns)]
        heights = [np.append(0.0, z) for z in (profiles.z / profiles.height, profiles.z_plus)]
        values = [
            np.append(wall, factor * (profiles.at_centres(profile) if profiles.has(profile) else absent))
            for _, profile, factor, wall in columns
        ]
        texts[name] = _lee_moser_text(
            name, description, headings, remarks, [*heights, *values], profiles, parameters
        )
        if errors is not None:
            values = [np.append(0.0, errors.centre.get(profile, absent)) for _, profile, *_ in columns]
            texts[error_name] = _lee_moser_text(
                error_name, f"Standard errors. {description}", headings, remarks, [*heights, *values],
                profiles, parameters,
            )  # fmt: skip
    return texts


def write_text(path: Path, text: str) -> None:
    """Writes a text file, making its folder; a clear message if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be written ({error.strerror or error})") from error
