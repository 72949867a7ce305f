"""XDMF files that let ParaView open planes of probes: XML that refers to the values in the parts.

A collection of all samples in time, on a grid of the points of the probe. Fields that have other numbers of points, as
positions close to each other may cause, are in a collection of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from sluice_post import layout
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.export import write_text
from sluice_post.probe_parts import Part, each_part, index_path

_DOUBLE = 8  # bytes


def _numbers(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


def _refer(parent: Element, part: Part, name: str, shape: Sequence[int], precision: int) -> None:
    """Adds a reference to a dataset of a part. The XDMF file is in the folder above that of the parts."""
    item = SubElement(parent, "DataItem", Dimensions=_numbers(shape), NumberType="Float")
    item.attrib |= {"Precision": str(precision), "Format": "HDF"}
    item.text = f"{layout.PARTS}/{part.path.name}:/{name}"


def _add_sample(collection: Element, part: Part, sample: int, precisions: dict[str, int]) -> None:
    """Adds a sample of these fields, which have equal numbers of points."""
    fields = list(precisions)
    shape = part.shape(fields[0])
    grid = SubElement(collection, "Grid", Name=collection.attrib["Name"], GridType="Uniform")
    SubElement(grid, "Time", Value=repr(float(part.time[sample])))
    SubElement(grid, "Topology", TopologyType="3DRectMesh", Dimensions=_numbers(shape))
    geometry = SubElement(grid, "Geometry", GeometryType="VXVYVZ")
    for axis in "xyz":
        line = min((layout.line_of(field, axis) for field in fields), key=len)  # the centres, if a field is there
        _refer(geometry, part, line, part.lines[line].shape, _DOUBLE)
    for field, precision in precisions.items():
        attribute = SubElement(grid, "Attribute", Name=field, AttributeType="Scalar", Center="Node")
        slab = SubElement(attribute, "DataItem", ItemType="HyperSlab", Dimensions=_numbers(shape))
        selection = SubElement(slab, "DataItem", Dimensions="3 4", NumberType="Int", Format="XML")
        selection.text = f"{sample} 0 0 0  1 1 1 1  1 {_numbers(shape)}"  # start, stride, count
        _refer(slab, part, field, (part.step.size, *shape), precision)


def _precision(part: Part, field: str) -> int:
    shape, precision = part.file.shape_of_reals(field)
    if shape != (part.step.size, *part.shape(field)):
        raise InputOutputError(f"{part.path}: the field '/{field}' does not fit its coordinates")
    return precision


def write_xdmf(directory: Path, name: str, begin: float | None, end: float | None) -> tuple[Path, int] | None:
    """Writes the XDMF file of a probe beside it: its path and the number of samples. None if it is no plane."""
    root = Element("Xdmf", Version="2.0")
    domain = SubElement(root, "Domain")
    collections: dict[tuple[int, ...], Element] = {}
    samples = 0
    for part in each_part(directory, name):
        if any(sum(count > 1 for count in part.shape(field)) < 2 for field in part.fields):
            return None
        chosen = part.within(begin, end).nonzero()[0].tolist()
        samples += len(chosen)
        precisions = {field: _precision(part, field) for field in part.fields}
        for shape in dict.fromkeys(part.shape(field) for field in part.fields):
            alike = {field: size for field, size in precisions.items() if part.shape(field) == shape}
            if shape not in collections:
                label = name if not collections else f"{name} {' '.join(alike)}"
                collections[shape] = SubElement(
                    domain, "Grid", Name=label, GridType="Collection", CollectionType="Temporal"
                )
            for sample in chosen:
                _add_sample(collections[shape], part, sample, alike)
    path = index_path(directory, name)
    if samples == 0:
        raise UsageError(f"{path}: has no samples between these times")
    ElementTree.indent(root)
    path = path.with_suffix(".xdmf")
    write_text(path, f'<?xml version="1.0"?>\n{ElementTree.tostring(root, encoding="unicode")}\n')
    return path, samples
