"""The files of a probe or a slice: NAME.h5, which lists its samples, and the parts that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import Hdf5File

Array = NDArray[np.float64]


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

    def within(self, begin: float | None, end: float | None) -> NDArray[np.bool_]:
        """Which samples are between two times."""
        return (self.time >= (-np.inf if begin is None else begin)) & (
            self.time <= (np.inf if end is None else end)
        )


def part_paths(directory: Path, name: str, folder: str = layout.PROBE_FOLDER) -> list[Path]:
    """The parts of a probe in the order of time."""
    is_part = re.compile(re.escape(name) + r"_\d{7,}\.h5")
    found = [
        path
        for path in (directory / folder / layout.PARTS).glob(f"{name}_*.h5")
        if is_part.fullmatch(path.name)
    ]
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


@dataclass(frozen=True)
class Samples:
    """Samples of a probe or a slice. `fields[name]` has the shape (samples, nz, ny, nx)."""

    time: Array
    step: NDArray[np.int64]
    fields: dict[str, Array]
    coordinates: dict[str, Array]


def read_samples(directory: Path, name: str, folder: str, begin: float | None, end: float | None) -> Samples:
    """The samples between two times, read from the parts, which have hashes."""
    times: list[Array] = [np.empty(0)]
    steps: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    fields: dict[str, list[Array]] = {}
    coordinates: dict[str, Array] = {}
    for part in each_part(directory, name, folder):
        chosen = part.within(begin, end)
        times.append(part.time[chosen])
        steps.append(part.step[chosen])
        coordinates = part.lines
        for field in part.fields:
            values = part.field(field)
            fields.setdefault(field, []).append(values[chosen])
    joined = {field: np.concatenate(values) for field, values in fields.items()}
    return Samples(np.concatenate(times), np.concatenate(steps), joined, coordinates)


def _is_alike(part: Part, other: Part) -> bool:
    return (
        part.fields == other.fields
        and part.lines.keys() == other.lines.keys()
        and all(np.array_equal(part.lines[line], other.lines[line]) for line in part.lines)
    )
