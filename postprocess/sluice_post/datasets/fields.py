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
from sluice_post.datasets.stored import in_chunks, stored_variable
from sluice_post.datasets.variables import RHO, Variables, dataset, variable
from sluice_post.errors import InputOutputError, NoBlocksError
from sluice_post.hdf5_file import Hdf5File, Key, reading
from sluice_post.probe_parts import Stretch, each_part, index_path

_FIELDS = {
    "u": ("streamwise velocity", "U"),
    "v": ("spanwise velocity", "U"),
    "w": ("wall-normal velocity", "U"),
    "p": ("pressure", f"{RHO}U^2"),
}
for _key, _scale in {"fluctuation": "U", "vorticity": "U/h", "q": "U^2/h^2", "lambda2": "U^2/h^2"}.items():
    _FIELDS |= {name: (text, _scale) for name, text in CENTER_QUANTITIES[_key].components.items()}
_TIME = ("time", "h/U")
_STEP = "number of the step"
_KEPT = (layout.ATTR_STEP, layout.ATTR_VERSION, layout.ATTR_REVISION, layout.ATTR_CASE)  # attributes
# The attribute with the name of a series, and those that its file has.
_ABOUT_SERIES = {
    layout.SLICE_FOLDER: ("label", (layout.SLICE_NORMAL, layout.SLICE_AT)),
    layout.PROBE_FOLDER: ("name", ("grid_velocity", "length_x")),
}
CHECKPOINTS = "checkpoints"  # the name of their series


def _coordinate(name: str, values: Array) -> xr.Variable:
    points = "faces" if name.endswith("_face") else "cell centres"
    return variable(name, values, f"{name[0]} of {points}", "h")


def about_field(field: str) -> tuple[str, str]:
    """Description and unit; that of a scalar is C."""
    return _FIELDS.get(field, (f"scalar {field}", "C"))


def _attributes(field: str) -> dict[str, Any]:
    return dict(zip(("long_name", "units"), about_field(field), strict=True))


def samples_dataset(directory: Path, name: str, folder: str, begin: float | None, end: float | None) -> xr.Dataset:
    """The samples of a probe or a slice between two times, maybe none, whose values stay in the parts.

    Fields (time, z, y, x), u at x_face, v at y_face, w at z_face; how many samples each part has is in their encoding.
    """
    label, keys = _ABOUT_SERIES[folder]
    with Hdf5File(index_path(directory, name, folder), layout.PROBE_FORMAT) as index:
        about = {label: name} | {key: index.value(key) for key in keys}
    variables: Variables = {}
    lines: Variables = {}
    times, steps = [np.empty(0)], [np.empty(0, dtype=np.int64)]
    stretches: dict[str, list[Stretch]] = {}
    for part in each_part(directory, name, folder):
        if np.any(np.diff(part.time) < 0):
            raise InputOutputError(f"{part.path}: its times do not increase; the file is damaged")
        chosen = part.within(begin, end)
        times.append(part.time[chosen])
        steps.append(part.step[chosen])
        for field in part.fields:
            of_field = stretches.setdefault(field, [])
            if chosen.size:
                of_field.append(Stretch(part.path, field, int(chosen[0]), chosen.size))
            dims = [layout.line_of(field, axis) for axis in "zyx"]
            shape, dtype = part.shape(field)[1:], part.dtype(field)
            variables[field] = stored_variable(dims, of_field, shape, dtype, **_attributes(field))
            lines |= {dim: _coordinate(dim, part.lines[dim]) for dim in dims}
    time = {
        "time": variable("time", np.concatenate(times), *_TIME),
        "step": variable("time", np.concatenate(steps), _STEP),
    }
    return dataset(variables, time | lines, INSTANTS, **about)


def series_dataset(directory: Path, name: str, folder: str, begin: float | None, end: float | None) -> xr.Dataset:
    """The samples of a slice or a probe: fields (time, z, y, x), u at x_face, v at y_face, w at z_face.

    Those of a slice have one point along the normal. Fields are read when they are used, and their hashes verified
    then. The points of a probe move along x with `grid_velocity`: in the laboratory they are at x + grid_velocity time.
    """
    found = samples_dataset(directory, name, folder, begin, end)
    if found.sizes["time"] == 0:
        what = "slice" if folder == layout.SLICE_FOLDER else "sample of the probe"
        raise NoBlocksError(f"{directory}: there is no {what} {name} between these times")
    return in_chunks(found)


def field_series(directory: Path) -> dict[str, list[Path]]:
    """The files of each output.fields by its name, and the checkpoints, in the order of steps.

    An output with the name of the checkpoints hides them.
    """
    found: dict[str, list[Path]] = {}
    for path in (directory / layout.FIELDS_FOLDER).glob("*.h5"):
        if (name := re.fullmatch(r"(.+)_\d{7,}", path.stem)) is not None:
            found.setdefault(name[1], []).append(path)
    if checkpoints := list(directory.glob(layout.CHECKPOINT_PATTERN)):
        found.setdefault(CHECKPOINTS, checkpoints)
    return {
        name: sorted(paths, key=lambda path: int(path.stem.rpartition("_")[2])) for name, paths in sorted(found.items())
    }


