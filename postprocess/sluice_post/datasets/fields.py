"""Slices, probes, fields and checkpoints as datasets: fields at their own points, read when they are used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.center_fields import CENTER_QUANTITIES
from sluice_post.datasets.cf import INSTANTS
from sluice_post.datasets.stored import stored_variable
from sluice_post.datasets.variables import RHO, Variables, dataset, variable
from sluice_post.errors import InputOutputError, NoBlocksError, require_installed
from sluice_post.hdf5_file import Hdf5File, reading
from sluice_post.probe_parts import Key, find_samples, index_path
from sluice_post.slices import plane_of

_FIELDS = {
    "u": ("streamwise velocity", "U"),
    "v": ("spanwise velocity", "U"),
    "w": ("wall-normal velocity", "U"),
    "p": ("pressure", f"{RHO}U^2"),
}
_CENTER_SCALES = {"fluctuation": "U", "vorticity": "U/h", "q": "U^2/h^2", "lambda2": "U^2/h^2"}
for _key, _scale in _CENTER_SCALES.items():
    _FIELDS |= {name: (text, _scale) for name, text in CENTER_QUANTITIES[_key].components.items()}
_TIME = ("time", "h/U")
_STEP = "number of the step"
_KEPT = (layout.ATTR_STEP, layout.ATTR_VERSION, layout.ATTR_REVISION, layout.ATTR_CASE)  # attributes


def _coordinate(name: str, values: Array) -> xr.Variable:
    points = "faces" if name.endswith("_face") else "cell centres"
    return variable(name, values, f"{name[0]} of {points}", "h")


def about_field(field: str) -> tuple[str, str]:
    """Description and unit; that of a scalar is C."""
    return _FIELDS.get(field, (f"scalar {field}", "C"))


def _attributes(field: str) -> dict[str, Any]:
    long_name, units = about_field(field)
    return {"long_name": long_name, "units": units}


def _samples_dataset(
    directory: Path, series: str, folder: str, times: tuple[float | None, float | None], **attributes: Any
) -> xr.Dataset:
    """Fields (time, z, y, x) of a probe or a slice, u at x_face, v at y_face, w at z_face."""
    found = find_samples(directory, series, folder, *times)
    if found.time.size == 0:
        kind = "slice" if folder == layout.SLICE_FOLDER else "sample of the probe"
        raise NoBlocksError(f"{directory}: there is no {kind} {series} between these times")
    variables: Variables = {}
    coordinates: Variables = {"time": variable("time", found.time, *_TIME), "step": variable("time", found.step, _STEP)}
    for field, stretches in found.fields.items():
        dims = [layout.line_of(field, axis) for axis in "zyx"]
        shape, dtype = found.shapes[field], found.dtypes[field]
        variables[field] = stored_variable(dims, stretches, shape, dtype, _attributes(field))
        coordinates |= {dim: _coordinate(dim, found.coordinates[dim]) for dim in dims}
    return dataset(variables, coordinates, INSTANTS, **attributes)


def slice_dataset(directory: Path, label: str, begin: float | None, end: float | None) -> xr.Dataset:
    """All times of one slice: fields (time, z, y, x), of which the one along the normal has one point.

    u is at x_face, v at y_face, w at z_face. Fields are read when they are used, and their hashes verified then.
    """
    normal, at = plane_of(directory, label)
    return _samples_dataset(directory, label, layout.SLICE_FOLDER, (begin, end), label=label, normal=normal, at=at)


def probe_dataset(directory: Path, name: str, begin: float | None, end: float | None) -> xr.Dataset:
    """The samples of a probe: fields (time, z, y, x), u at x_face, v at y_face, w at z_face.

    Fields are read when they are used, and their hashes verified then. The points move along x with `grid_velocity`: in
    the laboratory they are at x + grid_velocity time.
    """
    with Hdf5File(index_path(directory, name), layout.PROBE_FORMAT) as index:
        about = {key: float(index.value(key)) for key in ("grid_velocity", "length_x")}
    return _samples_dataset(directory, name, layout.PROBE_FOLDER, (begin, end), name=name, **about)


def checkpoint_dataset(path: Path) -> xr.Dataset:
    """The flow of one checkpoint, (z, y, x) each at its own points: u at x_face, v at y_face, w at z_face.

    Faces are the upper ones of the cells. Values are read when they are used, and their hashes are not verified:
    `sluice verify DIR` does that. Coordinate: the `time` of the flow.
    """
    require_installed("xarray", "h5netcdf")
    try:
        found = xr.open_dataset(path, engine="h5netcdf")
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InputOutputError(f"{path}: cannot be opened ({error}); the file is damaged") from error
    with reading(path, "the file"):
        time = variable((), found.attrs[layout.ATTR_TIME], *_TIME)
        attributes = {name: found.attrs[name] for name in _KEPT}
        fields = {
            str(name): values.variable.copy(deep=False)
            for name, values in found.data_vars.items()
            if values.ndim == len(layout.PROBE_FACES)
        }
        for name, field in fields.items():
            field.attrs = _attributes(name)
        lines = {str(dim) for field in fields.values() for dim in field.dims}
        coordinates = {line: _coordinate(line, found[line].values) for line in sorted(lines)}
    flow = dataset(fields, coordinates | {"time": time}, INSTANTS, **attributes)
    flow.set_close(found.close)
    return flow


CHECKPOINTS = "checkpoints"  # the name of their series
_OF_SERIES = re.compile(r"(.+)_\d{7,}")


def _step_of(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def field_series(directory: Path) -> dict[str, list[Path]]:
    """The files of each output.fields by its name, and the checkpoints, in the order of steps.

    An output with the name of the checkpoints hides them.
    """
    found: dict[str, list[Path]] = {}
    for path in (directory / layout.FIELDS_FOLDER).glob("*.h5"):
        if (name := _OF_SERIES.fullmatch(path.stem)) is not None:
            found.setdefault(name[1], []).append(path)
    if checkpoints := list(directory.glob(layout.CHECKPOINT_PATTERN)):
        found.setdefault(CHECKPOINTS, checkpoints)
    return {name: sorted(paths, key=_step_of) for name, paths in sorted(found.items())}


@dataclass(frozen=True)
class _Snapshot:
    """A field in a file of one time."""

    path: Path
    field: str
    count: int = 1

    def read(self, times: slice, points: Key) -> NDArray[Any]:
        with reading(self.path, f"the field '/{self.field}'"), h5py.File(self.path, "r") as file:
            return np.asarray(file[self.field][points])[np.newaxis][times]


def _check_alike(path: Path, first: xr.Dataset) -> None:
    """An error if a file does not have the fields and the points of the first of its series."""
    with reading(path, "the HDF5 file"), h5py.File(path, "r") as file:
        alike = all(
            name in file and file[name].shape == values.shape and file[name].dtype == values.dtype
            for name, values in first.data_vars.items()
        )
        alike = alike and len(first.data_vars) == sum(
            isinstance(item, h5py.Dataset) and item.ndim == len(layout.PROBE_FACES) for item in file.values()
        )
        alike = alike and all(np.array_equal(file[str(line)], first[line]) for line in first.indexes)
    if not alike:
        raise InputOutputError(f"{path}: has other points or fields than the first file of the series")


def files_between(paths: Sequence[Path], begin: float | None, end: float | None) -> dict[Path, tuple[float, int]]:
    """Time and step of those files of a series that are between two times."""
    found = {}
    for path in paths:
        with reading(path, "the HDF5 file"), h5py.File(path, "r") as file:
            time, step = float(file.attrs[layout.ATTR_TIME]), int(file.attrs[layout.ATTR_STEP])
        if (begin is None or time >= begin) and (end is None or time <= end):
            found[path] = time, step
    return found


def field_series_dataset(name: str, paths: Sequence[Path], begin: float | None, end: float | None) -> xr.Dataset:
    """Three-dimensional fields (time, z, y, x), each at its own points: those of checkpoints at x_face, y_face, z_face.

    Values are read when they are used, and only those used; their hashes are not verified: `sluice verify DIR` does
    that. Coordinates: `time` and `step`.
    """
    chosen = files_between(paths, begin, end)
    if not chosen:
        raise NoBlocksError(f"{paths[0].parent}: there are no fields {name} between these times")
    first = checkpoint_dataset(next(iter(chosen)))
    for path in chosen:
        _check_alike(path, first)
    variables = {
        str(field): stored_variable(
            [str(dim) for dim in values.dims],
            [_Snapshot(path, str(field)) for path in chosen],
            values.shape,
            values.dtype,
            _attributes(str(field)),
        )
        for field, values in first.data_vars.items()
    }
    coordinates = {str(line): first[line].variable for line in first.indexes}
    coordinates |= {
        "time": variable("time", [time for time, _ in chosen.values()], *_TIME),
        "step": variable("time", [step for _, step in chosen.values()], _STEP),
    }
    attributes = {key: first.attrs[key] for key in _KEPT if key != layout.ATTR_STEP}
    first.close()
    return dataset(variables, coordinates, INSTANTS, name=name, **attributes)


def verify_fields(path: Path) -> None:
    """Compares all fields of a file with their hashes."""
    with reading(path, "the format"), h5py.File(path, "r") as file:
        file_format = str(file.attrs[layout.ATTR_FORMAT])
        shapes = {
            name: item.shape
            for name, item in file.items()
            if isinstance(item, h5py.Dataset) and item.ndim == len(layout.PROBE_FACES)
        }
    with Hdf5File(path, file_format) as verified:
        for name, shape in shapes.items():
            for _ in verified.planes(name, shape):
                pass
