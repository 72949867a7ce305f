"""Starts from a file: fields of any program are projected; a checkpoint of another grid is interpolated."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from sluice_run import assert_same_content, checkpoints, must, record, sluice, write_case

CELLS = (16, 12, 32)
Velocity = tuple[np.ndarray, np.ndarray, np.ndarray]


def write_fields(file: Path, velocity: Velocity, dtype: type = np.float64) -> None:
    with h5py.File(file, "w") as h5:
        for name, values in zip("uvw", velocity, strict=True):
            h5[name] = values.astype(dtype)


def read_velocity(checkpoint: Path) -> Velocity:
    with h5py.File(checkpoint) as file:
        return file["u"][...], file["v"][...], file["w"][...]


def derivative(f: np.ndarray, axis: int, spacing: float, order: int) -> np.ndarray:
    """The derivative halfway between each point and the next one, by eq. (7) for order 4."""

    def difference(below: int, above: int) -> np.ndarray:
        return (np.roll(f, -above, axis) - np.roll(f, -below, axis)) / ((above - below) * spacing)

    return difference(0, 1) if order == 2 else 9 / 8 * difference(0, 1) - 1 / 8 * difference(-1, 2)


def divergence(velocity: Velocity, dx: float, dy: float, z: np.ndarray, order: int) -> np.ndarray:
    """Divergence of face values stored with the cell below; z: all faces."""
    u, v, w = velocity
    below = np.concatenate([np.zeros_like(w[:1]), w[:-1]])
    return (
        np.roll(derivative(u, 2, dx, order), 1, axis=2)
        + np.roll(derivative(v, 1, dy, order), 1, axis=1)
        + (w - below) / np.diff(z)[:, None, None]
    )


def second_derivative_of_mode(wave: int, points: int, spacing: float, order: int) -> float:
    """What two first derivatives multiply a Fourier mode with."""
    half = np.pi * wave / points
    first = 2 * np.sin(half)
    if order == 4:
        first = 9 / 8 * first - 1 / 24 * 2 * np.sin(3 * half)
    return -((first / spacing) ** 2)


def projected(velocity: Velocity, dx: float, dy: float, z: np.ndarray, order: int) -> Velocity:
    """The discrete divergence-free part, by FFT in x and y and dense solves along z."""
    u, v, w = (values.copy() for values in velocity)
    w[-1] = 0
    nz, ny, nx = u.shape
    dz, dzc = np.diff(z), np.diff((z[1:] + z[:-1]) / 2)
    second = np.zeros((nz, nz))
    for k in range(nz - 1):
        second[k, k : k + 2] += np.array([-1, 1]) / (dzc[k] * dz[k])
        second[k + 1, k : k + 2] += np.array([1, -1]) / (dzc[k] * dz[k + 1])
    modes = np.fft.fft2(divergence((u, v, w), dx, dy, z, order))
    for j in range(ny):
        for i in range(nx):
            shift = second_derivative_of_mode(i, nx, dx, order) + second_derivative_of_mode(j, ny, dy, order)
            modes[:, j, i] = np.linalg.lstsq(second + shift * np.eye(nz), modes[:, j, i], rcond=1e-13)[0]
    phi = np.fft.ifft2(modes).real
    u -= derivative(phi, 2, dx, order)
    v -= derivative(phi, 1, dy, order)
    w[:-1] -= np.diff(phi, axis=0) / dzc[:, None, None]
    return u, v, w


def random_velocity() -> Velocity:
    generator = np.random.default_rng(4)
    u, v, w = (generator.standard_normal(CELLS[::-1]) for _ in range(3))
    return u, v, w


def taylor_green() -> Velocity:
    """A velocity divergence-free as a function of x and y, and nearly so on the grid."""
    x, y = (np.arange(n) for n in CELLS[:2])
    dx, dy = 2 * np.pi / CELLS[0], 2 * np.pi / CELLS[1]
    u = np.sin((x + 1) * dx)[None, :] * np.cos((y + 0.5) * dy)[:, None]
    v = -np.cos((x + 0.5) * dx)[None, :] * np.sin((y + 1) * dy)[:, None]
    layers = np.ones((CELLS[2], 1, 1))
    return layers * u, layers * v, 0 * layers * u


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("ranks", [0, 2])
@pytest.mark.parametrize("make", [random_velocity, taylor_green])
def test_fields_are_projected(tmp_path: Path, make: object, ranks: int, order: int) -> None:
    velocity = make()  # type: ignore[operator]
    write_fields(tmp_path / "start.h5", velocity)
    case = write_case(
        tmp_path,
        {
            "initial": {"type": "fields", "file": "start.h5"},
            "grid.cells": list(CELLS),
            "domain.size": ["2*pi", "2*pi", 2],
            "solver.order": order,
        },
    )
    must(sluice("run", case, "--steps", 0, ranks=ranks))
    found = read_velocity(checkpoints(tmp_path / "out")[0])
    with h5py.File(checkpoints(tmp_path / "out")[0]) as file:
        z = file["grid/z_node"][...]
    dx, dy = 2 * np.pi / CELLS[0], 2 * np.pi / CELLS[1]
    for name, one, other in zip("uvw", found, projected(velocity, dx, dy, z, order), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-11, err_msg=name)
    assert np.abs(divergence(found, dx, dy, z, order)).max() < 1e-11
    must(sluice("run", case, "--restart", "auto", "--steps", 2, ranks=ranks))


def test_fields_in_single_precision_and_on_two_ranks(tmp_path: Path) -> None:
    write_fields(tmp_path / "start.h5", random_velocity(), np.float32)
    case = write_case(tmp_path, {"initial": {"type": "fields", "file": "start.h5"}, "grid.cells": list(CELLS)})
    must(sluice("run", case, "--steps", 3))
    must(sluice("run", case, "--steps", 3, "--output", tmp_path / "two", ranks=2))
    assert_same_content(checkpoints(tmp_path / "out")[0], checkpoints(tmp_path / "two")[0])


@pytest.mark.parametrize("ranks", [0, 2])
@pytest.mark.parametrize(
    ("what", "part"),
    [
        ("shape", "(32, 12, 16)"),
        (
            "missing",
            "needs the field v, which is not in this file (it has u, w). Add it as dataset /v of shape (32, 12, 16)",
        ),
        ("integers", "real numbers"),
        ("file", "start.h5"),
    ],
)
def test_fields_that_do_not_fit(tmp_path: Path, what: str, part: str, ranks: int) -> None:
    u, v, w = random_velocity()
    if what != "file":
        write_fields(
            tmp_path / "start.h5",
            (u, v[:, :-1] if what == "shape" else v, w),
            np.int32 if what == "integers" else np.float64,
        )
    if what == "missing":
        with h5py.File(tmp_path / "start.h5", "a") as file:
            del file["v"]
    case = write_case(tmp_path, {"initial": {"type": "fields", "file": "start.h5"}})
    outcome = must(sluice("run", case, ranks=ranks), 3)
    assert part in outcome.err
    assert outcome.err.count("sluice: ") == 1


@pytest.mark.parametrize("restart", [True, False])
def test_checkpoint_without_a_field(tmp_path: Path, restart: bool) -> None:
    case = write_case(tmp_path, {"output.directory": "first"})
    must(sluice("run", case, "--steps", 1))
    checkpoint = checkpoints(tmp_path / "first")[-1]
    with h5py.File(checkpoint, "a") as file:
        del file["v"]
    if restart:
        options = ["--restart", checkpoint]
    else:
        case = write_case(tmp_path, {"initial": {"type": "checkpoint", "file": str(checkpoint)}})
        options = []
    told = must(sluice("run", case, *options, "--output", tmp_path / "out"), 3).err
    assert f"{checkpoint}: the file is damaged: the field v is missing" in told


SMOOTH = {
    "flow": {"type": "channel", "reynolds": {"center": 10}},
    "grid.stretching": {"type": "uniform"},
    "domain.size": ["2*pi", "2*pi", 2],
    "output.statistics": "none",
    "output.slices": [],
}


def smooth(nx: int, ny: int, nz: int) -> Velocity:
    """A velocity divergence-free on any grid: u(y, z), v(x, z), and a curl formed on the cells' edges."""
    dx, dy = 2 * np.pi / nx, 2 * np.pi / ny
    x, y = (np.arange(nx) + 0.5) * dx, (np.arange(ny) + 0.5) * dy
    z = (np.arange(nz) + 0.5) * 2 / nz
    profile = (z * (2 - z))[:, None, None]
    u = 1 + 0.5 * np.sin(y)[:, None] + np.cos(y)[:, None] * np.sin(x + dx / 2) * np.sin(dy / 2) / (dy / 2)
    v = np.cos(x) - np.sin(y + dy / 2)[:, None] * np.cos(x) * np.sin(dx / 2) / (dx / 2)
    return profile * u, profile * v, 0 * profile * u


