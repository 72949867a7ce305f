"""Slices, probes and checkpoints as datasets: fields at their own staggered points."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from sluice_post import layout
from sluice_post.datasets.variables import RHO, Array, Variables, variable
from sluice_post.errors import InputOutputError
from sluice_post.probes import read_probe
from sluice_post.slices import read_slices

_FIELDS = {
    "u": ("streamwise velocity", "U"),
    "v": ("spanwise velocity", "U"),
    "w": ("wall-normal velocity", "U"),
    "p": ("pressure", f"{RHO}U^2"),
}
_TIME = ("time", "h/U")
_KEPT = (layout.ATTR_STEP, layout.ATTR_VERSION, layout.ATTR_REVISION, layout.ATTR_CASE)  # attributes


def _coordinate(name: str, values: Array) -> xr.Variable:
    points = "faces" if name.endswith("_face") else "cell centres"
    return variable(name, values, f"{name[0]} of {points}", "h")


def _dims(field: str) -> tuple[str, ...]:
    """Of a field along z, y and x: it lies on the faces of one of them."""
    return tuple(layout.line_of(field, axis) for axis in "zyx")


def _about(field: str) -> tuple[str, str]:
    """Description and unit; that of a scalar is C."""
    return _FIELDS.get(field, (f"scalar {field}", "C"))


def slice_dataset(directory: Path, label: str, begin: float | None, end: float | None) -> xr.Dataset:
    """All times of one slice: fields (time, z, y, x), of which the one along the normal has one point.

    u is at x_face, v at y_face, w at z_face. All hashes are verified.
    """
    slices = read_slices(directory, label, begin, end)
    variables: Variables = {}
    coordinates: Variables = {
        "time": variable("time", slices.time, *_TIME),
        "step": variable("time", slices.step, "number of the step"),
    }
    for field, values in slices.fields.items():
        dims = _dims(field)
        variables[field] = variable(("time", *dims), values, *_about(field))
        coordinates |= {dim: _coordinate(dim, slices.coordinates[dim]) for dim in dims}
    return xr.Dataset(variables, coordinates, {"label": label, "normal": slices.normal, "at": slices.at})


def probe_dataset(directory: Path, name: str, begin: float | None, end: float | None) -> xr.Dataset:
    """The samples of a probe: fields (time, z, y, x), u at x_face, v at y_face, w at z_face. Hashes are verified.

    The points move along x with `grid_velocity`: in the laboratory they are at x + grid_velocity time.
    """
    probe = read_probe(directory, name, begin, end)
    variables: Variables = {}
    coordinates: Variables = {"time": variable("time", probe.time, *_TIME)}
    for field, values in probe.fields.items():
        dims = _dims(field)
        variables[field] = variable(("time", *dims), values, *_about(field))
        coordinates |= {dim: _coordinate(dim, probe.coordinates[dim]) for dim in dims}
    attributes = {"name": name, "grid_velocity": probe.grid_velocity, "length_x": probe.length_x}
    return xr.Dataset(variables, coordinates, attributes)


def checkpoint_dataset(path: Path) -> xr.Dataset:
    """The flow of one checkpoint, (z, y, x) each at its own points: u at x_face, v at y_face, w at z_face.

    Faces are the upper ones of the cells. Values are read when they are used, and their hashes are not verified:
    `sluice verify DIR` does that. Coordinate: the `time` of the flow.
    """
    try:
        found = xr.open_dataset(path, engine="h5netcdf")
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InputOutputError(f"{path}: cannot be opened ({error}); the file is damaged") from error
    for name, values in found.variables.items():
        long_name = str(values.attrs["long_name"])
        is_field = values.ndim == len(layout.PROBE_FACES)
        about = _about(str(name)) if is_field else (long_name.rpartition(" / ")[0], "h")
        values.attrs = {"long_name": about[0], "units": about[1]}
    time = variable((), found.attrs[layout.ATTR_TIME], *_TIME)
    found.attrs = {name: found.attrs[name] for name in _KEPT}
    with_time: xr.Dataset = found.assign_coords(time=time)
    return with_time
