"""Files of channelflow: synthetic ones of each format, with fields that they resolve exactly."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sluice
from sluice.dynamics.channelflow import ChannelflowField, read_channelflow, write_channelflow
from sluice.dynamics.space import Space
from sluice.field import on_host

h5py = pytest.importorskip("h5py")

LX, LZ = 5.5, 2.5  # of channelflow
ALPHA, GAMMA = 2 * np.pi / LX, 2 * np.pi / LZ
CASE: dict[str, Any] = {
    "flow": {"type": "couette", "reynolds": {"wall": 400}},
    "domain": {"size": [LX, LZ, 2]},
    "grid": {"cells": [12, 10, 16], "stretching": {"type": "tanh", "factor": 1.5}},
    "time": {"end": 1, "dt": 0.01},
    "initial": {"type": "laminar"},
}
COUNTS = [(8, 9, 7), (7, 10, 8), (16, 33, 6)]  # Nx, Ny, Nz


@pytest.fixture
def space() -> Iterator[Space]:
    with sluice.Simulation(sluice.Case(CASE)) as simulation:
        yield Space(simulation)


def velocity(x: Any, y: Any, z: Any) -> list[Any]:
    """u, v and w of channelflow, at its coordinates: polynomials of degree 6 in y, waves up to 2 alpha and 2 gamma."""
    return [
        (1 - y**2) * (0.3 * np.cos(ALPHA * x) * np.sin(2 * GAMMA * z) + y * np.sin(2 * ALPHA * x) + 0.1),
        (1 - y**2) ** 2 * (np.sin(ALPHA * x) + y**2 * np.cos(GAMMA * z)),
        (1 - y**2) * y**3 * np.cos(ALPHA * x + GAMMA * z) + 0.2 * (1 - y**2),
    ]


def expected(space: Space, base: Any) -> np.ndarray[Any, Any]:
    """The vector of `velocity` and a base flow of channelflow's y, by the mapping of coordinates."""
    of = {"u": 0, "v": 2, "w": 1}
    parts = []
    for name in "uvw":
        x, y, z = (on_host(line) for line in space.coordinates(name))
        part = velocity(x, z - 1, y)[of[name]] + 0 * (x + y + z)
        parts.append(part + base(z - 1) if name == "u" else part)
    return on_host(space.pack(*parts))


def points(nx: int, ny: int, nz: int) -> tuple[Any, Any, Any]:
    return np.arange(nx) * LX / nx, np.cos(np.pi * np.arange(ny) / (ny - 1)), np.arange(nz) * LZ / nz


def grid_values(nx: int, ny: int, nz: int) -> np.ndarray[Any, Any]:
    """(3, Nx, Ny, Nz)."""
    x, y, z = points(nx, ny, nz)
    return np.array(np.broadcast_arrays(*velocity(x[:, None, None], y[:, None], z)))


def hdf5(path: Path, counts: tuple[int, int, int], padding: float = 1, transposed: bool = False) -> Path:
    """As channelflow 1.5 writes it; `transposed`: with the shape that channelflow 2 declares for the same numbers."""
    nx, ny, nz = counts
    values = grid_values(nx, ny, nz)
    numbers = {"Nx": nx, "Ny": ny, "Nz": nz, "Nd": 3, "Nypad": ny}
    numbers |= {"Nxpad": round(padding * nx), "Nzpad": round(padding * nz)}
    with h5py.File(path, "w") as file:
        for name, number in numbers.items():
            file.attrs.create(name, number, dtype=">i4")
        for name, length in {"Lx": LX, "Lz": LZ, "a": -1.0, "b": 1.0}.items():
            file.attrs.create(name, length, dtype=">f8")
        file["data/u"] = (values.reshape(3, nz, ny, nx) if transposed else values).astype(">f8")
        for name, line in zip("xyz", points(nx, ny, nz), strict=True):
            file[f"geom/{name}"] = line
    return path


