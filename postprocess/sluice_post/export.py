"""Profiles as tables: CSV, and the column layout of Lee & Moser (2015)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
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


def csv_columns(profiles: WallProfiles, bands: dict[str, Array] | None = None) -> dict[str, Array]:
    """The columns of the CSV file at the cell centres; `<column>_ci95` is the half width of an interval."""
    columns = {"z_over_h": profiles.z / profiles.height, "z_plus": profiles.z_plus}
    bands = bands or {}
    for column, name in CSV_CENTRE.items():
        if name in profiles.centre:
            columns[column] = profiles.centre[name]
            if name in bands:
                columns[f"{column}_ci95"] = bands[name]
    for column, name in CSV_FACE.items():
        if name in profiles.face:
            columns[column] = profiles.at_centres(name)
    return columns


def csv_text(profiles: WallProfiles, bands: dict[str, Array] | None = None) -> str:
    """The CSV file: one header line, then one line per cell from the wall outwards."""
    columns = csv_columns(profiles, bands)
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


def _with_wall(values: Array, wall: float = 0.0) -> Array:
    return np.concatenate([[wall], values])


def lee_moser_texts(profiles: WallProfiles, parameters: FlowParameters) -> dict[str, str]:
    """The two files of profiles by name, wall included, with their v wall-normal and their w spanwise.

    What the run did not record is NaN.
    """
    absent = np.full_like(profiles.z, np.nan)

    def centre(name: str) -> Array:
        return profiles.centre.get(name, absent)

    vw = -profiles.at_centres("minus_vw") if profiles.has("minus_vw") else absent
    y, y_plus = _with_wall(profiles.z / profiles.height), _with_wall(profiles.z_plus)
    mean = _lee_moser_text(
        layout.LEE_MOSER_MEAN,
        "Profiles of the mean velocity and pressure",
        ("y/delta", "y^+", "U", "dU/dy", "W", "P"),
        (
            "     U       : Mean profile of streamwise velocity, relative to the wall",
            "   dU/dy     : Derivative of U in wall-normal direction",
            "     W       : Mean profile of spanwise velocity",
            "     P       : Mean profile of pressure, 0 at the wall",
        ),
        (
            y,
            y_plus,
            _with_wall(centre("U")),
            _with_wall(profiles.at_centres("dUdz"), 1.0),
            _with_wall(centre("V")),
            _with_wall(centre("P")),
        ),
        profiles,
        parameters,
    )
    fluctuations = _lee_moser_text(
        layout.LEE_MOSER_FLUCTUATIONS,
        "Variance and covariance of velocity components",
        ("y/delta", "y^+", "u'u'", "v'v'", "w'w'", "u'v'", "u'w'", "v'w'", "k"),
        ("      k      : Turbulent kinetic energy, k = 0.5*(u'u' + v'v' + w'w')",),
        (
            y,
            y_plus,
            _with_wall(centre("uu")),
            _with_wall(centre("ww")),
            _with_wall(centre("vv")),
            _with_wall(-profiles.at_centres("minus_uw")),
            _with_wall(centre("uv")),
            _with_wall(vw),
            _with_wall(centre("k")),
        ),
        profiles,
        parameters,
    )
    return {layout.LEE_MOSER_MEAN: mean, layout.LEE_MOSER_FLUCTUATIONS: fluctuations}


def write_text(path: Path, text: str) -> None:
    """Writes a text file, making its folder; a clear message if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be written ({error.strerror or error})") from error