@dataclass(frozen=True)
class _FieldOfFile:
    """A field in a file of one time."""

    path: Path
    field: str
    count: int = 1

    def read(self, times: slice, points: Key) -> NDArray[Any]:
        with reading(self.path, f"the field '/{self.field}'"), h5py.File(self.path, "r") as file:
            return np.asarray(file[self.field][points])[np.newaxis][times]


def _fields_in(file: h5py.File) -> dict[str, h5py.Dataset]:
    rank = len(layout.PROBE_FACES)
    return {name: item for name, item in file.items() if isinstance(item, h5py.Dataset) and item.ndim == rank}


def checkpoint_dataset(path: Path) -> xr.Dataset:
    """The flow of one checkpoint, (z, y, x) each at its own points: u at x_face, v at y_face, w at z_face.

    Faces are the upper ones of the cells. Values are read when they are used, and their hashes are not verified:
    `sluice verify DIR` does that. Coordinate: the `time` of the flow.
    """
    fields: Variables = {}
    lines: Variables = {}
    with reading(path, "the file"), h5py.File(path, "r") as file:
        for name, item in _fields_in(file).items():
            scales = {dimension[0].name.rpartition("/")[2]: dimension[0] for dimension in item.dims}
            stored = stored_variable(
                list(scales), [_FieldOfFile(path, name)], item.shape, item.dtype, **_attributes(name)
            )
            fields[name] = stored[0]
            lines |= {line: _coordinate(line, scale[()]) for line, scale in scales.items() if line not in lines}
        time = variable((), file.attrs[layout.ATTR_TIME], *_TIME)
        attributes = {name: file.attrs[name] for name in _KEPT}
    return dataset(fields, dict(sorted(lines.items())) | {"time": time}, INSTANTS, **attributes)


def _is_like(found: xr.Dataset, other: xr.Dataset) -> bool:
    """Whether two files have the same fields and points."""
    fields, others = ({name: (v.dims, v.shape, v.dtype) for name, v in of.items()} for of in (found, other))
    return fields == others and all(np.array_equal(found[line], other[line]) for line in other.indexes)


def files_between(paths: Sequence[Path], begin: float | None, end: float | None) -> dict[Path, xr.Dataset]:
    """Those files of a series that are between two times, as checkpoint_dataset has them."""
    found = {path: checkpoint_dataset(path) for path in paths}
    first, last = -np.inf if begin is None else begin, np.inf if end is None else end
    return {path: snapshot for path, snapshot in found.items() if first <= float(snapshot.time) <= last}


def field_series_dataset(name: str, paths: Sequence[Path], begin: float | None, end: float | None) -> xr.Dataset:
    """Three-dimensional fields (time, z, y, x), each at its own points: those of checkpoints at x_face, y_face, z_face.

    Values are read when they are used, and only those used; their hashes are not verified: `sluice verify DIR` does
    that. Coordinates: `time` and `step`.
    """
    chosen = files_between(paths, begin, end)
    if not chosen:
        raise NoBlocksError(f"{paths[0].parent}: there are no fields {name} between these times")
    first = next(iter(chosen.values()))
    for path, other in chosen.items():
        if not _is_like(other, first):
            raise InputOutputError(f"{path}: has other points or fields than the first file of the series")
    variables = {}
    for field, values in first.items():
        pieces = [_FieldOfFile(path, str(field)) for path in chosen]
        dims = [str(dim) for dim in values.dims]
        variables[str(field)] = stored_variable(dims, pieces, values.shape, values.dtype, **_attributes(str(field)))
    coordinates = {str(line): first[line].variable for line in first.indexes}
    coordinates["time"] = variable("time", [float(found.time) for found in chosen.values()], *_TIME)
    coordinates["step"] = variable("time", [int(found.attrs[layout.ATTR_STEP]) for found in chosen.values()], _STEP)
    about = {key: first.attrs[key] for key in _KEPT if key != layout.ATTR_STEP}
    return in_chunks(dataset(variables, coordinates, INSTANTS, name=name, **about))


def verify_fields(path: Path) -> None:
    """Compares all fields of a file with their hashes."""
    with reading(path, "the format"), h5py.File(path, "r") as file:
        file_format = str(file.attrs[layout.ATTR_FORMAT])
        shapes = {name: item.shape for name, item in _fields_in(file).items()}
    with Hdf5File(path, file_format) as verified:
        for name, shape in shapes.items():
            for _ in verified.planes(name, shape):
                pass
