"""Modes of POD and SPOD as a dataset, and as a NetCDF file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sluice_post.arrays import Array
from sluice_post.child_process import write_whole
from sluice_post.datasets.cf import CONVENTIONS, cf_dataset
from sluice_post.datasets.fields import about_field
from sluice_post.datasets.variables import Variables, dataset, variable
from sluice_post.mode_points import ModePoints
from sluice_post.rank_limited import Decomposed


def _squared(unit: str) -> str:
    return "1" if unit == "1" else f"({unit})^2" if " " in unit else f"{unit}^2"


def modes_dataset(
    points: ModePoints,
    found: Decomposed,
    columns: int,
    frequency: Array | None,
    mean: NDArray[Any] | None,
    attributes: dict[str, Any],
) -> xr.Dataset:
    """`modes` ([frequency,] [ky,] [kx,] mode, component, ...), `energy` ([frequency,] [ky,] [kx,] mode), and others.

    The mean over the points of the squares of a mode, summed over its components, is 1. The sum of `energy` over modes
    and wavenumbers is the sum of the variances of the components, averaged over the points; in SPOD also over
    frequencies, times their distance. Energies at a wavenumber count its conjugate, too. `fraction`: of the energy at
    the same wavenumber and frequency, which is `total_energy`. Coordinates along components: u lies at x_face, v at
    y_face, w at z_face. The modes are those of sums over `columns` samples or blocks.
    """
    lead: Variables = {}
    if frequency is not None:
        lead["frequency"] = variable("frequency", frequency, "frequency", "U/h")
    for name, values in points.wavenumbers.items():
        lead[name] = variable(name, values, f"wavenumber along {name[1]}", "1/h")
    lengths = [line.size for line in lead.values()]
    units = {about_field(name)[1] for name in points.components}
    unit = units.pop() if len(units) == 1 else "1"
    energy_unit = _squared(unit) if frequency is None else "U h" if unit == "U" else f"{_squared(unit)} h/U"
    of = "spectral density of the energy" if frequency is not None else "energy"

    def of_each(values: Array, name: str, units: str, *dims: str) -> xr.Variable:
        return variable((*lead, *dims), values.reshape((*lengths, *values.shape[2:])), name, units)

    total = found.total[..., None]
    fraction = np.divide(found.energy, total, out=np.zeros_like(found.energy), where=total > 0)
    modes = points.modes_of(found.vectors)
    modes = np.moveaxis(modes.reshape((*lengths, *modes.shape[1 + len(points.lead_shape) :])), -1, len(lead))
    variables = {
        "modes": variable((*lead, "mode", "component", *points.rest), modes, "mode"),
        "energy": of_each(found.energy / columns, f"{of} of the mode", energy_unit, "mode"),
        "fraction": of_each(fraction, f"fraction of the mode in the {of}", "1", "mode"),
        "total_energy": of_each(found.total / columns, f"{of} of all modes", energy_unit),
        "energy_error": of_each(
            found.error / columns, f"largest possible error of the {of} by the limit of the rank", energy_unit
        ),
    }
    if mean is not None:
        about = ("mean over the samples", unit)
        variables["mean"] = variable(("component", *points.rest), points.mean_of(mean), *about)
    coordinates: Variables = {
        "mode": variable("mode", np.arange(1, found.energy.shape[-1] + 1), "number of the mode"),
        "component": variable("component", np.array(points.components), "component"),
    } | lead
    for axis in points.rest:
        face = f"{axis}_face"
        coordinates[axis] = variable(axis, points.coordinates[axis], f"{axis} of cell centres", "h")
        coordinates[face] = variable(axis, points.coordinates[face], f"{axis} of faces", "h")
    return dataset(variables, coordinates, None, **attributes)


def save_modes(found: xr.Dataset, path: Path) -> None:
    """Writes a dataset as NetCDF; of complex variables NAME_real and NAME_imag. What is there is replaced."""
    parts: dict[Any, xr.DataArray] = {}
    for name, values in found.data_vars.items():
        if values.dtype.kind != "c":
            parts[name] = values
            continue
        for part, which in ((values.real, "real"), (values.imag, "imaginary")):
            long_name = f"{which} part of the {values.attrs['long_name']}"
            parts[f"{name}_{which[:4]}"] = part.assign_attrs(values.attrs | {"long_name": long_name})
    file = cf_dataset(xr.Dataset(parts, found.coords, found.attrs | {"Conventions": CONVENTIONS}))
    write_whole(path, lambda unfinished: file.to_netcdf(unfinished, engine="h5netcdf"))
