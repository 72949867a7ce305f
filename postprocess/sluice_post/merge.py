"""Merging the blocks of runs into small files, statistics.h5 and those beside it, for results that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.blocks_file import BlocksFile
from sluice_post.child_process import write_whole
from sluice_post.densities import check_bins, read_densities
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.hashes import byte_hash
from sluice_post.hdf5_file import Hdf5File, append_metadata_hash, reading
from sluice_post.parameters import FlowParameters
from sluice_post.run import check_directory
from sluice_post.statistics import Blocks, read_spectra, read_statistics

# What a merged block takes from its parts, where that is not the sum.
_FIRST = (layout.TIME_BEGIN, layout.PARAMETER_SET, *layout.BIN_DATASETS)
_LAST = (layout.TIME_END, layout.STEP_END)
_SCALE_ATTRIBUTES = ("CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", layout.HASH)


def _read(path: Path) -> tuple[FlowParameters, Blocks]:
    if path.name == layout.DENSITIES_FILE:
        parameters, blocks = read_densities(path)[:2]
        check_bins(path, blocks)
        return parameters, blocks
    return (read_spectra if path.name == layout.SPECTRA_FILE else read_statistics)(path)


def _phases(path: Path) -> tuple[float, int]:
    """Period and number of bins of the averages by phase; zeros without any."""
    with Hdf5File(path, layout.STATISTICS_FORMAT) as file:
        if layout.PHASE_SAMPLES not in file:
            return 0.0, 0
        return float(file.value(layout.ATTR_PHASE_PERIOD)), file.line(layout.GRID_PHASE).size


def _differing_bins(blocks: Blocks, others: Blocks) -> str | None:
    """The name of bins of densities, or of their heights, that differ."""
    none = np.zeros((1, 0))
    pairs = {name: [of.face.get(name, none)[0] for of in (blocks, others)] for name in layout.BIN_DATASETS}
    return next((name for name, pair in pairs.items() if not np.array_equal(*pair)), None)


def _check_alike(paths: Sequence[Path]) -> None:
    """Refuses files whose blocks are not one series of samples of one flow on one grid."""
    first, before = _read(paths[0])
    flow, heights, phases = before.sampled_parameters(), before.planes_z, _phases(paths[0])
    for path, previous in zip(paths[1:], paths, strict=False):
        parameters, blocks = _read(path)
        same_grid = (parameters.cells, parameters.size) == (first.cells, first.size)
        same_heights = blocks.planes_z.keys() == heights.keys() and all(
            np.array_equal(z, heights[name]) for name, z in blocks.planes_z.items()
        )
        if not same_grid or not np.array_equal(blocks.z_face, before.z_face):
            raise UsageError(f"{path}: another grid than that of {paths[0]}")
        if not same_heights:
            raise UsageError(f"{path}: other output.spectra.heights than those of {paths[0]}")
        if _phases(path) != phases:
            raise UsageError(f"{path}: another output.statistics.phases than that of {paths[0]}")
        if blocks.sampled_parameters() != flow:
            raise UsageError(f"{path}: another flow than that of {paths[0]}: the parameters differ")
        if not len(blocks):
            continue
        if len(before) and blocks.time_begin[0] < before.time_end[-1]:
            raise UsageError(
                f"{path}: starts at t = {blocks.time_begin[0]:g}, before {previous} ends at "
                f"t = {before.time_end[-1]:g}; give the parts of one run in the order of time"
            )
        if len(before) and (name := _differing_bins(blocks, before)):
            raise UsageError(
                f"{path}: other bins ({name}) than those of {paths[0]}; only what a run continues keeps its bins"
            )
        before = blocks


def _merged(name: str, values: NDArray[np.generic], groups: Sequence[NDArray[np.intp]]) -> NDArray[np.generic]:
    if name == layout.BLOCK:
        return np.arange(len(groups), dtype=values.dtype)
    if name in _FIRST or name in _LAST:
        return values[[group[0 if name in _FIRST else -1] for group in groups]]
    return np.array([values[group].sum(axis=0) for group in groups], dtype=values.dtype)


def _copy_coordinates(last: BlocksFile, file: h5py.File) -> None:
    """Copies the group /grid, with the second names of its coordinates in the root, and the sets of parameters."""
    with reading(last.path, "the list of groups"):
        groups = [name for name, item in last.h5.items() if isinstance(item, h5py.Group)]
    for name in {"grid": None} | dict.fromkeys(groups):
        if name != "grid" and not name.startswith(f"{layout.PARAMETER_SET}_"):
            raise InputOutputError(f"{last.path}: '/{name}' is a group that no run writes; the file is damaged")
        with reading(last.path, f"the group '/{name}'"):
            if not isinstance(last.h5[name], h5py.Group):
                raise TypeError("it is not a group")
            last.h5.copy(name, file)
    for name in file["grid"]:
        last.rows(f"grid/{name}")  # verifies it
    with reading(last.path, "the group '/grid'"):
        for name, scale in file["grid"].items():
            for attribute in ("CLASS", "NAME", "REFERENCE_LIST"):
                scale.attrs.pop(attribute, None)
            file[name] = scale
            scale.make_scale(name)


def _attach_scales(path: Path, file: h5py.File) -> None:
    with reading(path, "the names of the axes"):
        for dataset in file.values():
            labels = [] if isinstance(dataset, h5py.Group) else dataset.attrs.get("DIMENSION_LABELS", [])
            for axis, label in enumerate(labels):
                if label in file and file[label] != dataset:
                    dataset.dims[axis].attach_scale(file[label])


def _joined(sources: Sequence[BlocksFile], held: Sequence[NDArray[np.bool_]], name: str) -> NDArray[np.generic]:
    """The rows of a dataset in all sources, of the blocks that hold samples."""
    parts: list[NDArray[np.generic]] = []
    for source, mask in zip(sources, held, strict=True):
        rows = source.rows(name)
        if len(rows) != mask.size:
            raise InputOutputError(f"{source.path}: '/{name}' has {len(rows)} rows, not one for each block")
        parts.append(rows[mask])
        if (rows.shape[1:], rows.dtype) != (parts[0].shape[1:], parts[0].dtype):
            raise InputOutputError(
                f"{source.path}: the dataset '/{name}' has another shape or type than in {sources[0].path}"
            )
    return np.concatenate(parts)


def _write_merged(paths: Sequence[Path], count: int | None, output: Path) -> int:
    """Writes the merged file; returns its number of blocks."""
    with ExitStack() as stack:
        sources = [stack.enter_context(BlocksFile(path)) for path in paths]
        file, last = stack.enter_context(h5py.File(output, "w")), sources[-1]
        held = [source.integers(layout.SAMPLES) > 0 for source in sources]
        total = sum(int(mask.sum()) for mask in held)
        if total == 0:
            raise InputOutputError(f"{last.path}: holds no closed block yet")
        groups = np.array_split(np.arange(total), min(count or total, total))
        with reading(last.path, "the list of datasets"):
            file.attrs.update(last.h5.attrs)
            names = [name for name, item in last.h5.items() if isinstance(item, h5py.Dataset)]
        _copy_coordinates(last, file)
        for name in names:
            if name in file:
                continue
            merged = _merged(name, _joined(sources, held, name), groups)
            written = file.create_dataset(name, data=merged)
            with reading(last.path, f"the attributes of '/{name}'"):
                attributes = {key: value for key, value in last.h5[name].attrs.items() if key not in _SCALE_ATTRIBUTES}
            written.attrs.update(attributes)
            written.attrs[layout.HASH] = np.uint64(byte_hash(0, np.ascontiguousarray(merged).tobytes()))
        if layout.BLOCK in file:
            file[layout.BLOCK].make_scale(layout.BLOCK)
        _attach_scales(last.path, file)
    append_metadata_hash(output, np.zeros(0, np.uint64))
    return len(groups)


def merge(directories: Sequence[Path], output: Path, count: int | None) -> dict[Path, int]:
    """Merges statistics.h5, and spectra.h5 and densities.h5 where all directories have one; number of blocks by path.

    `count`: blocks in the merged file, made of neighbours; None keeps them all.
    """
    written = {}
    for name in (layout.STATISTICS_FILE, layout.SPECTRA_FILE, layout.DENSITIES_FILE):
        paths = [check_directory(directory) / name for directory in directories]
        if name != layout.STATISTICS_FILE and not all(path.is_file() for path in paths):
            continue
        if output / name in paths:
            raise UsageError(f"{output / name}: would be overwritten; give another folder")
        _check_alike(paths)
        written[output / name] = write_whole(output / name, partial(_write_merged, paths, count))
    return written
