"""Files of quantities at cell centres, as output.fields of a case has them written: HDF5, and XDMF for ParaView."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import h5py
import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.center_fields import CENTER_QUANTITIES, quantity_named
from sluice_post.checkpoint import Checkpoint
from sluice_post.child_process import being_written, in_child
from sluice_post.errors import UsageError
from sluice_post.export import write_text
from sluice_post.hashes import byte_hash, field_hash, values_hash
from sluice_post.hdf5_file import Hdf5File, Values, append_metadata_hash

Range = tuple[float, float]

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
    ranges: dict[str, Range] = field(default_factory=dict)
    compression: int | None = None

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Of the values in the file."""
        return np.dtype("float32" if self.precision == "single" else "float64")

    @property
    def components(self) -> dict[str, str]:
        """The datasets and their long names."""
        return {name: text for key in self.fields for name, text in quantity_named(key).components.items()}

    def cells(self, axis: str, centers: Array) -> NDArray[np.int64]:
        """Every stride-th cell whose centre is in the range; the one nearest to its middle if there is none."""
        low, high = self.ranges.get(axis, (centers[0], centers[-1]))
        first = int(np.searchsorted(centers, low, side="left"))
        end = int(np.searchsorted(centers, high, side="right"))
        cells = np.arange(first, end, self.stride["xyz".index(axis)])
        return cells if cells.size else np.array([np.argmin(np.abs(centers - (low + high) / 2))])


def _write_grid(file: h5py.File, lines: dict[str, Array]) -> None:
    total = 0
    for axis in "xyz":
        for ending, meaning in _LINES.items():
            line = lines[f"grid/{axis}{ending}"]
            total = byte_hash(total, line.tobytes())
            dataset = file.create_dataset(f"grid/{axis}{ending}", data=line)
            dataset.attrs["long_name"] = f"{_DIRECTIONS[axis]} {meaning} / h"
            dataset.attrs["units"] = "1"
            dataset.make_scale(f"{axis}{ending}")
            if ending != "_node":
                file[f"{axis}{ending}"] = dataset
    file["grid"].attrs[layout.GRID_HASH] = np.uint64(total)


def _chosen_lines(grid: dict[str, Array], cells: dict[str, NDArray[np.int64]]) -> dict[str, Array]:
    """The coordinates of the chosen cells."""
    lines = {}
    for axis, chosen in cells.items():
        for ending in ("", "_face"):
            lines[f"grid/{axis}{ending}"] = grid[f"grid/{axis}{ending}"][chosen]
        lower = grid[f"grid/{axis}_node"][chosen]
        lines[f"grid/{axis}_node"] = np.append(lower, lines[f"grid/{axis}_face"][-1])
    return {name: lines[name] for name in layout.GRID_LINES}


def _write_planes(
    source: Checkpoint, datasets: dict[str, h5py.Dataset], choice: Choice, cells: dict[str, NDArray[np.int64]]
) -> dict[str, int]:
    """Writes all values, plane by plane; returns the hashes of the fields."""
    totals = dict.fromkeys(datasets, 0)
    place = {int(k): n for n, k in enumerate(cells["z"])}
    at = np.ix_(cells["y"], cells["x"])
    for k, planes in enumerate(source.planes()):
        if k not in place:
            continue
        for key in choice.fields:
            quantity = quantity_named(key)
            for name, values in zip(quantity.components, quantity.of(planes), strict=True):
                written = values[at].astype(choice.dtype)
                datasets[name][place[k]] = written
                totals[name] += field_hash(written, place[k] * written.size)
    return {name: total % 2**64 for name, total in totals.items()}


def _root_values(source: Checkpoint, hashes: dict[str, int]) -> Values:
    root: Values = {layout.ATTR_FORMAT: layout.FIELDS_FORMAT, layout.ATTR_FORMAT_VERSION: layout.FORMAT_VERSION}
    copied = (layout.ATTR_VERSION, layout.ATTR_REVISION, layout.ATTR_CASE, layout.ATTR_STEP, layout.ATTR_TIME)
    root |= {name: source.file.value(name) for name in copied}
    root[layout.ATTR_CONTENTS] = "".join(f"{name} {found:016x}\n" for name, found in sorted(hashes.items()))
    return root


def _create_field(file: h5py.File, name: str, shape: tuple[int, int, int], choice: Choice) -> h5py.Dataset:
    """Compressed fields are stored plane by plane."""
    if choice.compression is None:
        return file.create_dataset(name, shape, choice.dtype)
    plane = (1, *shape[1:])
    return file.create_dataset(
        name, shape, choice.dtype, chunks=plane, compression="gzip", compression_opts=choice.compression, shuffle=True
    )


def _pieces(dataset: h5py.Dataset) -> list[tuple[int, int]]:
    """Where the bytes of a field are in the file, and how many."""
    if dataset.chunks is None:
        return [(dataset.id.get_offset(), dataset.nbytes)]
    chunks = [dataset.id.get_chunk_info(n) for n in range(dataset.id.get_num_chunks())]
    return [(chunk.byte_offset, chunk.size) for chunk in chunks]


