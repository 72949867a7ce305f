"""Slice files: the picture of the streaks near the wall."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import Hdf5File

Array = NDArray[np.float64]

STREAK_HEIGHT = 15.0  # z+ at which streaks are most vivid: the peak of u'


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


def _read(candidate: _Candidate) -> Slice:
    with Hdf5File(candidate.path, layout.SLICE_FORMAT) as file:
        grid = file.coordinates()
        x, y, z = (grid[name] for name in (layout.SLICE_X, layout.SLICE_Y, layout.SLICE_Z))
        u = file.field(layout.SLICE_FIELD, (1, y.size, x.size))
    # The plane shown is that of the cells nearest to the coordinate asked for.
    return Slice(candidate.path, candidate.time, float(z[0]), x, y, u[0])


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
            return _read(candidate), problems
        except InputOutputError as error:
            problems.append(str(error))
    return None, problems
