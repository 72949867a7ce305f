"""Slices: all times of a slice, and the picture of the streaks near the wall."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import Hdf5File
from sluice_post.probe_parts import Part, find_series, index_path, open_part, part_paths

T = TypeVar("T")

STREAK_HEIGHT = 15.0  # z+ at which streaks are most vivid: the peak of u'


def label_of(path: Path) -> str:
    """The slice that a part belongs to, such as z0.083."""
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
        (length * extent(plane.x), length * extent(plane.y)),
        float(np.ceil(largest * 2) / 2) if scaled and largest > 0.5 else largest,
        scaled,
        length * (min(plane.at, height - plane.at) if height > 0 else plane.at),
        height > 0 and plane.at > height / 2,
    )


def extent(centres: Array) -> float:
    """Of equal cells, from their centres."""
    spacing = centres[1] - centres[0] if len(centres) > 1 else 1.0
    return float(centres[-1] - centres[0] + spacing)


def _slice(part: Part) -> Slice:
    x, y, z = (part.points(layout.SLICE_FIELD, axis) for axis in "xyz")
    # The plane shown is that of the cells nearest to the coordinate asked for.
    return Slice(part.path, float(part.time[-1]), float(z[0]), x, y, part.field(layout.SLICE_FIELD)[-1, 0])


def _has_streaks(part: Part) -> bool:
    return part.file.value(layout.SLICE_NORMAL) == "z" and layout.SLICE_FIELD in part.fields


def read_slice(path: Path) -> Slice | Plane:
    """The last time in a part of a slice: of u, else of its first field. A Slice is of u and normal to z."""
    with open_part(path) as part:
        return _slice(part) if _has_streaks(part) else _plane(part)


def _latest(directory: Path, read: Callable[[Part], T | None]) -> tuple[list[T], list[str]]:
    """What is read from the latest intact part of each slice, and what went wrong."""
    found, problems = [], []
    labels = slice_labels(directory)
    if len(labels) < len(find_series(directory, layout.SLICE_FOLDER)):
        folder = directory / layout.SLICE_FOLDER
        problems.append(f"{folder}: files of an earlier version, which have one time each, are not read")
    for label in labels:
        paths = part_paths(directory, label, layout.SLICE_FOLDER)
        if not paths:
            joined = index_path(directory, label, layout.SLICE_FOLDER)
            problems.append(f"{joined}: the parts that it joins are missing in {joined.parent / layout.PARTS}")
        for path in reversed(paths):
            try:
                with open_part(path) as part:
                    latest = read(part)
            except InputOutputError as error:
                problems.append(str(error))
                continue
            if latest is not None:
                found.append(latest)
            break
    return found, problems


def latest_streak_slice(directory: Path, height: float, plus: float | None) -> tuple[Slice | None, list[str]]:
    """The latest z-normal slice of u on the plane nearest to z+ = 15 of either wall, and what went wrong.

    `height` is Lz; `plus` is u_tau/nu, without which the plane nearest to a wall is taken.
    """

    def streaks(part: Part) -> Slice | None:
        return _slice(part) if _has_streaks(part) else None

    def preference(plane: Slice) -> float:
        distance = min(plane.at, height - plane.at) if height > 0 else plane.at
        return distance if plus is None else abs(np.log(max(distance * plus, 1e-3) / STREAK_HEIGHT))

    found, problems = _latest(directory, streaks)
    best = min(found, key=lambda plane: (round(preference(plane), 6), -plane.time), default=None)
    return best, problems


@dataclass(frozen=True)
class Plane:
    """The latest time of any field of a slice: `values[m, n]` at (up[m], along[n])."""

    label: str
    normal: str
    at: float
    time: float
    field: str
    along: Array
    up: Array  # z; y if the slice is normal to z
    values: Array


def _plane(part: Part) -> Plane:
    normal = str(part.file.value(layout.SLICE_NORMAL))
    found = next(iter(part.fields), None)
    if normal not in ("x", "y", "z") or found is None:
        raise InputOutputError(f"{part.path}: is not a part of a slice; the file is damaged")
    x, y, z = (part.points(found, axis) for axis in "xyz")
    at, along, up = {"x": (x[0], y, z), "y": (y[0], x, z), "z": (z[0], x, y)}[normal]
    values = part.field(found)[-1].reshape(up.size, along.size)
    return Plane(label_of(part.path), normal, float(at), float(part.time[-1]), found, along, up, values)


def latest_planes(directory: Path) -> tuple[list[Plane], list[str]]:
    """The latest intact slice normal to x or y of each label: of u, else of its first field; and what went wrong."""

    def cross_section(part: Part) -> Plane | None:
        return _plane(part) if part.file.value(layout.SLICE_NORMAL) != "z" else None

    return _latest(directory, cross_section)


@dataclass(frozen=True)
class SliceSeries:
    """Times of one slice; `fields[name]` is (time, nz, ny, nx) with one point along the normal."""

    normal: str
    at: float  # the coordinate asked for
    time: Array
    step: NDArray[np.int64]
    fields: dict[str, Array]
    coordinates: dict[str, Array]  # x, x_face, ... of the points


def slice_labels(directory: Path) -> list[str]:
    """The labels of the slices of a run, such as z0.083; files that earlier versions wrote, one a time, have none."""
    found = find_series(directory, layout.SLICE_FOLDER)
    return [label for label in found if not re.search(r"_\d{7,}$", label)]


def plane_of(directory: Path, label: str) -> tuple[str, float]:
    """The normal of a slice and the coordinate asked for."""
    with Hdf5File(index_path(directory, label, layout.SLICE_FOLDER), layout.PROBE_FORMAT) as index:
        return str(index.value(layout.SLICE_NORMAL)), float(index.value(layout.SLICE_AT))


def some_slices(directory: Path, label: str, end: float, count: int, problems: list[str]) -> Iterator[SliceSeries]:
    """At most `count` times of a slice, evenly spread from the first to `end`: a series of one time each.

    Those of a damaged part are left out, and `problems` says why.
    """
    found: list[tuple[Path, int]] = []  # of each time, its part and its number there
    for path in part_paths(directory, label, layout.SLICE_FOLDER):
        try:
            with open_part(path) as part:
                found += [(path, n) for n in np.flatnonzero(part.within(None, end)).tolist()]
        except InputOutputError as error:
            problems.append(str(error))
    chosen = np.unique(np.linspace(0, len(found) - 1, min(count, len(found))).round().astype(int))
    for path, group in groupby((found[n] for n in chosen), key=lambda entry: entry[0]):
        entries = list(group)
        try:
            with open_part(path) as part:
                normal, at = (str(part.file.value(layout.SLICE_NORMAL)), float(part.file.value(layout.SLICE_AT)))
                if part.time.size <= max(n for _, n in entries):
                    raise InputOutputError(f"{path}: a restart has cut it while it was read")
                fields = {field: part.field(field) for field in part.fields}
                for _, n in entries:
                    planes = {field: values[[n]] for field, values in fields.items()}
                    yield SliceSeries(normal, at, part.time[[n]], part.step[[n]], planes, part.lines)
        except InputOutputError as error:
            problems.append(str(error))
