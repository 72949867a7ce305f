"""Every key of the grid, the time, the start, the solver and the output does what the reference says.

The last test compares the keys that the tests of this file and of test_keys_flow.py show with those of the program.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import test_keys_flow as keys_flow
from key_behaviour import SHOWN, field, line, run, shows
from sluice_run import (
    PRECISIONS,
    assert_same_results,
    checkpoints,
    must,
    record,
    require_parallel_hdf5,
    rows,
    sluice,
    step_of,
)
from test_catalyst import CATALYST


def log(out: Path) -> list[str]:
    return (out / "log.txt").read_text().splitlines()


# Grid ----------------------------------------------------------------------------------------------------------------


@shows("domain.size", "grid.cells")
def test_the_grid_has_the_cells_and_the_size(tmp_path: Path) -> None:
    out = run(tmp_path, {"domain.size": [3, "pi/2", 2], "grid.cells": [10, 4, 12]})
    assert field(out, "u").shape == (12, 4, 10)
    ends = [line(out, f"{axis}_node")[[0, -1]] for axis in "xyz"]
    np.testing.assert_allclose(ends, [[0, 3], [0, np.pi / 2], [0, 2]], atol=1e-15)


@shows("grid.stretching.type", "grid.stretching.factor", "grid.stretching.re_tau", "grid.stretching.file")
def test_the_planes_are_spread_as_the_type_says(tmp_path: Path) -> None:
    def faces(**stretching: Any) -> np.ndarray:
        return line(run(tmp_path, {"grid.stretching": stretching}), "z_node")

    middle = 2 * np.arange(17) / 16 - 1
    np.testing.assert_allclose(faces(type="uniform"), 1 + middle, atol=1e-14)
    for factor in [1.2, 2.4]:
        tanh = 1 + np.tanh(factor * middle) / np.tanh(factor)
        np.testing.assert_allclose(faces(type="tanh", factor=factor), tanh, atol=1e-14)
    (tmp_path / "faces.txt").write_text("\n".join(map(str, 1 + middle**3 / 2 + middle / 2)))
    np.testing.assert_allclose(
        faces(type="file", file=str(tmp_path / "faces.txt")), 1 + middle**3 / 2 + middle / 2, atol=1e-14
    )
    coarse, fine = (
        np.diff(line(run(tmp_path, {"grid.cells": [8, 6, 64], "grid.stretching": natural}), "z_node"))
        for natural in ({"type": "natural", "re_tau": re_tau} for re_tau in [60, 90])
    )
    assert fine[0] < 0.8 * coarse[0]  # finer at the wall
    assert fine[32] > coarse[32]  # and coarser in the middle


@shows("grid.velocity")
def test_a_grid_that_moves_with_the_flow_allows_longer_steps(tmp_path: Path) -> None:
    uniform = {
        "flow.type": "periodic",
        "flow.reynolds": {"viscosity": 1e-6},
        "initial": {"type": "formula", "velocity": ["1 + 1e-3*cos(y*2)", 0, 0]},
        "time": {"steps": 1, "cfl": 0.9},
    }
    rest, moving = (run(tmp_path, {**uniform, "grid.velocity": velocity}) for velocity in [0, 0.75])
    assert rows(moving)["dt"][0] == pytest.approx(4 * rows(rest)["dt"][0], rel=0.01)
    np.testing.assert_allclose(field(moving, "u"), field(rest, "u"), atol=1e-7)  # in the laboratory's frame


# Time ----------------------------------------------------------------------------------------------------------------


@shows("time.end", "time.steps", "time.dt")
def test_the_run_ends_at_the_time_or_the_step(tmp_path: Path) -> None:
    by_time = rows(run(tmp_path, {"time": {"end": 0.1, "dt": 0.02}}))
    np.testing.assert_allclose(by_time["time"], 0.02 * np.arange(1, 6))
    assert list(rows(run(tmp_path, {"time": {"steps": 4, "dt": 0.02}}))["step"]) == [1, 2, 3, 4]


@shows("time.cfl", "time.dt_max")
def test_the_step_is_a_fraction_of_the_limit_and_bounded(tmp_path: Path) -> None:
    half = rows(run(tmp_path, {"time": {"steps": 2, "cfl": 0.5}}))
    np.testing.assert_allclose(half["cfl"], 0.5)
    full = rows(run(tmp_path, {"time": {"steps": 2, "cfl": 1}}))
    np.testing.assert_allclose(full["dt"], 2 * half["dt"])
    bounded = rows(run(tmp_path, {"time": {"steps": 2, "cfl": 1, "dt_max": 0.01}}))
    np.testing.assert_allclose(bounded["dt"], 0.01)
    np.testing.assert_allclose(rows(run(tmp_path, {"time": {"steps": 2, "cfl": 1, "dt_max": 100}}))["dt"], full["dt"])


@shows("time.diffusion")
def test_implicit_diffusion_frees_the_step_from_the_spacing_along_z(tmp_path: Path) -> None:
    fine = {"flow.reynolds": {"viscosity": 0.1}, "grid.stretching": {"type": "tanh", "factor": 3}}
    dt = [
        rows(run(tmp_path, {**fine, "time": {"steps": 1, "diffusion": diffusion}}))["dt"][0]
        for diffusion in ["explicit", "implicit_z"]
    ]
    assert dt[1] > 20 * dt[0]


@pytest.mark.parametrize("figure", ["re_tau", "cf", "u_rms_peak", "v_rms_peak", "w_rms_peak", "uw_peak", "u_center"])
@shows(
    "time.until.re_tau",
    "time.until.cf",
    "time.until.u_rms_peak",
    "time.until.v_rms_peak",
    "time.until.w_rms_peak",
    "time.until.uw_peak",
    "time.until.u_center",
)
def test_the_run_ends_when_a_figure_is_accurate(tmp_path: Path, figure: str) -> None:
    turbulent = {
        "flow.reynolds": {"bulk": 5600},
        "initial.type": "turbulent",
        "time": {"steps": 200, "dt": 0.01},
        "output.statistics": {"every": 1, "block": 0.02},
    }
    loose = run(tmp_path, {**turbulent, "time.until": {figure: 1}})
    figures = record(loose)["statistics"]["figures"]
    assert {name: entry["limit"] for name, entry in figures.items() if "limit" in entry} == {figure: 1}
    assert record(loose)["step"] < 200
    tight = run(tmp_path, {**turbulent, "time.until": {figure: "0.0001%"}})
    assert record(tight)["step"] == 200


# Start ---------------------------------------------------------------------------------------------------------------


@shows("initial.type", "initial.seed", "initial.velocity", "initial.file")
def test_the_flow_starts_as_the_type_says(tmp_path: Path) -> None:
    def start(**initial: Any) -> Path:
        return run(tmp_path, {"initial": initial, "time": {"steps": 0, "dt": 0.01}})

    z = (np.arange(16) + 0.5) / 8
    at_rest = field(start(type="zero"), "u")
    np.testing.assert_allclose(at_rest, at_rest[0, 0, 0], atol=1e-12)  # but for the bulk velocity
    np.testing.assert_allclose(field(start(type="laminar"), "u")[:, 2, 3], 1.5 * z * (2 - z), rtol=0.03)
    by_formula = start(type="formula", velocity=["z*(2 - z)*1.5", "sin(pi*z)", 0])
    np.testing.assert_allclose(field(by_formula, "v")[:, 2, 3], np.sin(np.pi * z), atol=1e-12)
    first, second = start(type="turbulent", seed=4), start(type="turbulent", seed=5)
    assert abs(field(first, "u") - field(second, "u")).max() > 0.01
    for kind in ["fields", "checkpoint"]:
        from_file = start(type=kind, file=str(checkpoints(first)[-1]))
        np.testing.assert_allclose(field(from_file, "u"), field(first, "u"), atol=1e-12)


@shows("initial.profile", "initial.profile_file", "initial.amplitude")
def test_a_turbulent_start_has_the_given_profile(tmp_path: Path) -> None:
    free = {"flow.forcing": {"pressure_gradient": 0.01}, "time": {"steps": 0, "dt": 0.01}}

    def start(**initial: Any) -> Path:
        return run(tmp_path, {**free, "initial": {"type": "turbulent", **initial}})

    z = (np.arange(16) + 0.5) / 8
    formulas = start(profile=["z*(2 - z)", "0.1*z"])
    file = tmp_path / "profile.txt"
    file.write_text("z, U, V\n# a comment\n0 0 0\n1; 1; 0.1\n2\t0\t0.2\n")
    lines = start(profile_file=str(file), amplitude=0.5)
    for out, mean in [(formulas, z * (2 - z)), (lines, 1 - abs(1 - z))]:
        np.testing.assert_allclose(field(out, "u").mean(axis=(1, 2)), mean, atol=1e-12)
        np.testing.assert_allclose(field(out, "v").mean(axis=(1, 2)), 0.1 * z, atol=1e-12)
        assert field(out, "u").std(axis=(1, 2)).min() > 0.001
    weak = start(profile_file=str(file), amplitude=0.25)
    np.testing.assert_allclose(2 * field(weak, "w"), field(lines, "w"), atol=1e-12)
    at_rest = start(profile_file=str(file), amplitude=0)
    np.testing.assert_allclose(field(at_rest, "w"), 0, atol=1e-12)
    file.write_text("0.1 0\n2 1\n")
    run(tmp_path, {**free, "initial": {"type": "turbulent", "profile_file": str(file)}}, code=2)
    assert any("add the velocities at the walls" in said.read_text() for said in tmp_path.glob("run*/output.txt"))


# Solver --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 4])
@shows("solver.order")
def test_the_order_is_that_of_the_differences(tmp_path: Path, order: int) -> None:
    wave = {
        "flow": {"type": "periodic", "reynolds": {"viscosity": 0.5}},
        "initial": {"type": "formula", "velocity": [0, 0, "cos(2*x)"]},
        "solver.order": order,
        "time": {"steps": 20, "dt": 0.002},
    }
    amplitude = np.sqrt(2 * np.mean(field(run(tmp_path, wave), "w") ** 2))
    half = 2 * np.pi / 8  # half a spacing times the wavenumber 2
    if order == 2:
        modified = 2 * np.sin(half) / (2 * np.pi / 8)
    else:
        modified = (27 * np.sin(half) - np.sin(3 * half)) / (12 * 2 * np.pi / 8)
    assert -np.log(amplitude) / 0.04 == pytest.approx(0.5 * modified**2, rel=1e-6)


@shows("solver.tridiagonal", "solver.z_blocks", "parallel.grid")
def test_lines_along_z_are_split_as_told(tmp_path: Path) -> None:
    def out(**more: Any) -> Path:
        return run(
            tmp_path,
            {"initial.type": "turbulent", "solver": more, "parallel": {"grid": [1, 2], "exchange": "mpi_p2p"}},
            ranks=2,
        )

    distributed, local = out(z_blocks=4), out(z_blocks=4, tridiagonal="transpose")
    assert record(distributed)["process_grid"] == [1, 2]
    assert [record(one)["z_blocks"] for one in (distributed, out(z_blocks=2))] == [4, 2]
    u = [field(one, "u") for one in (distributed, local)]
    assert 0 < abs(u[0] - u[1]).max() < 1e-12  # two methods, which agree to round-off


@shows("solver.precision")
def test_fields_have_the_precision(tmp_path: Path) -> None:
    for precision in PRECISIONS:
        out = run(tmp_path, {"solver.precision": precision, "output.checkpoint": {"every": 1}})
        assert record(out)["precision"] == precision
        with h5py.File(checkpoints(out)[-1]) as file:
            assert file["u"].dtype == {"double": np.float64, "single": np.float32}[precision]


@shows("solver.max_divergence")
def test_the_run_fails_above_the_limit_of_div_u(tmp_path: Path) -> None:
    turbulent = {"initial.type": "turbulent"}
    run(tmp_path, {**turbulent, "solver.max_divergence": 1e-9})
    run(tmp_path, {**turbulent, "solver.max_divergence": 1e-30}, code=5)


@shows("parallel.exchange.halos", "parallel.exchange.rows", "parallel.exchange.columns")
def test_each_kind_of_exchange_has_its_method(tmp_path: Path) -> None:
    methods = {"halos": "mpi_p2p", "rows": "mpi_alltoall", "columns": "mpi_datatype"}
    out = run(tmp_path, {"parallel": {"grid": [2, 1], "exchange": methods}}, ranks=2)
    used = record(out)["exchange"]
    for kind, method in methods.items():
        assert f"{kind}={method}" in used.split(",")


# Output --------------------------------------------------------------------------------------------------------------


@shows("title")
def test_the_title_is_in_the_log_and_in_the_files(tmp_path: Path) -> None:
    out = run(tmp_path, {"title": "Flow of a test"})
    assert "Flow of a test" in log(out)[0]
    with h5py.File(checkpoints(out)[-1]) as file:
        assert 'title: "Flow of a test"' in file.attrs["resolved_case"]


@shows("output.directory")
def test_results_are_in_the_directory(tmp_path: Path) -> None:
    case = tmp_path / "case.yaml"
    run(tmp_path, {})
    written = json.loads(next(tmp_path.glob("run*/case.yaml")).read_text())
    case.write_text(json.dumps({**written, "output": {**written["output"], "directory": "some/where"}}))
    must(sluice("run", case))
    assert (tmp_path / "some/where/run.json").exists()


@shows("output.log.every", "output.log.seconds")
def test_lines_of_the_log_come_after_steps_and_seconds(tmp_path: Path) -> None:
    def steps(**keys: Any) -> list[int]:
        lines = log(run(tmp_path, {"output.log": keys, "time.steps": 30}))
        return [int(one.split()[1]) for one in lines if one.startswith("step")]

    assert steps(every=10) == [1, 10, 20, 30]
    assert steps(every="none") == [1]
    assert len(steps(every="none", seconds=1e-6)) > 20


@shows("output.timeseries.every")
def test_rows_of_the_time_series(tmp_path: Path) -> None:
    out = run(tmp_path, {"output.timeseries.every": 4, "time.steps": 10})
    assert list(rows(out)["step"]) == [1, 4, 8, 10]


@shows("output.checkpoint.every", "output.checkpoint.keep")
def test_checkpoints_are_written_and_kept(tmp_path: Path) -> None:
    for keep in [3, 2]:
        out = run(tmp_path, {"output.checkpoint": {"every": 0.04, "keep": keep}, "time.steps": 18})
        assert [step_of(one) for one in checkpoints(out)] == [12, 16, 18][-keep:]


@shows("output.writer", "output.mpi_io_hints[].name", "output.mpi_io_hints[].value")
def test_fields_are_written_through_mpi_io_with_hints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ROMIO, which Open MPI has besides its own MPI-IO, prints the hints of a file that it opens."""
    require_parallel_hdf5()
    monkeypatch.setenv("OMPI_MCA_io", "^ompio")
    monkeypatch.setenv("ROMIO_PRINT_HINTS", "1")
    hints = [{"name": "cb_buffer_size", "value": 65536}, {"name": "romio_cb_write", "value": "disable"}]
    hdf5 = run(tmp_path, {"output.writer": "hdf5", "output.mpi_io_hints": hints})
    printed = (hdf5.parent / "output.txt").read_text()
    assert re.search(r"key = cb_buffer_size\s+value = 65536\s", printed)
    assert re.search(r"key = romio_cb_write\s+value = disable\s", printed)
    direct = run(tmp_path, {"output.writer": "direct"})
    assert "cb_buffer_size" not in (direct.parent / "output.txt").read_text()
    assert_same_results(direct, hdf5)