def netcdf(path: Path, counts: tuple[int, int, int], padding: float = 1) -> Path:
    """NetCDF-4 of channelflow 2: variables (Z, Y, X), attributes of one element."""
    nx, ny, nz = counts
    with h5py.File(path, "w") as file:
        file.attrs["Conventions"] = np.bytes_(b"CF-1.0")
        for name, number in {"Nx": round(padding * nx), "Ny": ny, "Nz": round(padding * nz)}.items():
            file.attrs[name] = np.array([number], dtype=np.int32)
        for name, length in {"Lx": LX, "Lz": LZ, "a": -1.0, "b": 1.0}.items():
            file.attrs[name] = np.array([length])
        for name, line in zip("XYZ", points(nx, ny, nz), strict=True):
            file[name] = line
            file[name].make_scale(name)
        for name, part in zip("XYZ", grid_values(nx, ny, nz), strict=True):
            file[f"Velocity_{name}"] = part.transpose(2, 1, 0)
            for number, axis in enumerate("ZYX"):
                file[f"Velocity_{name}"].dims[number].attach_scale(file[axis])
    return path


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("padding", [1, 1.5])
def test_formats(tmp_path: Path, space: Space, counts: tuple[int, int, int], padding: float) -> None:
    """Odd and even numbers of points, with and without padding: the same vector from every format."""
    wanted = expected(space, lambda y: y)
    for path in (
        hdf5(tmp_path / "u.h5", counts, padding),
        hdf5(tmp_path / "u2.h5", counts, padding, transposed=True),
        netcdf(tmp_path / "u.nc", counts, padding),
    ):
        field = read_channelflow(path)
        assert field.lengths == (LX, LZ, 2) and field.lower == -1
        assert field.values.shape == (3, counts[1], counts[2], counts[0])
        assert np.abs(on_host(field.on(space, base="couette")) - wanted).max() < 1e-12, path
        assert np.abs(field.velocity(*field.coordinates) - field.values).max() < 1e-12


def test_base_flows(tmp_path: Path, space: Space) -> None:
    field = read_channelflow(str(hdf5(tmp_path / "u.h5", COUNTS[0])))
    for base, profile in (
        ("couette", lambda y: y),
        ("poiseuille", lambda y: 1 - y**2),
        ("none", lambda y: 0 * y),
        (lambda y: np.sin(y), np.sin),
    ):
        assert np.abs(on_host(field.on(space, base=base)) - expected(space, profile)).max() < 1e-12
    z = np.linspace(0, 2, 5)
    tilted = field.velocity([0.3], [0.2], z, base=lambda y: (0.9 * y, 0.4 * y)) - field.velocity([0.3], [0.2], z)
    assert np.abs(tilted[:, :, 0, 0] - [0.9 * (z - 1), 0.4 * (z - 1), 0 * z]).max() < 1e-14
    with pytest.raises(sluice.UsageError, match="base flow is 'laminar': use couette, poiseuille, none or a function"):
        field.on(space, base="laminar")


def test_any_points() -> None:
    """Walls, points outside the period, and waves of two points a period, which are cosines."""
    nx, ny, nz = 6, 4, 5
    x, y, z = np.arange(nx), np.arange(ny), np.cos(np.pi * np.arange(nz) / 4)
    values = np.zeros((3, nz, ny, nx))
    values[0] = (-1.0) ** x * z[:, None, None] ** 4
    values[1] = (-1.0) ** y[:, None] * np.cos(2 * np.pi * x / nx)
    values[2] = (-1.0) ** (x + y[:, None]) * z[:, None, None]
    field = ChannelflowField(values, (3.0, 2.0, 4.0), -2.0)
    x, y, z = np.array([-0.7, 0.0, 0.25, 1.5, 7.1]), np.array([0.1, 2.5]), np.array([0.0, 0.3, 2.0, 4.0])
    along_x, along_y, height = np.cos(2 * np.pi * x), np.cos(4 * np.pi * y / 2)[:, None], (z / 2 - 1)[:, None, None]
    wanted = [along_x * height**4 + 0 * along_y, along_y * np.cos(2 * np.pi * x / 3) + 0 * height]
    wanted.append(along_x * along_y * height)
    found = field.velocity(x, y, z)
    assert found.shape == (3, 4, 2, 5)
    assert np.abs(found - wanted).max() < 1e-13
    with pytest.raises(sluice.UsageError, match=r"between z = 0 and 4, not -0\.1 and 2"):
        field.velocity([0], [0], [-0.1, 2])
    assert "6 x 4 x 5 points, box 3 x 2 x 4" in repr(field)


def test_other_boxes(tmp_path: Path, space: Space) -> None:
    field = read_channelflow(hdf5(tmp_path / "u.h5", COUNTS[0]))
    for lengths in ((LX * 1.00001, LZ, 2.0), (LX, 2 * LZ, 2.0), (LX, LZ, 1.0)):
        other = ChannelflowField(field.values, lengths)
        with pytest.raises(sluice.UsageError, match=r"that of the case 5\.5 x 2\.5 x 2: set domain.size to \["):
            other.on(space, base="couette")
    ChannelflowField(field.values, (LX * (1 + 1e-7), LZ, 2.0)).on(space, base="couette")