def interpolation_error(folder: Path, coarse: tuple[int, int, int], ranks: int, order: int) -> np.ndarray:
    """Root mean square error of u and v after interpolation to a grid with few common points."""
    folder.mkdir()
    fine = (50, 46, 70)
    write_fields(folder / "smooth.h5", smooth(*coarse))
    source = write_case(
        folder,
        {
            **SMOOTH,
            "grid.cells": list(coarse),
            "output.directory": "coarse",
            "initial": {"type": "fields", "file": "smooth.h5"},
        },
    )
    must(sluice("run", source, "--steps", 0, ranks=ranks))
    start = f"coarse/checkpoints/{checkpoints(folder / 'coarse')[0].name}"
    target = write_case(
        folder,
        {**SMOOTH, "grid.cells": list(fine), "initial": {"type": "checkpoint", "file": start}, "solver.order": order},
        name="fine.yaml",
    )
    must(sluice("run", target, "--steps", 0, ranks=ranks))
    assert record(folder / "out")["time"] == 0
    found = read_velocity(checkpoints(folder / "out")[0])
    z = np.linspace(0, 2, fine[2] + 1)
    assert np.abs(divergence(found, 2 * np.pi / fine[0], 2 * np.pi / fine[1], z, order)).max() < 1e-11
    exact = smooth(*fine)
    assert np.abs(found[2]).max() < 0.05
    return np.array([np.sqrt(np.mean((found[n] - exact[n]) ** 2)) for n in range(2)])