@shows("output.alignment")
def test_fields_begin_at_multiples_of_the_alignment(tmp_path: Path) -> None:
    def offsets(alignment: int) -> list[int]:
        with h5py.File(checkpoints(run(tmp_path, {"output.alignment": alignment}))[-1]) as file:
            return [file[name].id.get_offset() % 4096 for name in "uvwp"]  # of 6144 bytes each

    assert any(offsets(1))
    assert not any(offsets(4096))


@pytest.mark.parametrize("name", ["statistics", "spectra", "densities"])
@shows(
    *(f"output.{name}.{key}" for name in ["statistics", "spectra", "densities"] for key in ["start", "every", "block"])
)
def test_samples_and_blocks(tmp_path: Path, name: str) -> None:
    def file(**keys: Any) -> list[list[float]]:
        out = run(tmp_path, {f"output.{name}": keys, "time.steps": 40, "initial.type": "turbulent"})
        with h5py.File(out / f"{name}.h5") as h5:
            return [np.asarray(h5[key]).tolist() for key in ("samples", "t_begin")]

    samples, starts = file(start=0, every=2, block=0.1)
    assert samples[1:] == [5, 5, 5]
    np.testing.assert_allclose(starts, [0.02, 0.12, 0.22, 0.32])  # of the first samples
    samples, starts = file(start=0.2, every=5, block=0.2)
    assert samples == [5]  # at 0.2, 0.25 ... 0.4
    np.testing.assert_allclose(starts, [0.2])


