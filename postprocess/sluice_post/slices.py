"""Slice files: the picture of the streaks near the wall."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.parameters import open_hdf5

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


def _attribute(file: h5py.File, path: Path, name: str) -> object:
    if name not in file.attrs:
        raise InputOutputError(f"{path}: attribute '{name}' is missing")
    value = file.attrs[name]
    if isinstance(value, np.ndarray):
        value = value.flat[0]
    return value.decode() if isinstance(value, bytes) else value


def _candidates(directory: Path) -> tuple[list[_Candidate], list[str]]:
    found, problems = [], []
    for path in layout.find_slices(directory):
        try:
            with open_hdf5(path) as file:
                if str(_attribute(file, path, layout.SLICE_NORMAL)) == "z" and layout.SLICE_FIELD in file:
                    time = float(_attribute(file, path, layout.SLICE_TIME))  # type: ignore[arg-type]
                    at = _height_of(file, path)
                    found.append(_Candidate(path, time, at))
        except InputOutputError as error:
            problems.append(str(error))
    return found, problems


def _height_of(file: h5py.File, path: Path) -> float:
    """Where u of the plane lies: the cell's own centre, which is not quite the coordinate asked for."""
    if layout.SLICE_Z in file and file[layout.SLICE_Z].size == 1:
        return float(np.asarray(file[layout.SLICE_Z][()]).ravel()[0])
    return float(_attribute(file, path, layout.SLICE_AT))  # type: ignore[arg-type]


def _coordinate(file: h5py.File, path: Path, names: tuple[str, ...]) -> Array:
    for name in names:
        if name in file:
            return np.asarray(file[name][()], dtype=float).ravel()
    raise InputOutputError(f"{path}: dataset '/{names[0]}' is missing")


def _read(candidate: _Candidate) -> Slice:
    path = candidate.path
    with open_hdf5(path) as file:
        x = _coordinate(file, path, layout.SLICE_X)
        y = _coordinate(file, path, layout.SLICE_Y)
        u = np.asarray(file[layout.SLICE_FIELD][()], dtype=float)
    if u.shape not in ((len(y), len(x)), (1, len(y), len(x))):
        raise InputOutputError(f"{path}: '/u' has shape {u.shape} instead of {(1, len(y), len(x))}")
    return Slice(path, candidate.time, candidate.at, x, y, u.reshape(len(y), len(x)))


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
