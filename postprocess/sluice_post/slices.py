"""Slice files: all times of a slice, and the picture of the streaks near the wall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import Hdf5File

Array = NDArray[np.float64]

STREAK_HEIGHT = 15.0  # z+ at which streaks are most vivid: the peak of u'


def label_of(path: Path) -> str:
    """The slice that a file belongs to, such as z0.083."""
    return path.stem.rpartition("_")[0]


@dataclass(frozen=True)
class Slice:
    """One plane of u: `u[j, i]` at (x[i], y[j]), the plane at z = `at`."""

    path: Path
    time: float
    at: float
    x: Array
    y: Array
    u: Array


@dataclass(frozen=True)
class _Candidate:
    path: Path
    time: float
    at: float


def _candidates(directory: Path) -> tuple[list[_Candidate], list[str]]:
    found, problems = [], []
    for path in layout.find_slices(directory):
        try:
            with Hdf5File(path, layout.SLICE_FORMAT) as file:
                if file.value(layout.SLICE_NORMAL) == "z" and layout.SLICE_FIELD in file:
                    time, at = file.value(layout.SLICE_TIME), file.value(layout.SLICE_AT)
                    found.append(_Candidate(path, float(time), float(at)))
        except InputOutputError as error:
            problems.append(str(error))
    return found, problems


@dataclass(frozen=True)
class Streaks:
    """u' = u - <u> on a plane near the wall, in wall units if `scaled`, else in h and U."""

    values: Array
    size: tuple[float, float]  # of the plane along x and y
    limit: float  # of the colours
    scaled: bool
    distance: float  # from the nearest wall
    from_top: bool


def fluctuation(u: Array, plus: float | None, u_tau: float | None) -> Array:
    """u - <u> on a plane, over u_tau if that and u_tau/nu are known."""
    values: Array = u - u.mean()
    return values if plus is None or u_tau is None else values / u_tau


def streaks_of(plane: Slice, height: float, plus: float | None, u_tau: float | None) -> Streaks:
    """The streaks of a plane. `height` is Lz, `plus` is u_tau/nu: without it or u_tau, the units are h and U."""
    scaled = plus is not None and u_tau is not None
    length = plus if plus is not None and scaled else 1.0
    values = fluctuation(plane.u, plus, u_tau)
    largest = float(np.percentile(np.abs(values), 99.5)) or 1.0
    return Streaks(
        values,
        (length * _extent(plane.x), length * _extent(plane.y)),
        float(np.ceil(largest * 2) / 2) if scaled and largest > 0.5 else largest,
        scaled,
        length * (min(plane.at, height - plane.at) if height > 0 else plane.at),
        height > 0 and plane.at > height / 2,
    )


def _extent(centres: Array) -> float:
    """Of equal cells, from their centres."""
    spacing = centres[1] - centres[0] if len(centres) > 1 else 1.0
    return float(centres[-1] - centres[0] + spacing)


def read_slice(path: Path) -> Slice:
    """The plane of u in the file of a slice normal to z."""
    with Hdf5File(path, layout.SLICE_FORMAT) as file:
        time = float(file.value(layout.SLICE_TIME))
        grid = file.coordinates()
        x, y, z = (grid[name] for name in (layout.SLICE_X, layout.SLICE_Y, layout.SLICE_Z))
        u = file.field(layout.SLICE_FIELD, (1, y.size, x.size))
    # The plane shown is that of the cells nearest to the coordinate asked for.
    return Slice(path, time, float(z[0]), x, y, u[0])


def latest_streak_slice(directory: Path, height: float, plus: float | None) -> tuple[Slice | None, list[str]]:
    """The latest z-normal slice of u on the plane nearest to z+ = 15 of either wall, and what went wrong.

    `height` is Lz; `plus` is u_tau/nu, without which the plane nearest to a wall is taken.
    """
    candidates, problems = _candidates(directory)

    def wall_distance(candidate: _Candidate) -> float:
        return min(candidate.at, height - candidate.at) if height > 0 else candidate.at

    def preference(candidate: _Candidate) -> float:
        distance = wall_distance(candidate)
        return distance if plus is None else abs(np.log(max(distance * plus, 1e-3) / STREAK_HEIGHT))

    for candidate in sorted(candidates, key=lambda c: (round(preference(c), 6), -c.time)):
        try:
            return read_slice(candidate.path), problems
        except InputOutputError as error:
            problems.append(str(error))
    return None, problems