@shows("output.statistics.budgets")
def test_budgets_add_profiles(tmp_path: Path) -> None:
    names = {}
    for budgets in ["on", "off"]:
        sampled = {"every": 1, "block": 0.03, "budgets": budgets}
        out = run(tmp_path, {"output.statistics": sampled, "initial.type": "turbulent"})
        with h5py.File(out / "statistics.h5") as file:
            names[budgets] = set(file)
    assert "p_strain_xz" in names["on"] - names["off"]


@shows("output.statistics.phases.period", "output.statistics.phases.bins")
def test_phases_are_counted_in_bins(tmp_path: Path) -> None:
    phases = {"period": 0.08, "bins": 4}
    statistics = {"every": 1, "block": 0.16, "phases": phases}
    out = run(tmp_path, {"output.statistics": statistics, "time.steps": 16, "initial.type": "turbulent"})
    with h5py.File(out / "statistics.h5") as file:
        samples = np.asarray(file["phase_samples"])
        np.testing.assert_allclose(file["grid/phase"], [0, 0.25, 0.5, 0.75])
    assert samples.tolist() == [[4, 4, 4, 4]]  # two periods of eight steps


@shows("output.spectra.heights", "output.densities.heights")
def test_heights_choose_planes(tmp_path: Path) -> None:
    for name, coordinate in [("spectra", "z_kxky"), ("densities", "z_joint")]:
        keys = {"every": 1, "block": 0.03, "heights": [0.3, 1.0]}
        out = run(tmp_path, {f"output.{name}": keys, "initial.type": "turbulent"})
        with h5py.File(out / f"{name}.h5") as file:
            planes = np.asarray(file[f"grid/{coordinate}"])
        np.testing.assert_allclose(planes, [0.3, 1.0], atol=0.07)


