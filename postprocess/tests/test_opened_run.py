"""Results as xarray datasets, beside the numbers that the functions of sluice_post return."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import opened_runs
import pytest

pytest.importorskip("h5netcdf")

import xarray as xr

import sluice_post as sp
from sluice_post import layout
from sluice_post.budget_terms import STRESSES
from sluice_post.budgets import evaluate_budgets
from sluice_post.densities import load_densities
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.evaluated_densities import evaluate_densities
from sluice_post.key_figures import key_figures
from sluice_post.probes import read_probe
from sluice_post.profiles import wall_profiles, with_intervals
from sluice_post.run import load_statistics
from sluice_post.spectra import CORRELATED, ON_WALL, evaluate_spectra, load_spectra
from sluice_post.timeseries import read_timeseries

RunOf = Callable[[str], Path]


def assert_described(found: xr.Dataset) -> None:
    """Every variable and coordinate has a description and a unit."""
    for name, values in found.variables.items():
        assert values.attrs["long_name"], name
        assert values.attrs["units"], name


def assert_holds(found: xr.Dataset, name: str, values: np.ndarray, half_width: np.ndarray | None) -> None:
    np.testing.assert_array_equal(found[name], values, err_msg=name)
    if half_width is not None:
        np.testing.assert_array_equal(found[f"{name}_ci95"], half_width, err_msg=name)


def test_profiles(turbulent_run: Path) -> None:
    found = sp.open(turbulent_run).profiles
    assert_described(found)
    parameters, blocks = load_statistics(turbulent_run)
    profiles = with_intervals(wall_profiles(blocks.means(), parameters), blocks)
    for dim, columns in (("z", profiles.centre), ("z_face", profiles.face)):
        for name, values in columns.items():
            assert found[name].dims == (dim,)
            assert_holds(found, name, values, profiles.half_widths[name])
    np.testing.assert_array_equal(found.z_plus, profiles.z_plus)
    np.testing.assert_array_equal(found.z_face, profiles.z_face / profiles.height)
    assert (found.U.attrs["units"], found.minus_uw.attrs["units"]) == ("u_tau", "u_tau^2")
    assert found.attrs["re_tau"] == profiles.re_tau
    near = found.u_rms.sel(z_plus=15, method="nearest")
    assert float(near) == profiles.centre["u_rms"][np.argmin(np.abs(profiles.z_plus - 15))]


def test_times_and_sides_are_chosen(turbulent_run: Path) -> None:
    run = sp.open(turbulent_run)
    part = run.between(80, 150)
    parameters, blocks = load_statistics(turbulent_run, 80, 150)
    np.testing.assert_array_equal(part.profiles.U, wall_profiles(blocks.means(), parameters).centre["U"])
    assert part.block_means.sizes["time"] == len(blocks) == 7
    np.testing.assert_array_equal(run.block_means.sel(time=slice(80, 150)).u, blocks.series("u"))
    top = wall_profiles(load_statistics(turbulent_run)[1].means(), parameters, "top")
    np.testing.assert_array_equal(run.seen_from("top").profiles.U, top.centre["U"])
    assert run.seen_from("top").profiles.attrs["side"] == "top"
    assert_described(run.block_means)
    with pytest.raises(UsageError, match="no block lies inside"):
        assert run.between(1e6).profiles


def test_budgets(run_of: RunOf) -> None:
    run = sp.open(run_of("budgets"))
    parameters, blocks = load_statistics(run_of("budgets"))
    evaluated = evaluate_budgets(blocks, parameters)
    assert tuple(run.budgets) == STRESSES
    for stress, found in run.budgets.items():
        assert_described(found)
        dim = "z_face" if stress in ("ww", "uw") else "z"
        np.testing.assert_array_equal(found[f"{dim}_plus"], evaluated.found.z_plus(stress))
        for name, values in evaluated.found.budgets[stress].terms.items():
            assert_holds(found, name, values, evaluated.data[stress][f"{name}_ci95"])
            assert found[name].attrs["units"] == "u_tau^4/nu"
        assert found.storage.dims == (dim,)
    np.testing.assert_array_equal(run.budgets["k"].eta_plus, evaluated.found.kolmogorov_columns()["eta_plus"])


def test_spectra(run_of: RunOf) -> None:
    run = sp.open(run_of("spectra"), heights=[20, 60])
    found = run.spectra
    assert_described(found)
    parameters, blocks = load_statistics(run_of("spectra"))
    spectra = load_spectra(run_of("spectra"), blocks, None, None)
    evaluated = evaluate_spectra(spectra, parameters, [20, 60])
    assert list(found.height.values) == ["20", "60"]
    for (quantity, axis), energy in evaluated.found.energy.items():
        near = evaluated.found.z[quantity] <= 1 + 1e-9
        assert found[f"{quantity}_k{axis}"].dims == (found[f"{quantity}_k{axis}"].dims[0], f"k{axis}")
        np.testing.assert_array_equal(found[f"{quantity}_k{axis}"], energy[near])
    names = [f"{quantity}_k{axis}_at" for quantity, axis in evaluated.found.energy]
    names += [f"{name}_{quantity}_{axis}" for name in "RL" for quantity in CORRELATED for axis in "xy"]
    for name in (*names, *(f"{quantity}_wall_k{axis}" for quantity in ON_WALL for axis in "xy")):
        assert_holds(found, name, evaluated.values[name], evaluated.width(name))
    for quantity, plane in evaluated.found.planes.items():
        np.testing.assert_array_equal(found[f"{quantity}_kxky"], plane.energy)
    np.testing.assert_allclose(found.kx, 2 * np.pi * np.arange(7) / parameters.size[0])
    np.testing.assert_allclose(found.lambda_x_plus[1:] * found.kx[1:], 2 * np.pi * found.attrs["re_tau"])
    np.testing.assert_allclose(found.uu_kx.sum("kx"), found.uu_ky.sum("ky"))  # the variance


def test_densities(run_of: RunOf) -> None:
    found = sp.open(run_of("densities")).densities
    assert_described(found)
    parameters, blocks = load_statistics(run_of("densities"))
    evaluated = evaluate_densities(load_densities(run_of("densities"), blocks, None, None), parameters)
    for name, values in evaluated.values.items():
        assert_holds(found, name, values, evaluated.width(name) if f"{name}_ci95" in found else None)
    assert found.density_u.dims == ("height", "deviation")
    assert found.minus_uw_q2.dims == ("z_face",)
    assert found.hole_minus_uw.dims == ("z_joint", "quadrant", "hole_size")
    assert found.backflow.dims == ()
    np.testing.assert_allclose(found.joint_uw.sum(("deviation_u", "deviation_w")) / 16, 1, rtol=1e-3)


def test_key_figures(turbulent_run: Path) -> None:
    found = sp.open(turbulent_run).key_figures
    assert_described(found)
    parameters, blocks = load_statistics(turbulent_run)
    for figure in key_figures(blocks, parameters):
        assert float(found[figure.key]) == figure.value
        assert float(found[f"{figure.key}_ci95"]) == figure.half_width


def test_time_series(turbulent_run: Path) -> None:
    found = sp.open(turbulent_run).time_series
    assert_described(found)
    series = read_timeseries(turbulent_run / layout.TIMESERIES_FILE)
    for name in layout.TIMESERIES_COLUMNS:
        np.testing.assert_array_equal(found[name], series[name])
    part = sp.open(turbulent_run, begin=100, end=120).time_series.time
    assert (float(part[0]) - 100) < 0.2 and (120 - float(part[-1])) < 0.2


def test_slices(turbulent_run: Path) -> None:
    run = sp.open(turbulent_run)
    assert list(run.slices) == ["z0"]
    found = run.slices["z0"]
    with h5py.File(next((turbulent_run / "slices" / "parts").glob("z0_*.h5"))) as file:
        stored = {name: file[name][()] for name in ("u", "x_face")}
    assert_described(found)
    assert found.u.dims == ("time", "z", "y", "x_face")
    np.testing.assert_array_equal(found.time, [259, 260])
    np.testing.assert_array_equal(found.u, stored["u"])
    np.testing.assert_array_equal(found.x_face, stored["x_face"])
    assert (found.attrs["normal"], found.attrs["at"]) == ("z", 0.083)
    assert run.between(259.5).slices["z0"].sizes["time"] == 1
    with pytest.raises(KeyError, match="there are z0"):
        assert run.slices["z1"]
    with pytest.raises(InputOutputError, match="no slice z0 between these times"):
        assert run.between(300).slices["z0"]


def test_probes(run_of: RunOf) -> None:
    run, probe = sp.open(run_of("fields")), read_probe(run_of("fields"), "line")
    found = run.probes["line"]
    assert_described(found)
    assert found.u.dims == ("time", "z", "y", "x_face")
    np.testing.assert_array_equal(found.u, probe.u)
    np.testing.assert_array_equal(found.time, probe.time)
    np.testing.assert_array_equal(found.x_face, opened_runs.X)
    assert found.attrs["grid_velocity"] == 0.1


@pytest.mark.parametrize("with_time", [True, False])
def test_checkpoints(tmp_path: Path, with_time: bool) -> None:
    opened_runs.write_checkpoint(tmp_path / "checkpoints" / "step_0000012.h5", with_time=with_time)
    run = sp.open(tmp_path)
    assert list(run.checkpoints) == [12]
    found = run.checkpoints[12]
    assert_described(found)
    assert not found.u.variable._in_memory  # read when used
    assert float(found.coords["time"]) == 2.5
    assert set(found.data_vars) == {"u", "v", "w", "p"}
    assert (found.u.dims, found.w.dims) == (("z", "y", "x_face"), ("z_face", "y", "x"))
    for field in "uvw":
        x, y, z = (found[found[field].dims[2 - n]] for n in range(3))
        expected = (x + 10 * y + 100 * z).transpose(*found[field].dims)
        np.testing.assert_allclose(found[field], expected)


def test_what_a_run_lacks_is_named(turbulent_run: Path, tmp_path: Path) -> None:
    run = sp.open(turbulent_run)
    with pytest.raises(InputOutputError, match=r"output\.statistics\.budgets"):
        assert run.budgets
    with pytest.raises(InputOutputError, match=r"spectra\.h5: no such file"):
        assert run.spectra
    with pytest.raises(InputOutputError, match=r"densities\.h5: no such file"):
        assert run.densities
    assert len(run.probes) == len(run.checkpoints) == 0
    with pytest.raises(InputOutputError, match=r"timeseries\.csv"):
        assert sp.open(tmp_path).time_series
    with pytest.raises(InputOutputError, match="no such directory"):
        sp.open(tmp_path / "none")