@pytest.mark.parametrize(("ranks", "order"), [(0, 2), (2, 2), (2, 4)])
def test_a_checkpoint_is_interpolated_to_second_order(tmp_path: Path, ranks: int, order: int) -> None:
    """Also for a flow of order 4, from a checkpoint of order 2."""
    coarse = interpolation_error(tmp_path / "coarse", (12, 12, 16), ranks, order)
    middle = interpolation_error(tmp_path / "middle", (24, 24, 32), ranks, order)
    assert (coarse < 0.06).all()
    convergence = np.log2(coarse / middle)
    assert ((convergence > 1.7) & (convergence < 2.3)).all(), convergence


@pytest.mark.parametrize("order", [2, 4])
def test_a_checkpoint_of_the_same_grid_is_itself(tmp_path: Path, order: int) -> None:
    case = write_case(tmp_path, {"flow": {"type": "channel", "reynolds": {"tau": 180}}, "solver.order": order})
    must(sluice("run", case, "--steps", 5))
    source = checkpoints(tmp_path / "out")[-1]
    must(
        sluice(
            "run",
            case,
            "--steps",
            0,
            "--output",
            tmp_path / "again",
            "--set",
            f"initial={{type: checkpoint, file: {source}}}",
            ranks=2,
        )
    )
    for one, other in zip(read_velocity(source), read_velocity(checkpoints(tmp_path / "again")[0]), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10 * np.abs(one).max())


def test_scalars_are_interpolated_to_the_values_at_the_walls(tmp_path: Path) -> None:
    """Beyond the first centre of the coarse grid too, where the value on the wall varies and at time 0 is this one."""
    walls = {"bottom": {"value": "(1 + 0.5*cos(x))*(1 + sin(t))"}, "top": {"value": -1}}
    heated = {**SMOOTH, "initial": {"type": "laminar"}, "scalars": [{"name": "c", "walls": walls}]}
    source = write_case(tmp_path, {**heated, "grid.cells": [16, 12, 8], "output.directory": "coarse"})
    must(sluice("run", source, "--steps", 0))
    start = {"type": "checkpoint", "file": str(checkpoints(tmp_path / "coarse")[0])}
    target = write_case(tmp_path, {**heated, "grid.cells": [16, 12, 32], "initial": start}, name="fine.yaml")
    must(sluice("run", target, "--steps", 0, ranks=2))
    x, z = (np.arange(16) + 0.5) * 2 * np.pi / 16, (np.arange(32) + 0.5) / 16
    bottom = 1 + 0.5 * np.cos(x)
    exact = bottom + (-1 - bottom) * z[:, None, None] / 2
    with h5py.File(checkpoints(tmp_path / "out")[0]) as file:
        np.testing.assert_allclose(file["c"][...], np.broadcast_to(exact, (32, 12, 16)), rtol=0, atol=1e-13)


def test_a_checkpoint_of_another_height_is_refused(tmp_path: Path) -> None:
    source = write_case(
        tmp_path,
        {"flow.type": "open_channel", "domain.size": [6, 3, 1], "output.directory": "open", "output.slices": []},
    )
    must(sluice("run", source, "--steps", 0))
    case = write_case(tmp_path, {"initial": {"type": "checkpoint", "file": "open/checkpoints/step_0000000.h5"}})
    assert "high" in must(sluice("run", case, ranks=2), 3).err