@shows("output.slices[].normal", "output.slices[].at", "output.slices[].every", "output.slices[].fields")
def test_slices_are_planes_of_the_flow(tmp_path: Path) -> None:
    slices = [
        {"normal": "z", "at": 0.44, "every": 0.02, "fields": ["w", "p"]},
        {"normal": "x", "at": 2.0, "every": 0.03},
    ]
    out = run(tmp_path, {"output.slices": slices, "time.steps": 6, "initial.type": "turbulent"})
    files = sorted((out / "slices").glob("*.h5"))
    assert len(files) == 2
    with h5py.File(files[1]) as along_z, h5py.File(files[0]) as along_x:
        assert {"w", "p"} <= set(along_z) and "u" not in along_z
        assert "u" in along_x and "w" not in along_x
        np.testing.assert_allclose(np.diff(along_z["time"]), 0.02)
        np.testing.assert_allclose(np.diff(along_x["time"]), 0.03)
        np.testing.assert_allclose(np.squeeze(along_z["p"][-1]), field(out, "p")[3])
        np.testing.assert_allclose(np.squeeze(along_x["u"][-1]), field(out, "u")[:, :, 2])  # the face at 3 dx = 2.36


@shows(*(f"output.probes[].{key}" for key in ["name", "x", "y", "z", "every", "start", "fields"]))
def test_probes_sample_points(tmp_path: Path) -> None:
    probe = {"name": "points", "x": 2.0, "y": [0.3, 2.9], "z": 0.4, "every": 2, "start": 0.05, "fields": ["w", "p"]}
    out = run(tmp_path, {"output.probes": [probe], "time.steps": 10, "initial.type": "turbulent"})
    with h5py.File(out / "probes/points.h5") as file:
        np.testing.assert_allclose(file["time"], [0.06, 0.08, 0.1])
        assert "u" not in file
        np.testing.assert_allclose(np.squeeze(file["p"][-1]), field(out, "p")[3, [0, 5], 2])


