"""A box without walls, from the case file to checkpoints, restarts, fields and statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import assert_same_results, checkpoints, must, rows, sluice, write_case

MEAN_W = 0.5
SHIFTED: dict[str, Any] = {
    "flow": {"type": "periodic", "reynolds": {"viscosity": 0.02}},
    "domain.size": ["2*pi", "2*pi", "2*pi"],
    "grid": {"cells": [12, 16, 24], "stretching": {"type": "uniform"}},
    "time": {"steps": 6, "dt": 0.02},
    "solver": {"order": 2},
    "initial": {
        "type": "formula",
        "velocity": [
            "sin(x)*cos(y)*cos(z - 0.7) + 0.5*cos(z)",
            "-cos(x)*sin(y)*cos(z - 0.7)",
            f"{MEAN_W} + 0.3*cos(x + 2*y) + 0.4*sin(x - 0.2)*cos(z)",
        ],
    },
    "output.checkpoint": {"every": 1e-6, "keep": 9},
    "output.statistics": {"start": 0.0, "every": 1, "block": 0.05, "budgets": "on"},
    "output.spectra": {"start": 0.0, "every": 1, "block": 0.05},
    "output.fields": [{"name": "f", "every": 1e-6, "fields": ["velocity", "vorticity"], "precision": "double"}],
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    must(sluice("run", write_case(folder, SHIFTED), ranks=4))
    return folder / "out"


def test_mean_flow_through_the_ends_is_kept(out: Path) -> None:
    with h5py.File(checkpoints(out)[-1]) as file:
        w = file["w"][...]
        assert w.mean() == pytest.approx(MEAN_W, abs=1e-6 if w.dtype == np.float32 else 1e-14)
        assert np.abs(w - MEAN_W).max() > 1e-4


def test_restart_on_another_process_grid(out: Path, tmp_path: Path) -> None:
    case = write_case(tmp_path, SHIFTED)
    must(sluice("run", case, "--set", "time.steps=3"))
    must(sluice("run", case, "--restart", "auto", ranks=2))
    assert_same_results(tmp_path / "out", out)


def test_info_does_not_mention_walls(out: Path) -> None:
    """Its averages are all in wall units, so there are none here. Their absence does not make the flow laminar."""
    text = must(sluice("info", out)).out
    assert "statistics" in text
    for word in ("averages", "laminar", "wall"):
        assert word not in text, text


def test_vorticity_at_the_ends(out: Path) -> None:
    """Planes beyond the ends are those of the other end."""
    must(sluice("verify", out))
    written = sorted((out / "fields").glob("f_*.h5"))[-1]
    with h5py.File(written) as file, h5py.File(checkpoints(out)[-1]) as whole:
        u, w = whole["u"][...], whole["w"][...]
        dz, dx = 2 * np.pi / u.shape[0], 2 * np.pi / u.shape[2]
        at_edges = (u - np.roll(u, 1, 0)) / dz - (np.roll(np.roll(w, 1, 0), -1, 2) - np.roll(w, 1, 0)) / dx
        in_z = (at_edges + np.roll(at_edges, -1, 0)) / 2
        expected = (in_z + np.roll(in_z, 1, 2)) / 2
        rounding = 1e-5 if u.dtype == np.float32 else 1e-13
        np.testing.assert_allclose(file["omega_y"][...], expected, rtol=0, atol=rounding)


def test_sluice_post_computes_the_same_fields(out: Path, tmp_path: Path) -> None:
    fields = pytest.importorskip("sluice_post.center_fields")
    checkpoint = pytest.importorskip("sluice_post.checkpoint")
    hdf5_file = pytest.importorskip("sluice_post.hdf5_file")
    assert fields and hdf5_file
    written = sorted((out / "fields").glob("f_*.h5"))[-1]
    with h5py.File(written) as file, hdf5_file.Hdf5File(checkpoints(out)[-1], "Sluice checkpoint") as whole:
        quantity = fields.CENTER_QUANTITIES["vorticity"]
        planes = [quantity.of(planes) for planes in checkpoint.Checkpoint(whole).planes()]
        for n, name in enumerate(quantity.components):
            found = np.array([plane[n] for plane in planes])
            rounding = 1e-5 if file[name].attrs.get("precision") == "single" else 1e-12
            np.testing.assert_allclose(found, file[name][...], rtol=0, atol=rounding)


def test_face_0_of_profiles_and_spectra_is_the_uppermost(out: Path) -> None:
    with h5py.File(out / "statistics.h5") as file:
        names = [name for name in file if isinstance(file[name], h5py.Dataset) and file[name].shape[1:] == (25,)]
        assert {"uw", "vw"} <= set(names)
        for name in names:
            values = file[name][...]
            assert values.any(), name
            np.testing.assert_array_equal(values[:, 0], values[:, -1], err_msg=name)
    with h5py.File(out / "spectra.h5") as file:
        for name in ("ww_kx", "uw_ky"):
            values = file[name][...]
            assert values[:, 0].any() or name == "uw_ky"
            np.testing.assert_array_equal(values[:, 0], values[:, -1])


def test_interpolation_from_another_grid_wraps_along_z(out: Path, tmp_path: Path) -> None:
    """On the same grid it repeats the field; on another it keeps a wave without a fault at the ends."""
    source = checkpoints(out)[-1]
    for cells, error in (([12, 16, 24], 1e-6), ([12, 16, 36], 0.02)):
        folder = tmp_path / str(cells[2])
        folder.mkdir()
        case = {
            **SHIFTED,
            "grid": {"cells": cells, "stretching": {"type": "uniform"}},
            "time": {"steps": 0, "dt": 0.02},
            "initial": {"type": "checkpoint", "file": str(source)},
        }
        must(sluice("run", write_case(folder, case)))
        with h5py.File(checkpoints(folder / "out")[-1]) as file, h5py.File(source) as whole:
            u, from_z = whole["u"][...], whole["grid/z"][...]
            at_z = file["grid/z"][...]
            period = 2 * np.pi
            z = np.concatenate([from_z - period, from_z, from_z + period])
            column = np.concatenate([u[:, 3, 2]] * 3)
            np.testing.assert_allclose(file["u"][...][:, 3, 2], np.interp(at_z, z, column), rtol=0, atol=error)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time": {"steps": 1, "dt": 0.01, "diffusion": "implicit_z"}}, "time.diffusion"),
        ({"grid": {"cells": [12, 16, 24]}}, "grid.stretching.type"),
        ({"initial": {"type": "turbulent"}}, "initial.type"),
        ({"flow": {"type": "periodic", "reynolds": {"bulk": 100}}}, "flow.reynolds"),
        ({"walls": {"top": {"type": "no_slip"}}}, "walls"),
        ({"output.densities": {"start": 0.0}}, "output.densities"),
        ({"flow": {**SHIFTED["flow"], "rotation": {"number": 1}, "forcing": {"bulk_velocity": 1}}}, "flow.rotation"),
        ({"scalars": [{"name": "c", "walls": {"top": {"value": 1}}}]}, "scalars"),
    ],
)
def test_what_needs_walls_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    outcome = must(sluice("check", write_case(tmp_path, {**SHIFTED, **changes})), 2)
    assert message in outcome.text
    assert "flow.type periodic has no walls" in outcome.text


def test_vortices_decay(out: Path) -> None:
    series = rows(out)
    energy = series["kinetic_energy"] if series.dtype.names else series[:, 8]
    assert np.all(np.diff(energy) < 0)
