"""Slices: the newest time of each, some times of one, and the streaks near the wall."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError
from sluice_post.probe_parts import Part, find_series, index_path, part_paths

STREAK_HEIGHT = 15.0  # z+ at which streaks are most vivid: the peak of u'


def label_of(path: Path) -> str:
    """The slice that a part belongs to, such as z0.083."""
    return path.stem.rpartition("_")[0]


@dataclass(frozen=True)
class Plane:
    """A field of a slice at one time: `values[m, n]` at (up[m], along[n]), on the plane `at` of its normal."""

    path: Path
    normal: str
    at: float
    time: float
    field: str
    along: Array
    up: Array  # z; y if the slice is normal to z
    values: Array

    @property
    def label(self) -> str:
        """The name of the slice."""
        return label_of(self.path)


class Slice(Plane):
    """u on a plane normal to z, where streaks are seen."""


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


def _distance(plane: Plane, height: float) -> float:
    """From the nearest wall; `height`: Lz, 0 if it is not known."""
    return min(plane.at, height - plane.at) if height > 0 else plane.at


def streaks_of(plane: Slice, height: float, plus: float | None, u_tau: float | None) -> Streaks:
    """The streaks of a plane. `height` is Lz, `plus` is u_tau/nu: without it or u_tau, the units are h and U."""
    scaled = plus is not None and u_tau is not None
    length = plus if plus is not None and scaled else 1.0
    values = fluctuation(plane.values, plus, u_tau)
    largest = float(np.percentile(np.abs(values), 99.5)) or 1.0
    return Streaks(
        values,
        (length * extent(plane.along), length * extent(plane.up)),
        float(np.ceil(largest * 2) / 2) if scaled and largest > 0.5 else largest,
        scaled,
        length * _distance(plane, height),
        height > 0 and plane.at > height / 2,
    )


def extent(centres: Array) -> float:
    """Of equal cells, from their centres."""
    spacing = centres[1] - centres[0] if len(centres) > 1 else 1.0
    return float(centres[-1] - centres[0] + spacing)


def _plane(part: Part, field: str, values: Array, sample: int) -> Plane:
    """One sample of all `values` of a field, on the cells nearest to the plane asked for."""
    normal = str(part.value(layout.SLICE_NORMAL))
    if normal not in ("x", "y", "z"):
        raise InputOutputError(f"{part.path}: is not a part of a slice; the file is damaged")
    lines = {axis: part.points(field, axis) for axis in "xyz"}
    at = float(lines.pop(normal)[0])
    along, up = lines.values()
    kind = Slice if normal == "z" and field == layout.SLICE_FIELD else Plane
    time, shape = float(part.time[sample]), (up.size, along.size)
    return kind(part.path, normal, at, time, field, along, up, values[sample].reshape(shape))


def _newest(part: Part) -> Plane:
    """The last time of the first field, which is u if it is there."""
    if not part.fields:
        raise InputOutputError(f"{part.path}: is not a part of a slice; the file is damaged")
    return _plane(part, part.fields[0], part.values_of(part.fields[0]), -1)


def read_slice(path: Path) -> Plane:
    """The last time in a part of a slice: of u, else of its first field. A Slice is of u and normal to z."""
    with Part(path) as part:
        return _newest(part)


def _latest(directory: Path, wanted: Callable[[Part], bool]) -> tuple[list[Plane], list[str]]:
    """The newest plane in the latest intact part of each slice that is wanted, and what went wrong."""
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
                with Part(path) as part:
                    found += [_newest(part)] if wanted(part) else []
                break
            except InputOutputError as error:
                problems.append(str(error))
    return found, problems


def latest_streak_slice(directory: Path, height: float, plus: float | None) -> tuple[Slice | None, list[str]]:
    """The latest z-normal slice of u on the plane nearest to z+ = 15 of either wall, and what went wrong.

    `height` is Lz; `plus` is u_tau/nu, without which the plane nearest to a wall is taken.
    """

    def preference(plane: Plane) -> float:
        distance = _distance(plane, height)
        return distance if plus is None else abs(np.log(max(distance * plus, 1e-3) / STREAK_HEIGHT))

    found, problems = _latest(
        directory, lambda part: part.value(layout.SLICE_NORMAL) == "z" and layout.SLICE_FIELD in part.fields
    )
    streaks = [plane for plane in found if isinstance(plane, Slice)]
    return min(streaks, key=lambda plane: (round(preference(plane), 6), -plane.time), default=None), problems


def latest_planes(directory: Path) -> tuple[list[Plane], list[str]]:
    """The latest intact slice normal to x or y of each label: of u, else of its first field; and what went wrong."""
    return _latest(directory, lambda part: part.value(layout.SLICE_NORMAL) != "z")


def slice_labels(directory: Path) -> list[str]:
    """The labels of the slices of a run, such as z0.083; files that earlier versions wrote, one a time, have none."""
    found = find_series(directory, layout.SLICE_FOLDER)
    return [label for label in found if not re.search(r"_\d{7,}$", label)]


def some_planes(
    directory: Path, label: str, field: str, begin: float | None, end: float, count: int, problems: list[str]
) -> Iterator[Plane]:
    """A field of a slice at no more than `count` times, evenly spread between two.

    Those of a damaged part are left out, and `problems` says why. A part without the field has none.
    """
    found: list[tuple[Path, int]] = []  # of each time, its part and its number there
    for path in part_paths(directory, label, layout.SLICE_FOLDER):
        try:
            with Part(path) as part:
                found += [(path, n) for n in part.within(begin, end).tolist() if field in part.fields]
        except InputOutputError as error:
            problems.append(str(error))
    chosen = np.unique(np.linspace(0, len(found) - 1, min(count, len(found))).round().astype(int))
    for path, group in groupby((found[n] for n in chosen), key=lambda entry: entry[0]):
        numbers = [n for _, n in group]
        try:
            with Part(path) as part:
                if part.time.size <= max(numbers):
                    raise InputOutputError(f"{path}: a restart has cut it while it was read")
                values = part.values_of(field)
                yield from (_plane(part, field, values, n) for n in numbers)
        except InputOutputError as error:
            problems.append(str(error))