def test_unusable_files(tmp_path: Path) -> None:
    path = tmp_path / "u.h5"

    def refused(text: str) -> None:
        with pytest.raises(sluice.FileError, match=text) as caught:
            read_channelflow(path)
        assert str(path) in str(caught.value)

    refused("cannot be read: .*No such file")
    path.write_bytes(b"CDF\x01 and so on")
    refused("classic NetCDF: convert it to one of them, with nccopy -k nc4")
    path.write_bytes(b"\x00\x00\x00\x01 of an .ff file")
    refused("neither HDF5 nor NetCDF-4: .* with fieldconvert of channelflow")
    path.write_bytes(hdf5(path, COUNTS[0]).read_bytes()[:600])
    refused("cannot be read|neither HDF5")
    with h5py.File(path, "w") as file:
        file["u"] = np.zeros(3)
    refused("neither data/u, .* nor Velocity_X, Velocity_Y and Velocity_Z")
    with h5py.File(hdf5(path, COUNTS[0]), "a") as file:
        del file.attrs["Nz"], file.attrs["Lx"]
    refused("attributes Nz, Lx missing")
    with h5py.File(hdf5(path, COUNTS[0]), "a") as file:
        file.attrs["Nz"] = 5
    refused(r"data/u has the shape \(3, 8, 9, 7\), the attributes Nx, Ny and Nz are \(8, 9, 5\)")
    with h5py.File(hdf5(path, COUNTS[0]), "a") as file:
        pressure = file["data/u"][:1]
        del file["data/u"]
        file["data/u"] = pressure
    refused("no field of three components")
    with h5py.File(hdf5(path, COUNTS[0]), "a") as file:
        file["geom/y"][...] = file["geom/y"][()][::-1]
    refused("not the Chebyshev points from b = 1 to a = -1")
    with h5py.File(hdf5(path, COUNTS[0]), "a") as file:
        file.attrs["b"] = -1.0
    refused("there is no box")
    with h5py.File(hdf5(path, COUNTS[0]), "a") as file:
        file["data/u"][1, 2, 3, 4] = np.nan
    refused("not finite")
    with h5py.File(netcdf(path, COUNTS[0]), "a") as file:
        del file["Velocity_Z"]
    refused("Velocity_Z missing")
    with h5py.File(netcdf(path, COUNTS[0]), "a") as file:
        del file["Velocity_Z"]
        file["Velocity_Z"] = np.zeros((8, 9, 7))
    refused(r"Velocity_Z has the shape \(8, 9, 7\), the sizes of Z, Y and X are \(7, 9, 8\)")


def test_without_h5py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match="files of channelflow need h5py: pip install h5py"):
        read_channelflow("u.h5")


@pytest.mark.parametrize("count", [None, 5, 33])
def test_writing(tmp_path: Path, space: Space, count: int | None) -> None:
    """Cubics along z, which splines reproduce: channelflow's fields, and the vector again when they are read."""
    pytest.importorskip("scipy")
    path = tmp_path / "u.h5"

    def u(x: Any, y: Any, z: Any) -> Any:
        return z * (2 - z) * (z - 0.3) * np.cos(2 * ALPHA * x) * np.sin(GAMMA * y)

    def v(x: Any, y: Any, z: Any) -> Any:
        return z * (2 - z) * np.sin(ALPHA * x + GAMMA * y)

    def w(x: Any, y: Any, z: Any) -> Any:
        return z * (2 - z) * (z - 1.1) * np.cos(ALPHA * x)

    vector = space.sample(u=lambda x, y, z: z - 1 + u(x, y, z), v=v, w=w)
    write_channelflow(path, space, vector, base="couette", points=count)
    ny = count or 17
    with h5py.File(path) as file:
        x, y, z = (file[f"geom/{name}"][()] for name in "xyz")
        assert [len(x), len(y), len(z)] == [12, ny, 10] and y[0] == 1 and y[-1] == -1
        assert {name: int(file.attrs[name]) for name in ("Nxpad", "Nypad", "Nzpad")} == {
            "Nxpad": 18,
            "Nypad": ny,
            "Nzpad": 16,
        }
        stored, at = file["data/u"][()], (x[:, None, None], z, y[:, None] + 1)
        for number, component in ((0, u), (1, w), (2, v)):
            assert np.abs(stored[number] - component(*at)).max() < 1e-13
    field = read_channelflow(path)
    assert np.abs(on_host(field.on(space, base="couette") - vector)).max() < 1e-12
    with pytest.raises(sluice.UsageError, match="odd number of Chebyshev points, at least 3, not 16"):
        write_channelflow(path, space, vector, base="couette", points=16)
    with pytest.raises(sluice.FileError, match="cannot be written"):
        write_channelflow(tmp_path / "none" / "u.h5", space, vector, base="couette")