@shows(
    *(f"output.fields[].{key}" for key in ["name", "every", "start", "fields", "precision", "stride", "x", "y", "z"])
)
def test_fields_for_viewers(tmp_path: Path) -> None:
    entry = {"name": "view", "every": 0.02, "start": 0.03, "fields": ["vorticity", "p"], "precision": "double"}
    entry |= {"stride": [2, 1, 1], "x": [0, 3.2], "y": [1, 2], "z": [0.5, 1.5]}
    out = run(tmp_path, {"output.fields": [entry], "time.steps": 7, "initial.type": "turbulent"})
    files = sorted((out / "fields").glob("view_*.h5"))
    with h5py.File(files[-1]) as file:
        names, p = set(file), np.asarray(file["p"])
    times = [h5py.File(one)["time"][()] for one in files]
    assert times[0] == pytest.approx(0.03)
    np.testing.assert_allclose(np.diff(times), 0.02)
    assert {"omega_x", "omega_y", "omega_z", "p"} <= names and not {"u", "v", "w", "q"} & names
    assert p.dtype == np.float64
    assert p.shape == (8, 2, 2)  # every second of four cells along x


# The run -------------------------------------------------------------------------------------------------------------


@shows("walltime")
def test_the_run_stops_after_the_wall_time(tmp_path: Path) -> None:
    out = run(tmp_path, {"walltime": 1, "time.steps": 100000000})
    assert "wall-time" in record(out)["why_stopped"]


