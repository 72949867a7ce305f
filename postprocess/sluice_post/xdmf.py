"""XDMF files, which let ParaView open fields and probes: XML that refers to values in HDF5 files.

A document has collections of grids in time. Grids are of points, with values at the points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from sluice_post.errors import UsageError
from sluice_post.export import write_text
from sluice_post.layout import PARTS, line_of
from sluice_post.probe_parts import Part, each_part, index_path

_DOUBLE = 8  # bytes


def _numbers(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


def _refer(parent: Element, place: str, shape: Sequence[int], precision: int) -> None:
    """Adds a reference to a dataset of real numbers. `place`: file:/name."""
    item = SubElement(parent, "DataItem", Dimensions=_numbers(shape), NumberType="Float")
    item.attrib |= {"Precision": str(precision), "Format": "HDF"}
    item.text = place


def _collection(domain: Element, name: str) -> Element:
    return SubElement(domain, "Grid", Name=name, GridType="Collection", CollectionType="Temporal")


def _add_grid(collection: Element, time: float, shape: Sequence[int], lines: Sequence[str]) -> Element:
    """A grid of one time. `shape`: points along z, y and x; `lines`: the places of x, y and z."""
    grid = SubElement(collection, "Grid", Name=collection.attrib["Name"], GridType="Uniform")
    SubElement(grid, "Time", Value=repr(time))
    SubElement(grid, "Topology", TopologyType="3DRectMesh", Dimensions=_numbers(shape))
    geometry = SubElement(grid, "Geometry", GeometryType="VXVYVZ")
    for line, count in zip(lines, reversed(shape), strict=True):
        _refer(geometry, line, [count], _DOUBLE)
    return grid


def _write(path: Path, root: Element) -> None:
    ElementTree.indent(root)
    write_text(path, f'<?xml version="1.0"?>\n{ElementTree.tostring(root, encoding="unicode")}\n')


def write_fields_xdmf(
    path: Path, quantities: Mapping[str, Sequence[str]], shape: Sequence[int], time: float, precision: int
) -> None:
    """Writes NAME.xdmf beside the fields NAME.h5 of one time; vectors are joined of their components."""
    root = Element("Xdmf", Version="2.0")
    lines = [f"{path.name}:/grid/{axis}" for axis in "xyz"]
    grid = _add_grid(_collection(SubElement(root, "Domain"), path.stem), time, shape, lines)
    for quantity, components in sorted(quantities.items(), key=lambda item: len(item[1]) == 1):
        kind = "Scalar" if len(components) == 1 else "Vector"
        parent = SubElement(grid, "Attribute", Name=quantity, AttributeType=kind, Center="Node")
        if kind == "Vector":
            parent = SubElement(parent, "DataItem", ItemType="Function", Function="JOIN($0, $1, $2)")
            parent.attrib["Dimensions"] = _numbers([*shape, 3])
        for name in components:
            _refer(parent, f"{path.name}:/{name}", shape, precision)
    _write(path.with_suffix(".xdmf"), root)


def _add_sample(collection: Element, part: Part, sample: int, fields: Sequence[str]) -> None:
    """Adds a sample of these fields, which have equal numbers of points. The file is in the folder above the parts."""
    shape = part.shape(fields[0])
    # The centres along an axis, if a field is there.
    lines = [min((line_of(field, axis) for field in fields), key=len) for axis in "xyz"]
    places = [f"{PARTS}/{part.path.name}:/{line}" for line in lines]
    grid = _add_grid(collection, float(part.time[sample]), shape[1:], places)
    for field in fields:
        attribute = SubElement(grid, "Attribute", Name=field, AttributeType="Scalar", Center="Node")
        slab = SubElement(attribute, "DataItem", ItemType="HyperSlab", Dimensions=_numbers(shape[1:]))
        selection = SubElement(slab, "DataItem", Dimensions="3 4", NumberType="Int", Format="XML")
        selection.text = f"{sample} 0 0 0  1 1 1 1  1 {_numbers(shape[1:])}"  # start, stride, count
        _refer(slab, f"{PARTS}/{part.path.name}:/{field}", shape, part.dtype(field).itemsize)


def write_probe_xdmf(directory: Path, name: str, begin: float | None, end: float | None) -> tuple[Path, int] | None:
    """Writes the XDMF file of a probe beside it: its path and the number of samples. None if it is no plane.

    Fields that have other numbers of points, as positions close to each other may cause, are in a collection of their
    own.
    """
    root = Element("Xdmf", Version="2.0")
    domain = SubElement(root, "Domain")
    collections: dict[tuple[int, ...], Element] = {}
    samples = 0
    for part in each_part(directory, name):
        points = {field: part.shape(field)[1:] for field in part.fields}
        if any(sum(count > 1 for count in shape) < 2 for shape in points.values()):
            return None
        chosen = part.within(begin, end).tolist()
        samples += len(chosen)
        for shape in dict.fromkeys(points.values()):
            alike = [field for field in points if points[field] == shape]
            if shape not in collections:
                collections[shape] = _collection(domain, f"{name} {' '.join(alike)}" if collections else name)
            for sample in chosen:
                _add_sample(collections[shape], part, sample, alike)
    path = index_path(directory, name)
    if samples == 0:
        raise UsageError(f"{path}: has no samples between these times")
    _write(path.with_suffix(".xdmf"), root)
    return path.with_suffix(".xdmf"), samples
