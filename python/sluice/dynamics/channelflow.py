"""Velocity fields of channelflow (channelflow.org, channelflow.ch): its HDF5 and NetCDF files, read and written.

Channelflow has y across the channel and z along the span; Sluice has them the other way round, and z = 0 on the lower
wall, where channelflow has y = a. With a subscript cf for channelflow:

    (u, v, w)(x, y, z) = (u, w, v)_cf(x, y_cf = z + a, z_cf = y)

This mirrors the coordinates: what is right-handed in one code is left-handed in the other. The equations and the walls
have this symmetry; a rotating frame does not, because its rotation vector changes sign. Units do not change: in both
codes the walls of plane Couette flow move at -1 and 1, and lengths are in half heights if a = -1 and b = 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import FileError, UsageError
from ..field import on_host
from .space import Array, Space

Values: TypeAlias = npt.NDArray[np.float64]
Base: TypeAlias = str | Callable[[Values], Any]
"""A base flow: "couette", "poiseuille", "none", or a function of y_cf that returns U, or U and W_cf."""

_COMPONENTS = ("Velocity_X", "Velocity_Z", "Velocity_Y")  # of NetCDF files, in the order of Sluice


@dataclass(frozen=True, eq=False)
class ChannelflowField:
    """A velocity field of channelflow in the coordinates of Sluice: a trigonometric and Chebyshev interpolant.

    Channelflow stores the difference from a base flow, which its files do not name.
    """

    values: Values
    """u, v and w as stored, (3, nz, ny, nx), at the points of `coordinates`."""
    lengths: tuple[float, float, float]
    """Lx, Ly and Lz: Lx, Lz and b - a of the file."""
    lower: float = -1.0
    """a, channelflow's y of the lower wall."""

    @property
    def coordinates(self) -> tuple[Values, Values, Values]:
        """x (nx,), y (ny,) and z (nz,) of the values. The z are the Chebyshev points, from the upper wall down."""
        _, nz, ny, nx = self.values.shape
        (lx, ly, lz) = self.lengths
        return np.arange(nx) * (lx / nx), np.arange(ny) * (ly / ny), (1 + _chebyshev_points(nz)) * (lz / 2)

    def velocity(self, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, *, base: Base = "none") -> Values:
        """u, v and w at all combinations of any x, y and z (one-dimensional each): (3, z.size, y.size, x.size).

        `base`: the base flow to add; without it the result is the field in the file. A wave with two points per period
        counts as a cosine. Raises UsageError for z outside the channel and for an unknown base flow.
        """
        x, y, z = (np.asarray(points, dtype=np.float64).ravel() for points in (x, y, z))
        return np.stack([self._component(number, x, y, z, base) for number in range(3)])

    def _component(self, number: int, x: Values, y: Values, z: Values, base: Base) -> Values:
        _, nz, ny, nx = self.values.shape
        lx, ly, lz = self.lengths
        if z.size and not (z.min() >= -1e-9 * lz and z.max() <= (1 + 1e-9) * lz):
            raise UsageError(f"the field of channelflow lies between z = 0 and {lz:g}, not {z.min():g} and {z.max():g}")
        along_z = _chebyshev(nz, np.clip(2 * z / lz - 1, -1, 1))
        along_y, along_x = _trigonometric(ny, y / ly), _trigonometric(nx, x / lx)
        result: Values = along_y @ (np.tensordot(along_z, self.values[number], 1) @ along_x.T)
        return result + _base_flow(base, z, lz, self.lower)[number][:, None, None]

    def on(self, space: Space, *, base: Base) -> Array:
        """The vector of the total velocity, at the points of each component.

        `base`: the base flow that the field in the file lacks. The result is solenoidal to the accuracy of the grid;
        FlowMap.project makes it so to round-off. Raises UsageError if the box of the case differs (by more than
        1e-6, relative), and for an unknown base flow.
        """
        if not np.allclose(self.lengths, space.lengths, rtol=1e-6, atol=0):
            raise UsageError(
                f"the box of the field of channelflow is {_box(self.lengths)}, that of the case {_box(space.lengths)}: "
                f"set domain.size to {list(self.lengths)}"
            )
        parts = []
        for number, name in enumerate("uvw"):
            x, y, z = (on_host(points).ravel() for points in space.coordinates(name))
            parts.append(self._component(number, x, y, z, base))
        parts[2][-1] = 0  # on the upper wall, free of round-off
        return space.pack(*parts)

    def __repr__(self) -> str:
        _, nz, ny, nx = self.values.shape
        return f"<sluice.dynamics.ChannelflowField of {nx} x {ny} x {nz} points, box {_box(self.lengths)}>"


