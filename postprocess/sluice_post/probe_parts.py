"""The files of a probe or a slice: NAME.h5, which lists its samples, and the parts that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import Hdf5File, Key, reading


def find_series(directory: Path, folder: str) -> list[str]:
    """The names of the probes or slices of a run."""
    return sorted(path.stem for path in (directory / folder).glob("*.h5"))


def index_path(directory: Path, name: str, folder: str = layout.PROBE_FOLDER) -> Path:
    """The file that lists the samples of a probe."""
    return directory / folder / f"{name}.h5"


class Part(Hdf5File):
    """A part, open for reading; all but its fields has been read and compared with its hashes.

    `step`, `time`: of its samples; `lines`: coordinates by name; `fields`: names.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, layout.PROBE_PART_FORMAT)

    def _prepare(self) -> None:
        self.step = self.integers("step")
        self.time = self.reals("time", self.step.size)
        self.lines = {line: self.line(line) for line in layout.PROBE_LINES if line in self}
        scalars = str(self.root.get(layout.ATTR_SCALARS, "")).split()  # files without scalars do not have the attribute
        self.fields = [field for field in (*layout.PROBE_FIELDS, *scalars) if field in self]

    def points(self, field: str, axis: str) -> Array:
        """The coordinates of a field along x, y or z."""
        line = layout.line_of(field, axis)
        if line not in self.lines:
            raise InputOutputError(f"{self.path}: the dataset '/{line}' is missing; the file is damaged")
        return self.lines[line]

    def shape(self, field: str) -> tuple[int, ...]:
        """Numbers of samples and of points of a field along z, y and x."""
        return self.time.size, *(self.points(field, axis).size for axis in "zyx")

    def dtype(self, field: str) -> np.dtype[Any]:
        """Of the values of a field in the file, whose shape is verified."""
        found: np.dtype[Any] = self.dataset(field, self.shape(field), "float32", "float64").dtype.newbyteorder("=")
        return found

    def values_of(self, field: str) -> Array:
        """The samples of a field, (samples, nz, ny, nx)."""
        return self.field(field, self.shape(field))

    def within(self, begin: float | None, end: float | None) -> NDArray[np.intp]:
        """The numbers of the samples between two times."""
        after = self.time >= (-np.inf if begin is None else begin)
        return np.flatnonzero(after & (self.time <= (np.inf if end is None else end)))


def part_paths(directory: Path, name: str, folder: str = layout.PROBE_FOLDER) -> list[Path]:
    """The parts of a probe in the order of time."""
    is_part = re.compile(re.escape(name) + r"_\d{7,}\.h5")
    found = [path for path in (directory / folder / layout.PARTS).glob(f"{name}_*.h5") if is_part.fullmatch(path.name)]
    return sorted(found, key=lambda path: int(path.stem.rpartition("_")[2]))


def each_part(directory: Path, name: str, folder: str = layout.PROBE_FOLDER) -> Iterator[Part]:
    """The parts in the order of time, each open until the next one is.

    An error if they do not have the same points and fields, or are not those that the probe's file lists.
    """
    path_of_index = index_path(directory, name, folder)
    with Hdf5File(path_of_index, layout.PROBE_FORMAT) as index:
        listed = index.unhashed("step", (None,), "int64")
    steps: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    before: Part | None = None
    for path in part_paths(directory, name, folder):
        with Part(path) as part:
            if before is not None and (part.fields != before.fields or not _same_lines(part.lines, before.lines)):
                raise InputOutputError(f"{path}: has other points or fields than the part before")
            steps.append(part.step)
            before = part
            yield part
    found = np.concatenate(steps)[: listed.size]
    if not np.array_equal(found, listed):
        raise InputOutputError(
            f"{path_of_index}: the parts in {path_of_index.parent / layout.PARTS} are not those that it "
            f"lists: {found.size} of {listed.size} samples are there"
        )


def _same_lines(lines: dict[str, Array], others: dict[str, Array]) -> bool:
    return lines.keys() == others.keys() and all(np.array_equal(lines[name], others[name]) for name in lines)


@dataclass
class Stretch:
    """Consecutive samples of a field in one part. The first reading verifies all samples of the part."""

    path: Path
    field: str
    first: int
    count: int
    _verified: tuple[int, ...] = ()  # state of the file that has its hash

    def read(self, times: slice, points: Key) -> NDArray[Any]:
        """Some of the samples, counted from `first`, at some points, as they are stored."""
        key = (slice(self.first + times.start, self.first + times.stop, times.step), *points)
        with reading(self.path, "the file"):
            about = self.path.stat()
        state = about.st_ino, about.st_size, about.st_mtime_ns
        with Part(self.path) as part:
            if part.time.size < self.first + self.count:
                raise InputOutputError(f"{self.path}: a restart has cut it while it was read")
            if self._verified == state:
                return part.some(self.field, part.shape(self.field), key)
            values = part.values_of(self.field)
            self._verified = state
            return np.asarray(values[key], part.dtype(self.field))
