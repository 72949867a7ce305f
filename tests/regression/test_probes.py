"""Probes: points, lines and planes against time."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from sluice_run import PRECISIONS, assert_same_content, checkpoints, must, require_parallel_hdf5, sluice, write_case
from test_output_files import DIMENSIONS

PROBES = [
    {"name": "point", "x": 1.0, "y": 0, "z": 0.1, "every": 1},
    {"name": "line", "y": [0.4, 3.1], "z": 2, "every": 1, "fields": ["u", "p"]},
    {"name": "plane", "z": 0.3, "every": 2, "fields": ["w"]},
    {"name": "late", "x": [0, 3, 6], "y": 1, "every": 1, "start": 0.25, "fields": ["v"]},
]
STEPS = 6
EVERY_STEP = {"time.steps": STEPS, "output.checkpoint": {"every": 1e-6, "keep": 9}, "output.probes": PROBES}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    must(sluice("run", write_case(folder, EVERY_STEP), ranks=4))
    return folder / "out"


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: str(probe["name"]))
def test_samples_are_the_fields_at_the_nearest_points(out: Path, probe: dict[str, object]) -> None:
    """Checkpoints of the same steps contain the same numbers."""
    with h5py.File(out / "probes" / f"{probe['name']}.h5") as file:
        fields = {name for name in "uvwp" if name in file}
        assert fields == set(probe.get("fields", "uvwp"))  # type: ignore[call-overload]
        steps = file["step"][...].tolist()
        for number, (step, time) in enumerate(zip(steps, file["time"][...], strict=True)):
            with h5py.File(out / f"checkpoints/step_{step:07}.h5") as whole:
                assert whole.attrs["time"] == time
                for name in fields:
                    indices = []
                    for axis, dimension in zip("zyx", DIMENSIONS[name], strict=True):
                        line = whole[f"grid/{dimension}"][...]
                        at = np.atleast_1d(probe.get(axis, line))
                        index = [int(np.abs(line - position).argmin()) for position in at]
                        np.testing.assert_array_equal(file[dimension][...], line[index])
                        indices.append(index)
                    assert file[name].shape[1:] == tuple(map(len, indices))
                    np.testing.assert_array_equal(file[name][number], whole[name][...][np.ix_(*indices)])
    with h5py.File(checkpoints(out)[-1]) as last:
        times = [float(h5py.File(path).attrs["time"]) for path in checkpoints(out)]
        assert last.attrs["step"] == STEPS
    due = [n for n, time in enumerate(times, 1) if n % probe["every"] == 0 and time >= probe.get("start", 0)]  # type: ignore[operator]
    assert steps == due


def test_dimensions_are_named(out: Path) -> None:
    with h5py.File(out / "probes/point.h5") as file:
        for name, dimensions in DIMENSIONS.items():
            assert [dimension.label for dimension in file[name].dims] == ["time", *dimensions]
            for dimension, label in zip(file[name].dims, ["time", *dimensions], strict=True):
                assert dimension[0] == file[label]
            assert file[name].attrs["units"] == "1"
            assert " / " in file[name].attrs["long_name"]
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(out / "probes/line.h5", engine="h5netcdf") as data:
        assert data["u"].dims == ("time", "z", "y", "x_face")
        assert data["u"].shape == (STEPS, 1, 2, 16)


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_processes_do_not_matter(out: Path, tmp_path: Path, ranks: int) -> None:
    must(sluice("run", write_case(tmp_path, EVERY_STEP), ranks=ranks))
    for path in (out / "probes").rglob("*.h5"):
        assert_same_content(path, tmp_path / "out" / path.relative_to(out))


def test_a_probe_that_is_taken_away_and_back(tmp_path: Path) -> None:
    """Its samples up to the checkpoint stay; those of later steps go."""
    case, out = write_case(tmp_path, EVERY_STEP), tmp_path / "out"
    must(sluice("run", case))
    must(sluice("run", case, "--restart", checkpoints(out)[2], "--set", "output.probes=[]", "--steps", 4))
    must(sluice("verify", out))
    with h5py.File(out / "probes/point.h5") as file:
        assert file["step"][...].tolist() == [1, 2, 3]
        assert np.isfinite(file["u"][...]).all()
    must(sluice("run", case, "--restart", "auto"))
    with h5py.File(out / "probes/point.h5") as file:
        assert file["step"][...].tolist() == [1, 2, 3, 5, 6]


def test_a_probe_keeps_its_points(tmp_path: Path) -> None:
    case = write_case(tmp_path, EVERY_STEP)
    must(sluice("run", case, "--steps", 2))
    other = "[{name: point, x: 2, y: 0, z: 0.1, every: 1}]"
    told = must(sluice("run", case, "--restart", "auto", "--set", f"output.probes={other}"), 3).err
    assert "point.h5: the run has written other points or fields to it so far than the case asks for" in told
    must(sluice("run", case, "--restart", "auto"))


def test_check_tells_the_size(tmp_path: Path) -> None:
    told = must(sluice("check", write_case(tmp_path, EVERY_STEP))).out
    assert "probe           plane: 192 point(s), about 3 samples, 4.5 KiB" in told


@pytest.mark.skipif(PRECISIONS[0] != "double", reason="samples of single precision fill half a part")
def test_samples_that_fill_a_part_are_written_by_all_ranks(tmp_path: Path) -> None:
    """Those of more than 8 MiB: by system calls or through HDF5, which makes the same files; a restart changes the
    writer.
    """
    require_parallel_hdf5()
    case = {
        "grid.cells": [1024, 260, 4],
        "time.steps": 2,
        "initial": {"type": "laminar"},
        "output.checkpoint": {"every": 1e-6, "keep": 9},
        "output.slices": [{"normal": "z", "at": 0.3, "every": 1e-6, "fields": ["u", "v", "w", "p"]}],
        "output.probes": [{"name": "plane", "z": 0.3, "every": 1}],
        "solver.z_blocks": 2,
    }
    direct, hdf5 = tmp_path / "direct", tmp_path / "hdf5"
    for folder in (direct, hdf5):
        folder.mkdir()
    split_in_y = write_case(direct, {**case, "parallel.grid": [2, 1]})
    must(sluice("run", split_in_y, ranks=2))
    split_in_z = write_case(hdf5, {**case, "parallel.grid": [1, 2]})  # one of two ranks has the planes
    must(sluice("run", split_in_z, "--steps", 1, "--set", "output.writer=hdf5", ranks=2))
    must(sluice("run", split_in_z, "--restart", "auto", ranks=2))
    must(sluice("verify", hdf5 / "out"))
    for folder, name in (("slices", "z0.3"), ("probes", "plane")):
        for step in (1, 2):
            part = Path("out") / folder / "parts" / f"{name}_{step:07}.h5"
            assert_same_content(direct / part, hdf5 / part)
            with h5py.File(hdf5 / part) as file, h5py.File(hdf5 / f"out/checkpoints/step_{step:07}.h5") as whole:
                for field, dimensions in DIMENSIONS.items():
                    index = np.abs(whole["grid/z"][...] - 0.3).argmin()
                    if field == "w" and folder == "probes":
                        index = np.abs(whole["grid/z_face"][...] - 0.3).argmin()
                    np.testing.assert_array_equal(file[field][0, 0], whole[field][index])
                    assert [dimension.label for dimension in file[field].dims] == ["time", *dimensions]
        assert len(list((hdf5 / "out" / folder / "parts").iterdir())) == 2