def read_channelflow(path: str | os.PathLike[str]) -> ChannelflowField:
    """A velocity field from a file of channelflow, HDF5 (.h5, channelflow 1.5 and 2) or NetCDF-4 (.nc, channelflow 2).

    Needs h5py. Raises FileError if the file cannot be read or holds no such field; the message says what is missing.
    """
    h5py, path = _h5py(), Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(3)
        if not h5py.is_hdf5(path):
            other = "nccopy -k nc4" if start == b"CDF" else "fieldconvert of channelflow"
            raise FileError(
                f"{path} is neither HDF5 nor NetCDF-4"
                + (", but classic NetCDF" if start == b"CDF" else "")
                + f": convert it to one of them, with {other}"
            )
        with h5py.File(path, "r") as file:
            if "data/u" in file:
                return _read_hdf5(path, file)
            if any(name in file for name in _COMPONENTS):
                return _read_netcdf(path, file)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error}") from error
    raise FileError(
        f"{path} is no velocity field of channelflow: it has neither data/u, as HDF5 files have, "
        "nor Velocity_X, Velocity_Y and Velocity_Z, as NetCDF files have"
    )


def write_channelflow(
    path: str | os.PathLike[str], space: Space, vector: Array, *, base: Base, points: int | None = None
) -> None:
    """Writes a total velocity as an HDF5 file that channelflow 2 reads (findsoln, simulateflow, fieldconvert).

    `base`: the base flow that channelflow will use. It is subtracted, and must have the velocity of the walls.
    `points`: the number of Chebyshev points, odd; by default nz or nz + 1. Along x and y the file has as many points as
    the grid; channelflow will compute on 3/2 as many. Interpolation is trigonometric along x and y, and by cubic
    splines along z: the result is solenoidal to the accuracy of the grid. The walls of the file are at -Lz/2 and Lz/2.

    Needs h5py and SciPy. Raises UsageError for an even number of points, and FileError if the file cannot be written.
    """
    from scipy.interpolate import CubicSpline

    h5py, path, (nz, ny, nx) = _h5py(), Path(path), space.shape
    points = nz + (nz + 1) % 2 if points is None else points
    if points < 3 or points % 2 == 0:
        raise UsageError(f"channelflow needs an odd number of Chebyshev points, at least 3, not {points}")
    lx, ly, lz = space.lengths
    heights = (1 + _chebyshev_points(points)) * (lz / 2)
    profiles = _base_flow(base, space.centres, lz, -lz / 2)
    parts = []
    for name, part, profile in zip("uvw", space.unpack(vector), profiles, strict=True):
        nodes = space.faces if name == "w" else np.concatenate([[0.0], space.centres, [lz]])
        values = np.zeros((nodes.size, ny, nx))  # 0 on the walls
        inner = on_host(part) - profile[:, None, None]
        values[1:-1] = inner[:-1] if name == "w" else inner
        along_x, along_y = (
            _trigonometric(count, (np.arange(count) - (1.0 if name == own else 0.5)) / count)
            for count, own in ((nx, "u"), (ny, "v"))
        )
        parts.append(along_y @ (CubicSpline(nodes, values)(heights) @ along_x.T))
    u, v, w = parts
    stored = np.stack([u, w, v]).transpose(0, 3, 1, 2)  # (3, Nx, Ny, Nz) of channelflow
    counts = {"Nx": nx, "Ny": points, "Nz": ny, "Nd": 3}
    counts |= {"Nxpad": _padded(nx), "Nypad": points, "Nzpad": _padded(ny)}
    try:
        with h5py.File(path, "w") as file:
            for name, number in counts.items():
                file.attrs.create(name, number, dtype=">i4")
            for name, length in {"Lx": lx, "Lz": ly, "a": -lz / 2, "b": lz / 2}.items():
                file.attrs.create(name, length, dtype=">f8")
            file.create_dataset("data/u", data=stored, dtype=">f8")
            file.create_dataset("geom/x", data=np.arange(nx) * (lx / nx), dtype=">f8")
            file.create_dataset("geom/y", data=heights - lz / 2, dtype=">f8")
            file.create_dataset("geom/z", data=np.arange(ny) * (ly / ny), dtype=">f8")
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error}") from error


def _read_hdf5(path: Path, file: Any) -> ChannelflowField:
    """From attributes, data/u and, where it is there, geom/y."""
    nx, ny, nz, *box = _attributes(path, file, ("Nx", "Ny", "Nz", "Lx", "Lz", "a", "b"))
    points, shape = tuple(round(count) for count in (nx, ny, nz)), tuple(getattr(file["data/u"], "shape", ()))
    if shape[:1] != (3,):
        raise FileError(f"{path}: data/u has the shape {shape}: it is no field of three components")
    # Channelflow 2 declares (3, Nz, Ny, Nx), but its numbers lie in the order of (3, Nx, Ny, Nz), as in older files.
    if shape[1:] not in (points, points[::-1]):
        raise FileError(f"{path}: data/u has the shape {shape}, the attributes Nx, Ny and Nz are {points}")
    values = file["data/u"][()].reshape(3, *points)
    heights = file["geom/y"][()] if "geom/y" in file else None
    return _field(path, values.transpose(0, 2, 3, 1)[[0, 2, 1]], box, heights)