@dataclass(frozen=True)
class Plane:
    """The latest slice normal to x or y: `values[k, n]` at (z[k], along[n])."""

    label: str
    normal: str
    at: float
    time: float
    field: str
    along: Array
    z: Array
    values: Array


def read_plane(path: Path) -> Plane | None:
    """A slice normal to x or y: of u, else of its first field; None if it is normal to z."""
    with Hdf5File(path, layout.SLICE_FORMAT) as file:
        normal = str(file.value(layout.SLICE_NORMAL))
        found = next((name for name in layout.PROBE_FIELDS if name in file), None)
        if normal not in ("x", "y") or found is None:
            return None
        grid = file.coordinates()
        x, y, z = (grid[f"grid/{layout.line_of(found, axis)}"] for axis in "xyz")
        values = file.field(found, (z.size, y.size, x.size)).reshape(z.size, -1)
        at, along = (x[0], y) if normal == "x" else (y[0], x)
        time = float(file.value(layout.SLICE_TIME))
    return Plane(label_of(path), normal, float(at), time, found, along, z, values)


def latest_planes(directory: Path) -> tuple[list[Plane], list[str]]:
    """The latest intact slice normal to x or y of each label: of u, else of its first field; and what went wrong."""
    planes, problems, done = [], [], set()
    for path in reversed(layout.find_slices(directory)):
        label = label_of(path)
        if label in done:
            continue
        try:
            plane = read_plane(path)
        except InputOutputError as error:
            problems.append(str(error))
            continue
        if plane is not None:
            done.add(label)
            planes.append(plane)
    return planes[::-1], problems


@dataclass(frozen=True)
class SliceSeries:
    """All times of one slice; `fields[name]` is (time, nz, ny, nx) with one point along the normal."""

    normal: str
    at: float  # the coordinate asked for
    time: Array
    step: NDArray[np.int64]
    fields: dict[str, Array]
    coordinates: dict[str, Array]  # x, x_face, ... of the points


def slice_labels(directory: Path) -> list[str]:
    """The labels of the slices of a run, such as z0.083."""
    return sorted({label_of(path) for path in layout.find_slices(directory)})


def read_slices(
    directory: Path, label: str, begin: float | None = None, end: float | None = None
) -> SliceSeries:
    """One slice between two times, in the order of time; an error if there is none, or if one is damaged."""
    return _read_files(directory, label, _files(directory, label), begin, end)


def _files(directory: Path, label: str) -> list[Path]:
    return [path for path in layout.find_slices(directory) if label_of(path) == label]


def _read_files(
    directory: Path,
    label: str,
    chosen: list[Path],
    begin: float | None = None,
    end: float | None = None,
) -> SliceSeries:
    rows: list[tuple[float, int, dict[str, Array]]] = []
    normal, at, coordinates = "", 0.0, {}
    for path in chosen:
        with Hdf5File(path, layout.SLICE_FORMAT) as file:
            time = float(file.value(layout.SLICE_TIME))
            if time < (-np.inf if begin is None else begin) or time > (np.inf if end is None else end):
                continue
            normal, at = str(file.value(layout.SLICE_NORMAL)), float(file.value(layout.SLICE_AT))
            coordinates = {name.removeprefix("grid/"): line for name, line in file.coordinates().items()}
            fields = {}
            for field in layout.PROBE_FIELDS:
                if field in file:
                    nz, ny, nx = (coordinates[layout.line_of(field, axis)].size for axis in "zyx")
                    fields[field] = file.field(field, (nz, ny, nx))
            rows.append((time, int(file.value(layout.SLICE_STEP)), fields))
    if not rows:
        raise InputOutputError(f"{directory}: there is no slice {label} between these times")
    rows.sort(key=lambda row: row[0])
    times, steps, fields_of = zip(*rows, strict=True)
    return SliceSeries(
        normal,
        at,
        np.array(times),
        np.array(steps),
        {field: np.stack([fields[field] for fields in fields_of]) for field in fields_of[0]},
        coordinates,
    )


def some_slices(directory: Path, label: str, count: int, problems: list[str]) -> Iterator[SliceSeries]:
    """At most `count` times of a slice, evenly spread from the first to the last: a series of one time each.

    One that is damaged is left out, and `problems` says why.
    """
    paths = _files(directory, label)
    for n in np.unique(np.linspace(0, len(paths) - 1, min(count, len(paths))).round().astype(int)):
        try:
            yield _read_files(directory, label, [paths[n]])
        except InputOutputError as error:
            problems.append(str(error))
