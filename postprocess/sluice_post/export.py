"""Profiles as tables: CSV."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sluice_post.bands import Bands
from sluice_post.errors import InputOutputError
from sluice_post.profiles import WallProfiles

Array = NDArray[np.float64]

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


def csv_columns(profiles: WallProfiles, bands: Bands | None = None) -> dict[str, Array]:
    """The columns of the CSV file at the cell centres; `<column>_ci95` is the half width of an interval."""
    columns = {"z_over_h": profiles.z, "z_plus": profiles.z_plus}
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


def write_text(path: Path, text: str) -> None:
    """Writes a text file, making its folder; a clear message if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be written ({error.strerror or error})") from error


def dataset_text(found: xr.Dataset, columns: Mapping[str, str | xr.DataArray]) -> str:
    """Variables of a dataset as CSV under other names, each with <column>_ci95 if its interval is known.

    There is a line for each point of the last column, in its order; the others are repeated along its dimensions.
    """
    arrays: dict[str, xr.DataArray] = {}
    for column, name in columns.items():
        arrays[column] = found[name] if isinstance(name, str) else name
        if isinstance(name, str) and f"{name}_ci95" in found:
            arrays[f"{column}_ci95"] = found[f"{name}_ci95"]
    last = list(arrays.values())[-1]
    repeated = {column: array.broadcast_like(last).transpose(*last.dims) for column, array in arrays.items()}
    return columns_text({column: array.values.ravel() for column, array in repeated.items()})