def _read_netcdf(path: Path, file: Any) -> ChannelflowField:
    """From attributes, coordinates and variables (Z, Y, X). The attributes Nx and Nz count padding: they are unused."""
    missing = [name for name in ("X", "Y", "Z", *sorted(_COMPONENTS)) if name not in file]
    if missing:
        raise FileError(f"{path} is no velocity field of channelflow: {', '.join(missing)} missing")
    box = _attributes(path, file, ("Lx", "Lz", "a", "b"))
    points = tuple(file[name].size for name in "ZYX")
    for name in _COMPONENTS:
        if file[name].shape != points:
            raise FileError(f"{path}: {name} has the shape {file[name].shape}, the sizes of Z, Y and X are {points}")
    values = np.stack([file[name][()].transpose(1, 0, 2) for name in _COMPONENTS])
    return _field(path, values, box, file["Y"][()])


def _attributes(path: Path, file: Any, names: Sequence[str]) -> list[float]:
    missing = [name for name in names if name not in file.attrs]
    if missing:
        raise FileError(f"{path} is no velocity field of channelflow: attributes {', '.join(missing)} missing")
    return [float(np.ravel(file.attrs[name])[0]) for name in names]


def _field(path: Path, values: Any, box: Sequence[float], heights: Values | None) -> ChannelflowField:
    """From values (3, nz, ny, nx) of u, v and w, the numbers Lx, Lz, a and b, and channelflow's y of the points."""
    lx, ly, lower, upper = box
    if not (lx > 0 and ly > 0 and upper > lower and values.shape[1] > 1):
        raise FileError(f"{path}: there is no box with Lx = {lx:g}, Lz = {ly:g}, a = {lower:g} and b = {upper:g}")
    height = upper - lower
    expected = lower + (1 + _chebyshev_points(values.shape[1])) * (height / 2)
    if heights is not None and (
        heights.shape != expected.shape or not np.allclose(heights, expected, rtol=0, atol=1e-6 * height)
    ):
        raise FileError(f"{path}: its points along y are not the Chebyshev points from b = {upper:g} to a = {lower:g}")
    values = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise FileError(f"{path} has velocities that are not finite")
    return ChannelflowField(values, (lx, ly, height), lower)


def _base_flow(base: Base, z: Values, height: float, lower: float) -> tuple[Values, Values, Values]:
    """Profiles of u, v and w at z."""
    middle, zero = 2 * z / height - 1, np.zeros(z.shape)
    if callable(base):
        result = base(z + lower)
        u, v = result if isinstance(result, tuple) else (result, 0.0)
        return zero + np.asarray(u, float), zero + np.asarray(v, float), zero
    profiles = {"couette": middle, "poiseuille": 1 - middle**2, "none": zero}
    if base not in profiles:
        raise UsageError(f"the base flow is {base!r}: use couette, poiseuille, none or a function of channelflow's y")
    return profiles[base], zero, zero


def _chebyshev_points(count: int) -> Values:
    """From 1 to -1."""
    return np.cos(np.pi * np.arange(count) / (count - 1))


def _chebyshev(count: int, points: Values) -> Values:
    """The matrix (points.size, count) that interpolates from Chebyshev points, between -1 and 1.

    The second barycentric formula: Berrut and Trefethen 2004, SIAM Review 46, eqs. (4.2) and (5.4).
    """
    distances = points[:, None] - _chebyshev_points(count)
    hits = distances == 0
    weights = (-1.0) ** np.arange(count)
    weights[[0, -1]] /= 2
    matrix = weights / np.where(hits, 1, distances)
    matrix /= matrix.sum(axis=1, keepdims=True)
    on_a_point = hits.any(axis=1)
    matrix[on_a_point] = hits[on_a_point]
    return matrix


def _trigonometric(count: int, points: Values) -> Values:
    """The matrix (points.size, count) that interpolates from the points n/count of a period to any others.

    Its elements are sums of cosines: sin(n pi d) / (n sin(pi d)) for an odd number n of points and a distance d,
    times cos(pi d) for an even number, where the highest wave is a cosine.
    """
    distances = points[:, None] - np.arange(count) / count
    distances -= np.round(distances)
    matrix: Values = np.sinc(count * distances) / np.sinc(distances)
    return matrix if count % 2 else matrix * np.cos(np.pi * distances)


def _padded(count: int) -> int:
    """An even number of points of which 2/3 are at least these: channelflow then takes the field as dealiased."""
    return 2 * -(-3 * count // 4)


def _box(lengths: Sequence[float]) -> str:
    return " x ".join(f"{length:.9g}" for length in lengths)


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise ImportError("files of channelflow need h5py: pip install h5py") from error
    return h5py
