"""The files of a probe or a slice: NAME.h5, which lists its samples, and the parts that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import Hdf5File, reading

Key: TypeAlias = "tuple[int | slice, ...]"  # of points along z, y and x


def find_series(directory: Path, folder: str) -> list[str]:
    """The names of the probes or slices of a run."""
    return sorted(path.stem for path in (directory / folder).glob("*.h5"))


def find_probes(directory: Path) -> list[str]:
    """The names of the probes of a run."""
    return find_series(directory, layout.PROBE_FOLDER)


def index_path(directory: Path, name: str, folder: str = layout.PROBE_FOLDER) -> Path:
    """The file that lists the samples of a probe."""
    return directory / folder / f"{name}.h5"


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
        nz, ny, nx = (self.points(field, axis).size for axis in "zyx")
        return nz, ny, nx

    def points(self, field: str, axis: str) -> Array:
        """The coordinates of a field along x, y or z."""
        line = layout.line_of(field, axis)
        if line not in self.lines:
            raise InputOutputError(f"{self.path}: the dataset '/{line}' is missing; the file is damaged")
        return self.lines[line]

    def field(self, name: str) -> Array:
        """The samples of a field, (samples, nz, ny, nx)."""
        return self.file.field(name, (self.time.size, *self.shape(name)))

    def dtype(self, name: str) -> np.dtype[Any]:
        """Of the values of a field in the file."""
        return np.dtype(f"f{self.file.shape_of_reals(name)[1]}")

    def within(self, begin: float | None, end: float | None) -> NDArray[np.bool_]:
        """Which samples are between two times."""
        return (self.time >= (-np.inf if begin is None else begin)) & (self.time <= (np.inf if end is None else end))


def part_paths(directory: Path, name: str, folder: str = layout.PROBE_FOLDER) -> list[Path]:
    """The parts of a probe in the order of time."""
    is_part = re.compile(re.escape(name) + r"_\d{7,}\.h5")
    found = [path for path in (directory / folder / layout.PARTS).glob(f"{name}_*.h5") if is_part.fullmatch(path.name)]
    return sorted(found, key=lambda path: int(path.stem.rpartition("_")[2]))


def scalars_of(file: Hdf5File) -> list[str]:
    """The names of the scalars in a part; files of cases without scalars do not have the attribute."""
    return str(file.root.get(layout.ATTR_SCALARS, "")).split()


@contextmanager
def open_part(path: Path) -> Iterator[Part]:
    """A part by its path."""
    with Hdf5File(path, layout.PROBE_PART_FORMAT) as file:
        step = file.integers("step")
        yield Part(
            path,
            file,
            step,
            file.reals("time", step.size),
            {line: file.line(line) for line in layout.PROBE_LINES if line in file},
            [field for field in (*layout.PROBE_FIELDS, *scalars_of(file)) if field in file],
        )


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
        with open_part(path) as part:
            if before is not None and not _is_alike(part, before):
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
        with open_part(self.path) as part:
            if part.time.size < self.first + self.count:
                raise InputOutputError(f"{self.path}: a restart has cut it while it was read")
            shape = (part.time.size, *part.shape(self.field))
            if self._verified == state:
                return part.file.some(self.field, shape, key)
            values = part.field(self.field)
            self._verified = state
            return np.asarray(values[key], part.dtype(self.field))


@dataclass(frozen=True)
class Series:
    """The samples of a probe or a slice between two times; the values of its fields are still in the parts."""

    time: Array
    step: NDArray[np.int64]
    fields: dict[str, list[Stretch]]
    shapes: dict[str, tuple[int, int, int]]  # numbers of points along z, y and x
    dtypes: dict[str, np.dtype[Any]]
    coordinates: dict[str, Array]


def find_samples(directory: Path, name: str, folder: str, begin: float | None, end: float | None) -> Series:
    """The samples between two times, in the order of time."""
    times: list[Array] = [np.empty(0)]
    steps: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    found = Series(times[0], steps[0], {}, {}, {}, {})
    for part in each_part(directory, name, folder):
        chosen = np.flatnonzero(part.within(begin, end))
        if np.any(np.diff(part.time) < 0):
            raise InputOutputError(f"{part.path}: its times do not increase; the file is damaged")
        found.coordinates.update(part.lines)
        for of in part.fields:
            found.shapes[of], found.dtypes[of] = part.shape(of), part.dtype(of)
            stretches = found.fields.setdefault(of, [])
            if chosen.size:
                stretches.append(Stretch(part.path, of, int(chosen[0]), chosen.size))
        times.append(part.time[chosen])
        steps.append(part.step[chosen])
    return replace(found, time=np.concatenate(times), step=np.concatenate(steps))


@dataclass(frozen=True)
class Samples:
    """Samples of a probe or a slice. `fields[name]` has the shape (samples, nz, ny, nx)."""

    time: Array
    step: NDArray[np.int64]
    fields: dict[str, Array]
    coordinates: dict[str, Array]


def read_samples(directory: Path, name: str, folder: str, begin: float | None, end: float | None) -> Samples:
    """The samples between two times, read from the parts, which have hashes."""
    found = find_samples(directory, name, folder, begin, end)
    fields = {}
    for of, stretches in found.fields.items():
        values = [stretch.read(slice(0, stretch.count), ()) for stretch in stretches]
        fields[of] = np.concatenate([np.empty((0, *found.shapes[of])), *values])
    return Samples(found.time, found.step, fields, found.coordinates)


def _is_alike(part: Part, other: Part) -> bool:
    return (
        part.fields == other.fields
        and part.lines.keys() == other.lines.keys()
        and all(np.array_equal(part.lines[line], other.lines[line]) for line in part.lines)
    )