def _field_ranges(file: h5py.File, names: Sequence[str]) -> NDArray[np.uint64]:
    """Begin and end of the bytes of the fields, neighbours joined."""
    borders: list[int] = []
    for begin, size in sorted(piece for name in names for piece in _pieces(file[name])):
        if borders and borders[-1] == begin:
            borders[-1] += size
        else:
            borders += [begin, begin + size]
    return np.array(borders, dtype=np.uint64)


def _write(source: Checkpoint, choice: Choice, path: Path) -> tuple[int, int, int]:
    cells = {axis: choice.cells(axis, source.grid[f"grid/{axis}"]) for axis in "xyz"}
    shape = (cells["z"].size, cells["y"].size, cells["x"].size)
    with h5py.File(path, "w", libver=("v108", "v108")) as file:
        _write_grid(file, _chosen_lines(source.grid, cells))
        datasets = {}
        for name, long_name in choice.components.items():
            datasets[name] = _create_field(file, name, shape, choice)
            datasets[name].attrs.update({"long_name": long_name, "units": "1"})
            for dimension, axis in enumerate("zyx"):
                datasets[name].dims[dimension].attach_scale(file[f"grid/{axis}"])
                datasets[name].dims[dimension].label = axis
        hashes = _write_planes(source, datasets, choice, cells)
        for name, found in hashes.items():
            datasets[name].attrs[layout.HASH] = np.uint64(found)
        root = _root_values(source, hashes)
        file.attrs.update(root)
        file.attrs[layout.VALUES_HASH] = np.uint64(values_hash(root))
        file[layout.ATTR_TIME] = root[layout.ATTR_TIME]
        file[layout.ATTR_TIME].attrs.update({"long_name": "time of the fields / (h/U)", "units": "1"})
        file.flush()  # compressed planes have no place in the file before
        ranges = _field_ranges(file, list(datasets))
    append_metadata_hash(path, ranges)
    return shape


def write_fields(checkpoint: Path, choice: Choice, path: Path | None = None) -> tuple[Path, tuple[int, int, int]]:
    """Writes the fields of a checkpoint, NAME.h5, and NAME.xdmf beside it; returns the path and the shape, z y x."""
    if path is not None and path.resolve() == checkpoint.resolve():
        raise UsageError(f"{path}: is the checkpoint itself; give another name")
    with Hdf5File(checkpoint, layout.CHECKPOINT_FORMAT) as file:
        scalars = [name for name in choice.fields if name not in CENTER_QUANTITIES]
        source = Checkpoint(file, scalars)
        step, time = int(file.value(layout.ATTR_STEP)), float(file.value(layout.ATTR_TIME))
        path = path or Path(layout.FIELDS_NAME.format(step))
        unfinished = path.with_name(f"{path.name}.tmp")
        try:
            with being_written(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                shape = in_child(lambda: _write(source, choice, unfinished))
                unfinished.replace(path)
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
    write_text(path.with_suffix(".xdmf"), xdmf_text(path, choice, shape, time))
    return path, shape


def xdmf_text(path: Path, choice: Choice, shape: tuple[int, int, int], time: float) -> str:
    """An XDMF document: a series of one time, values at points, and vectors joined of their components."""
    root = Element("Xdmf", Version="2.0")
    series = SubElement(
        SubElement(root, "Domain"), "Grid", Name=path.stem, GridType="Collection", CollectionType="Temporal"
    )
    grid = SubElement(series, "Grid", Name=path.stem, GridType="Uniform")
    SubElement(grid, "Time", Value=repr(time))
    dimensions = " ".join(map(str, shape))
    SubElement(grid, "Topology", TopologyType="3DRectMesh", Dimensions=dimensions)
    geometry = SubElement(grid, "Geometry", GeometryType="VXVYVZ")

    def refer(parent: Element, name: str, extent: str, bytes_of_value: int) -> None:
        item = SubElement(parent, "DataItem", Dimensions=extent, NumberType="Float")
        item.attrib |= {"Precision": str(bytes_of_value), "Format": "HDF"}
        item.text = f"{path.name}:/{name}"

    for axis, count in zip("xyz", reversed(shape), strict=True):
        refer(geometry, f"grid/{axis}", str(count), 8)
    for key in sorted(choice.fields, key=lambda key: len(quantity_named(key).components) == 1):
        components = list(quantity_named(key).components)
        kind = "Scalar" if len(components) == 1 else "Vector"
        parent = SubElement(grid, "Attribute", Name=key, AttributeType=kind, Center="Node")
        if kind == "Vector":
            parent = SubElement(parent, "DataItem", ItemType="Function", Function="JOIN($0, $1, $2)")
            parent.attrib["Dimensions"] = f"{dimensions} 3"
        for name in components:
            refer(parent, name, dimensions, choice.dtype.itemsize)
    ElementTree.indent(root)
    return f'<?xml version="1.0"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
