"""Files of quantities at cell centres, as output.fields of a case has them written: HDF5, and XDMF for ParaView."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.center_fields import CENTER_QUANTITIES, quantity_named
from sluice_post.checkpoint import Checkpoint
from sluice_post.child_process import write_whole
from sluice_post.errors import UsageError
from sluice_post.hashes import byte_hash, field_hash, values_hash
from sluice_post.hdf5_file import Hdf5File, Values, append_metadata_hash
from sluice_post.xdmf import write_fields_xdmf

Cells = dict[str, NDArray[np.int64]]  # the chosen ones along each axis

_DIRECTIONS = {"x": "streamwise", "y": "spanwise", "z": "wall-normal"}
_LINES = {
    "": "coordinate of cell centres",
    "_face": "coordinate of the upper face of each cell",
    "_node": "coordinate of all faces",
}


@dataclass(frozen=True)
class Choice:
    """What is written: quantities, every how many cells, and between which coordinates along an axis.

    `compression`: level of gzip from 1 to 9, or None.
    """

    fields: Sequence[str] = ("velocity", "q")
    precision: str = "single"
    stride: tuple[int, int, int] = (1, 1, 1)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    compression: int | None = None

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Of the values in the file."""
        return np.dtype("float32" if self.precision == "single" else "float64")

    def cells(self, axis: str, centers: Array) -> NDArray[np.int64]:
        """Every stride-th cell whose centre is in the range; the one nearest to its middle if there is none."""
        low, high = self.ranges.get(axis, (centers[0], centers[-1]))
        cells = np.flatnonzero((centers >= low) & (centers <= high))[:: self.stride["xyz".index(axis)]]
        return cells if cells.size else np.array([np.argmin(np.abs(centers - (low + high) / 2))])


def _write_grid(file: h5py.File, grid: dict[str, Array], cells: Cells) -> None:
    """The coordinates of the chosen cells."""
    total = 0
    for axis, chosen in cells.items():
        lines = {ending: grid[f"grid/{axis}{ending}"][chosen] for ending in _LINES}
        lines["_node"] = np.append(lines["_node"], lines["_face"][-1])
        for ending, meaning in _LINES.items():
            total = byte_hash(total, lines[ending].tobytes())
            dataset = file.create_dataset(f"grid/{axis}{ending}", data=lines[ending])
            dataset.attrs.update({"long_name": f"{_DIRECTIONS[axis]} {meaning} / h", "units": "1"})
            dataset.make_scale(f"{axis}{ending}")
            if ending != "_node":
                file[f"{axis}{ending}"] = dataset
    file["grid"].attrs[layout.GRID_HASH] = np.uint64(total)


def _create_fields(file: h5py.File, choice: Choice, shape: tuple[int, ...]) -> None:
    """Compressed fields are stored plane by plane."""
    compressed = {"chunks": (1, *shape[1:]), "compression": "gzip", "shuffle": True}
    options = {} if choice.compression is None else compressed | {"compression_opts": choice.compression}
    for key in choice.fields:
        for name, long_name in quantity_named(key).components.items():
            dataset = file.create_dataset(name, shape, choice.dtype, **options)
            dataset.attrs.update({"long_name": long_name, "units": "1"})
            for dimension, axis in zip(dataset.dims, "zyx", strict=True):
                dimension.attach_scale(file[f"grid/{axis}"])
                dimension.label = axis


def _write_planes(file: h5py.File, source: Checkpoint, choice: Choice, cells: Cells) -> dict[str, int]:
    """Writes all values, plane by plane; returns the hashes of the fields."""
    totals: dict[str, int] = {}
    place = {int(k): n for n, k in enumerate(cells["z"])}
    at = np.ix_(cells["y"], cells["x"])
    for k, planes in enumerate(source.planes()):
        for key in choice.fields if k in place else ():
            quantity = quantity_named(key)
            for name, values in zip(quantity.components, quantity.of(planes), strict=True):
                written = values[at].astype(choice.dtype)
                file[name][place[k]] = written
                totals[name] = totals.get(name, 0) + field_hash(written, place[k] * written.size)
    return {name: total % 2**64 for name, total in totals.items()}


def _field_ranges(file: h5py.File, names: Sequence[str]) -> NDArray[np.uint64]:
    """Begin and end of the bytes of the fields, neighbours joined."""
    pieces: list[tuple[int, int]] = []
    for dataset in (file[name] for name in names):
        if dataset.chunks is None:
            pieces.append((dataset.id.get_offset(), dataset.nbytes))
        else:
            chunks = map(dataset.id.get_chunk_info, range(dataset.id.get_num_chunks()))
            pieces += [(chunk.byte_offset, chunk.size) for chunk in chunks]
    borders: list[int] = []
    for begin, size in sorted(pieces):
        if borders and borders[-1] == begin:
            borders[-1] += size
        else:
            borders += [begin, begin + size]
    return np.array(borders, dtype=np.uint64)


def _write(source: Checkpoint, choice: Choice, path: Path) -> tuple[int, ...]:
    """Returns the numbers of cells along z, y and x."""
    cells = {axis: choice.cells(axis, source.grid[f"grid/{axis}"]) for axis in "xyz"}
    shape = tuple(cells[axis].size for axis in "zyx")
    root: Values = {layout.ATTR_FORMAT: layout.FIELDS_FORMAT, layout.ATTR_FORMAT_VERSION: layout.FORMAT_VERSION}
    for name in (layout.ATTR_VERSION, layout.ATTR_REVISION, layout.ATTR_CASE, layout.ATTR_STEP, layout.ATTR_TIME):
        root[name] = source.file.value(name)
    with h5py.File(path, "w", libver=("v108", "v108")) as file:
        _write_grid(file, source.grid, cells)
        _create_fields(file, choice, shape)
        hashes = _write_planes(file, source, choice, cells)
        for name, found in hashes.items():
            file[name].attrs[layout.HASH] = np.uint64(found)
        root[layout.ATTR_CONTENTS] = "".join(f"{name} {found:016x}\n" for name, found in sorted(hashes.items()))
        file.attrs.update(root | {layout.VALUES_HASH: np.uint64(values_hash(root))})
        file[layout.ATTR_TIME] = root[layout.ATTR_TIME]
        file[layout.ATTR_TIME].attrs.update({"long_name": "time of the fields / (h/U)", "units": "1"})
        file.flush()  # compressed planes have no place in the file before
        ranges = _field_ranges(file, list(hashes))
    append_metadata_hash(path, ranges)
    return shape


def write_fields(checkpoint: Path, choice: Choice, path: Path | None = None) -> tuple[Path, tuple[int, ...]]:
    """Writes the fields of a checkpoint, NAME.h5, and NAME.xdmf beside it; returns the path and the shape, z y x."""
    if path is not None and path.resolve() == checkpoint.resolve():
        raise UsageError(f"{path}: is the checkpoint itself; give another name")
    with Hdf5File(checkpoint, layout.CHECKPOINT_FORMAT) as file:
        source = Checkpoint(file, [name for name in choice.fields if name not in CENTER_QUANTITIES])
        step, time = int(file.value(layout.ATTR_STEP)), float(file.value(layout.ATTR_TIME))
        path = path or Path(layout.FIELDS_NAME.format(step))
        shape = write_whole(path, partial(_write, source, choice))
    quantities = {key: list(quantity_named(key).components) for key in choice.fields}
    write_fields_xdmf(path, quantities, shape, time, choice.dtype.itemsize)
    return path, shape
