"""Merging the blocks of runs into small files, statistics.h5 and those beside it, for results that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.blocks_file import BlocksFile
from sluice_post.child_process import being_written, in_child
from sluice_post.densities import check_bins, read_densities
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.hashes import byte_hash
from sluice_post.hdf5_file import Hdf5File, append_metadata_hash, reading
from sluice_post.parameters import FlowParameters
from sluice_post.statistics import Blocks, read_spectra, read_statistics

# What a merged block takes from its parts, where that is not the sum.
_FIRST = (layout.TIME_BEGIN, layout.PARAMETER_SET, *layout.BIN_DATASETS)
_LAST = (layout.TIME_END, layout.STEP_END)
_SCALE_ATTRIBUTES = ("CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", layout.HASH)


def _read(path: Path) -> tuple[FlowParameters, Blocks]:
    if path.name == layout.DENSITIES_FILE:
        return read_densities(path)[:2]
    return (read_spectra if path.name == layout.SPECTRA_FILE else read_statistics)(path)


def _phases(path: Path) -> tuple[float, int]:
    """Period and number of bins of the averages by phase; zeros without any."""
    with Hdf5File(path, layout.STATISTICS_FORMAT) as file:
        if layout.PHASE_SAMPLES not in file:
            return 0.0, 0
        return float(file.value(layout.ATTR_PHASE_PERIOD)), file.line(layout.GRID_PHASE).size


def _check_bins_alike(path: Path, blocks: Blocks, first_path: Path, first: Blocks) -> None:
    """Refuses densities in other bins, or at other heights, than those of the first file."""

    def bins(of: Blocks, name: str) -> NDArray[np.float64]:
        return of.face[name][0] if name in of.face else np.zeros(0)

    for name in layout.BIN_DATASETS:
        if not np.array_equal(bins(blocks, name), bins(first, name)):
            raise UsageError(
                f"{path}: other bins ({name}) than those of {first_path}; only what a run continues keeps its bins"
            )


def _check_alike(paths: Sequence[Path]) -> None:
    """Refuses files whose blocks are not one series of samples of one flow on one grid."""
    first, before = _read(paths[0])
    before.sampled_parameters()
    check_bins(paths[0], before)
    for path, previous in zip(paths[1:], paths, strict=False):
        parameters, blocks = _read(path)
        same_grid = (parameters.cells, parameters.size) == (first.cells, first.size)
        if not same_grid or not np.array_equal(blocks.z_face, before.z_face):
            raise UsageError(f"{path}: another grid than that of {paths[0]}")
        same_heights = blocks.planes_z.keys() == before.planes_z.keys() and all(
            np.array_equal(z, before.planes_z[name]) for name, z in blocks.planes_z.items()
        )
        if not same_heights:
            raise UsageError(f"{path}: other output.spectra.heights than those of {paths[0]}")
        if _phases(path) != _phases(paths[0]):
            raise UsageError(f"{path}: another output.statistics.phases than that of {paths[0]}")
        if blocks.sampled_parameters() != before.sampled_parameters():
            raise UsageError(f"{path}: another flow than that of {paths[0]}: the parameters differ")
        if len(blocks) and len(before) and blocks.time_begin[0] < before.time_end[-1]:
            raise UsageError(
                f"{path}: starts at t = {blocks.time_begin[0]:g}, before {previous} ends at "
                f"t = {before.time_end[-1]:g}; give the parts of one run in the order of time"
            )
        check_bins(path, blocks)
        if len(before) and len(blocks):
            _check_bins_alike(path, blocks, paths[0], before)
        if len(blocks):
            before = blocks


def _merged(name: str, values: NDArray[np.generic], groups: Sequence[NDArray[np.intp]]) -> NDArray[np.generic]:
    if name == layout.BLOCK:
        return np.arange(len(groups), dtype=values.dtype)
    if name in _FIRST:
        return values[[group[0] for group in groups]]
    if name in _LAST:
        return values[[group[-1] for group in groups]]
    return np.array([values[group].sum(axis=0) for group in groups], dtype=values.dtype)


def _copy_grid(last: Hdf5File, file: h5py.File) -> None:
    """Copies the coordinates, with their second names in the root."""
    last.copy_group("grid", file)
    for name in file["grid"]:
        last.rows(f"grid/{name}")  # verifies it
    with reading(last.path, "the group '/grid'"):
        for scale in file["grid"].values():
            for attribute in ("CLASS", "NAME", "REFERENCE_LIST"):
                scale.attrs.pop(attribute, None)
            name = scale.name.rsplit("/", 1)[1]
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
    parts = []
    for source, mask in zip(sources, held, strict=True):
        rows = source.rows(name)
        if len(rows) != mask.size:
            raise InputOutputError(f"{source.path}: '/{name}' has {len(rows)} rows, not one for each block")
        parts.append(rows[mask])
    for source, part in zip(sources, parts, strict=True):
        if (part.shape[1:], part.dtype) != (parts[0].shape[1:], parts[0].dtype):
            raise InputOutputError(
                f"{source.path}: the dataset '/{name}' has another shape or type than in {sources[0].path}"
            )
    return np.concatenate(parts)


def _write_merged(sources: Sequence[BlocksFile], file: h5py.File, count: int | None) -> int:
    """Writes everything but the hash of the metadata; returns the number of blocks."""
    last = sources[-1]
    held = [source.integers(layout.SAMPLES) > 0 for source in sources]
    total = sum(int(mask.sum()) for mask in held)
    if total == 0:
        raise InputOutputError(f"{last.path}: holds no closed block yet")
    groups = np.array_split(np.arange(total), min(count or total, total))
    file.attrs.update(last.attributes("/"))
    _copy_grid(last, file)
    for name in last.groups():
        if name.startswith(f"{layout.PARAMETER_SET}_"):
            last.copy_group(name, file)
        elif name not in file:
            raise InputOutputError(f"{last.path}: '/{name}' is a group that no run writes; the file is damaged")
    for name in last.datasets():
        if name in file:
            continue
        merged = _merged(name, _joined(sources, held, name), groups)
        written = file.create_dataset(name, data=merged)
        for attribute, value in last.attributes(name).items():
            if attribute not in _SCALE_ATTRIBUTES:
                written.attrs[attribute] = value
        written.attrs[layout.HASH] = np.uint64(byte_hash(0, np.ascontiguousarray(merged).tobytes()))
    if layout.BLOCK in file:
        file[layout.BLOCK].make_scale(layout.BLOCK)
    _attach_scales(last.path, file)
    return len(groups)


def _write(paths: Sequence[Path], output: Path, count: int | None) -> int:
    """Writes the merged file; returns its number of blocks."""
    unfinished = output.with_name(f"{output.name}.tmp")

    def write() -> int:
        with ExitStack() as stack:
            sources = [stack.enter_context(BlocksFile(path)) for path in paths]
            with h5py.File(unfinished, "w") as file:
                return _write_merged(sources, file, count)

    try:
        with being_written(output):
            blocks = in_child(write)
            append_metadata_hash(unfinished, np.zeros(0, np.uint64))
            unfinished.replace(output)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return blocks


def merge(directories: Sequence[Path], output: Path, count: int | None) -> dict[Path, int]:
    """Merges statistics.h5, and spectra.h5 and densities.h5 where all directories have one; number of blocks by path.

    `count`: blocks in the merged file, made of neighbours; None keeps them all.
    """
    written = {}
    for name in (layout.STATISTICS_FILE, layout.SPECTRA_FILE, layout.DENSITIES_FILE):
        paths = [directory / name for directory in directories]
        if name != layout.STATISTICS_FILE and not all(path.is_file() for path in paths):
            continue
        if output / name in paths:
            raise UsageError(f"{output / name}: would be overwritten; give another folder")
        _check_alike(paths)
        output.mkdir(parents=True, exist_ok=True)
        written[output / name] = _write(paths, output / name, count)
    return written