ELSEWHERE = {
    "watchdog": ("../faults/test_watchdog.py", "watchdog"),
    "ensemble.members": ("test_ensembles.py", '"members": 4'),
    "ensemble.seeds": ("../unit/test_ensemble.cpp", "SeedsFollowThatOfTheCaseOrTheFirst"),
    "ensemble.vary": ("test_ensembles.py", '"vary": {'),
    **{f"output.catalyst.{key}": ("test_catalyst.py", f'"{key}"') for key in CATALYST},
}


def keys_in(schema: dict[str, Any], path: str = "") -> list[str]:
    """The keys of a schema that take a value, as the reference writes them."""
    found = []
    for key, node in schema.get("properties", {}).items():
        name = f"{path}.{key}" if path else key
        inner = []
        for part in [node, *node.get("anyOf", [])]:
            items = part.get("items")
            inner += keys_in(part, name)
            inner += keys_in(items, name + "[]") if isinstance(items, dict) else []
        takes_a_value = not inner or any("number" in part.get("type", []) for part in node.get("anyOf", []))
        found += inner + ([name] if takes_a_value else [])
    return found


def test_every_key_of_the_program_is_shown_by_a_test() -> None:
    keys = set(keys_in(json.loads(must(sluice("init", "--schema")).out)))
    for key, (file, word) in ELSEWHERE.items():
        assert word in (Path(__file__).parent / file).read_text(), key
    assert keys_flow.WALLS  # its tests have registered their keys
    shown = set(SHOWN) | set(ELSEWHERE)
    assert sorted(keys - shown) == [], "keys without a test that shows what they do"
    assert sorted(shown - keys) == [], "tests of keys that the program does not have"
