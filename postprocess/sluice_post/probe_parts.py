"""The files of a probe: NAME.h5, which lists its samples, and the parts that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import Hdf5File

Array = NDArray[np.float64]


def find_probes(directory: Path) -> list[str]:
    """The names of the probes of a run."""
    return sorted(path.stem for path in directory.glob(layout.PROBE_PATTERN))


def index_path(directory: Path, name: str) -> Path:
    """The file that lists the samples of a probe."""
    return directory / layout.PROBE_FOLDER / f"{name}.h5"


@dataclass(frozen=True)
class Part:
    """A part, open for reading; all but its fields has been read and compared with its hashes."""

    path: Path
    file: Hdf5File
    step: NDArray[np.int64]
    time: Array
    lines: dict[str, Array]  # coordinates by name
    fields: list[str]

    def shape(self, field: str) -> tuple[int, int, int]:
        """Numbers of points of a field along z, y and x."""
        nz, ny, nx = (self.lines[layout.line_of(field, axis)].size for axis in "zyx")
        return nz, ny, nx

    def within(self, begin: float | None, end: float | None) -> NDArray[np.bool_]:
        """Which samples are between two times."""
        return (self.time >= (-np.inf if begin is None else begin)) & (
            self.time <= (np.inf if end is None else end)
        )


def _paths(directory: Path, name: str) -> list[Path]:
    is_part = re.compile(re.escape(name) + r"_\d{7,}\.h5")
    folder = directory / layout.PROBE_PARTS
    found = [path for path in folder.glob(f"{name}_*.h5") if is_part.fullmatch(path.name)]
    return sorted(found, key=lambda path: int(path.stem.rpartition("_")[2]))


def each_part(directory: Path, name: str) -> Iterator[Part]:
    """The parts in the order of time, each open until the next one is.

    An error if they do not have the same points and fields, or are not those that the probe's file lists.
    """
    with Hdf5File(index_path(directory, name), layout.PROBE_FORMAT) as index:
        listed = index.unhashed("step", (None,), "int64")
    steps: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    before: Part | None = None
    for path in _paths(directory, name):
        with Hdf5File(path, layout.PROBE_PART_FORMAT) as file:
            step = file.integers("step")
            part = Part(
                path,
                file,
                step,
                file.reals("time", step.size),
                {line: file.line(line) for line in layout.PROBE_LINES if line in file},
                [field for field in layout.PROBE_FIELDS if field in file],
            )
            if before is not None and not _is_alike(part, before):
                raise InputOutputError(f"{path}: has other points or fields than the part before")
            steps.append(step)
            before = part
            yield part
    found = np.concatenate(steps)[: listed.size]
    if not np.array_equal(found, listed):
        raise InputOutputError(
            f"{index_path(directory, name)}: the parts in {directory / layout.PROBE_PARTS} are not those that it "
            f"lists: {found.size} of {listed.size} samples are there"
        )


def _is_alike(part: Part, other: Part) -> bool:
    return (
        part.fields == other.fields
        and part.lines.keys() == other.lines.keys()
        and all(np.array_equal(part.lines[line], other.lines[line]) for line in part.lines)
    )
