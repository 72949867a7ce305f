"""A run in the CF conventions: what the file holds, its attributes, and that it is whole or not there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import opened_runs
import pytest
import synthetic
from synthetic_checkpoint import Box, write

pytest.importorskip("h5netcdf")
pytest.importorskip("dask")

import h5py
import xarray as xr

import sluice_post as sp
from sluice_post import exported_run
from sluice_post.cli import main
from sluice_post.datasets.cf import CONVENTIONS

UNITS = {"1", "degree"}  # that UDUNITS knows, of those in use
HEIGHTS = {"z": "Z", "z_face": "Z", "z_joint": "Z", "z_kxky": "Z", "z_face_kxky": "Z"}
AXES = {"x": "X", "x_face": "X", "y": "Y", "y_face": "Y", **HEIGHTS}
NUMBERS = {"samples": "number_of_observations"}


def write_fields(directory: Path, count: int = 2) -> None:
    """Checkpoints with hashes."""
    (directory / "checkpoints").mkdir(exist_ok=True)
    for step in range(count):
        box = Box((6, 4, 8), np.linspace(0, 2, 9))
        path = directory / "checkpoints" / f"step_{step:07}.h5"
        write(path, box, lambda x, y, z, n=step: x + y + z + n, lambda x, y, z: y * z)


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Profiles, time series, slices, a probe and checkpoints."""
    directory = opened_runs.write_profiles_run(tmp_path_factory.mktemp("whole"))
    opened_runs.write_fields_run(directory)
    shutil.rmtree(directory / "checkpoints")
    write_fields(directory)
    return directory


@pytest.fixture(params=["netcdf", "zarr"])
def form(request: pytest.FixtureRequest) -> str:
    if request.param == "zarr":
        pytest.importorskip("zarr", reason="the extra `zarr` is not installed")
    return str(request.param)


def opened(path: Path, form: str, group: str | None = None) -> xr.Dataset:
    engine = "h5netcdf" if form == "netcdf" else "zarr"
    return xr.open_dataset(path, group=group, engine=engine)


def groups_of(path: Path, form: str) -> list[str]:
    if form == "zarr":
        return sorted({str(found.parent.parent.relative_to(path)) for found in path.rglob(".zarray")})
    found = set()
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: found.add(name.rpartition("/")[0]) if isinstance(item, h5py.Dataset) else None
        )
    return sorted(found)


def assert_follows_cf(found: xr.Dataset) -> None:
    """The rules of CF that these files could break."""
    for name, values in found.variables.items():
        assert re.fullmatch(r"[A-Za-z]\w*", str(name))
        if name == "time_bounds":
            assert not values.attrs and values.encoding.get("_FillValue") is None
            continue
        assert values.attrs["long_name"], name
        if values.dtype.kind in "biuf":
            assert values.attrs["units"] in UNITS, name
            scale = values.attrs.get("reference_scale")
            assert scale is None or values.attrs["long_name"].endswith((f" / {scale}", f" / ({scale})"))
        else:
            assert "units" not in values.attrs and values.dims != (name,), name
        assert values.attrs.get("standard_name") == NUMBERS.get(str(name))
        if name in found.indexes:
            assert "_FillValue" not in values.encoding or values.encoding["_FillValue"] is None
            assert values.attrs.get("axis") == AXES.get(str(name)), name
            assert values.attrs.get("positive") == ("up" if name in HEIGHTS else None), name
            assert values.to_index().is_monotonic_increasing
        else:
            assert "axis" not in values.attrs
        for other in values.attrs.get("ancillary_variables", "").split():
            assert found[other].dims == values.dims
        method = values.attrs.get("cell_methods", "")
        assert re.fullmatch(r"(area: time: (mean|variance|standard_deviation)|time: point)?", method), name
        axes = [found[dim].attrs.get("axis") for dim in values.dims if dim in found.indexes]
        assert len(set(filter(None, axes))) == len(list(filter(None, axes))), name


def assert_same(found: xr.Dataset, expected: xr.Dataset) -> None:
    for name, values in expected.data_vars.items():
        if name not in ("t_begin", "t_end"):
            np.testing.assert_array_equal(found[name], values, err_msg=str(name))
            assert found[name].dims == values.dims
            assert found[name].dtype == values.dtype


def test_all_of_a_run(whole_run: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "out"
    assert main(["export", str(whole_run), f"--{form}", str(path)]) == 0
    out = capsys.readouterr().out
    assert "left out: spectra: there is no spectra.h5\n" in out
    assert f"7 groups: {path}\n" in out
    run = sp.open(whole_run)
    expected = {
        "profiles": run.profiles,
        "block_means": run.block_means,
        "key_figures": run.key_figures,
        "time_series": run.time_series,
        "slices/z0": run.slices["z0"],
        "probes/line": run.probes["line"],
        "fields/checkpoints": run.fields["checkpoints"],
    }
    assert groups_of(path, form) == sorted(expected)
    for group, dataset in expected.items():
        found = opened(path, form, group)
        assert_follows_cf(found)
        assert_same(found, dataset)
        assert "Conventions" not in found.attrs  # of the root alone
    about = opened(path, form).attrs
    assert about["Conventions"] == CONVENTIONS == "CF-1.13"
    assert about["title"] == run.parameters.resolved_case.split("title: ")[1].split("\n")[0].strip('"')
    assert about["source"].startswith("direct numerical simulation by Sluice 0.1.0, revision ")
    assert re.search(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ sluice-post [\d.]+: export$", about["history"], re.M)
    assert "arXiv:2502.06296" in about["references"]
    assert about["resolved_case"] == run.parameters.resolved_case
    profiles = opened(path, form, "profiles")
    assert profiles.attrs["averaged_from"] == run.blocks.time_begin[0]
    assert profiles.attrs["averaged_to"] == run.blocks.time_end[-1]
    assert profiles.U.attrs["cell_methods"] == "area: time: mean"
    assert profiles.uu.attrs["cell_methods"] == "area: time: variance"
    assert profiles.u_rms.attrs["cell_methods"] == "area: time: standard_deviation"
    assert "cell_methods" not in profiles.skew_u.attrs
    assert profiles.U.attrs["ancillary_variables"] == "U_ci95"
    assert profiles.minus_uw.attrs["reference_scale"] == "u_tau^2"
    blocks = opened(path, form, "block_means")
    np.testing.assert_array_equal(blocks[blocks.time.attrs["bounds"]][:, 1], run.blocks.time_end)


@pytest.mark.parametrize(
    "kinds", [("budgets",), ("spectra",), ("densities",), ("scalars", "scalar_budgets"), ("scalar_spectra",)]
)
def test_each_kind_of_statistics(run_of, kinds: tuple[str, ...], tmp_path: Path, form: str) -> None:
    directory, path = run_of(kinds[0]), tmp_path / "out"
    assert main(["export", str(directory), f"--{form}", str(path), "--only", *kinds]) == 0
    found = groups_of(path, form)
    for group in found:
        assert_follows_cf(opened(path, form, group))
    assert {group.partition("/")[0] for group in found} == set(kinds)
    if kinds == ("spectra",):
        spectra = opened(path, form, "spectra")
        assert list(spectra.height_label.values) == list(sp.open(directory).spectra.height.values)


def test_heights_as_seen_from_the_top_wall(whole_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.nc"
    assert main(["export", str(whole_run), "--netcdf", str(path), "--only", "profiles", "--side", "top"]) == 0
    assert opened(path, "netcdf", "profiles").z.attrs["positive"] == "down"


def test_fields_are_compressed_in_pieces(whole_run: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / "out"
    assert main(["export", str(whole_run), f"--{form}", str(path), "--only", "fields", "slices"]) == 0
    if form == "netcdf":
        with h5py.File(path) as file:
            assert file["fields/checkpoints/u"].compression == "gzip"
            assert file["fields/checkpoints/u"].chunks == (2, 8, 4, 6)
    else:
        found = opened(path, form, "fields/checkpoints")
        assert found.u.encoding["chunks"] == (2, 8, 4, 6)
        assert found.u.encoding.get("compressors") or found.u.encoding.get("compressor")
        assert (path / ".zmetadata").is_file()


def test_chunks_hold_whole_planes() -> None:
    assert exported_run._storage_chunks((100, 1, 256, 256), 8) == (8, 1, 256, 256)
    assert exported_run._storage_chunks((100, 200, 256, 256), 8) == (1, 8, 256, 256)
    assert exported_run._storage_chunks((3, 200, 2048, 2048), 8) == (1, 1, 2048, 2048)
    assert exported_run._storage_chunks((600, 1, 1, 16), 8) == (600, 1, 1, 16)


def test_nothing_is_overwritten_unless_asked_for(
    whole_run: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out"
    command = ["export", str(whole_run), f"--{form}", str(path), "--only"]
    assert main([*command, "key_figures"]) == 0
    assert main([*command, "time_series"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert groups_of(path, form) == ["key_figures"]
    assert main([*command, "time_series", "--overwrite"]) == 0
    assert groups_of(path, form) == ["time_series"]
    own = tmp_path / "own"
    own.mkdir()
    (own / "notes.txt").write_text("mine")
    assert main(["export", str(whole_run), f"--{form}", str(own), "--overwrite"]) == 2
    assert "is not replaced" in capsys.readouterr().err
    assert (own / "notes.txt").read_text() == "mine"
    assert sorted(item.name for item in tmp_path.iterdir()) == ["out", "own"]


def test_ctrl_c_leaves_nothing(whole_run: Path, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    command = ["export", str(whole_run), f"--{form}", str(path), "--only", "key_figures", "fields"]
    assert main([*command[:-1], "profiles"]) == 0

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exported_run, "verify_fields", interrupted)
    with pytest.raises(KeyboardInterrupt):
        main([*command, "--overwrite"])
    assert [item.name for item in tmp_path.iterdir()] == ["out"]
    assert groups_of(path, form) == ["key_figures", "profiles"]  # of the export before


FULL = """
import resource, sys
from sluice_post.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
raise SystemExit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("limit", [2000, 65536])
def test_a_full_disk_leaves_nothing(tmp_path: Path, form: str, limit: int) -> None:
    """Files may not grow beyond a limit: HDF5 fails in the first group, in the fields or at the end."""
    path = tmp_path / "new" / "out"
    flow = synthetic.Flow(cells=(96, 128, 8))
    planes = np.random.default_rng(1).random((4, 128, 96))  # 384 KiB
    synthetic.write_slices(tmp_path, "z0", flow, 0.083, [1.0, 2.0, 3.0, 4.0], planes)
    command = [sys.executable, "-c", FULL, str(limit), "export", str(tmp_path), f"--{form}", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 4, done.stderr
    assert f"sluice-post: {path}: cannot be written" in done.stderr
    assert list(path.parent.iterdir()) == []


def test_a_damaged_field_is_not_exported(whole_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_fields(tmp_path)
    damaged = tmp_path / "checkpoints" / "step_0000001.h5"
    with h5py.File(damaged) as file:
        place = file["v"].id.get_offset()
    content = bytearray(damaged.read_bytes())
    content[place + 9] ^= 1
    damaged.write_bytes(content)
    assert main(["export", str(tmp_path), "--netcdf", str(tmp_path / "out.nc")]) == 4
    assert f"{damaged}: the field '/v' is damaged" in capsys.readouterr().err
    assert not (tmp_path / "out.nc").exists()


def test_what_cannot_be_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "out.nc")
    assert main(["export", str(tmp_path), "--netcdf", path]) == 2
    assert "has nothing to export" in capsys.readouterr().err
    write_fields(tmp_path)
    assert main(["export", str(tmp_path), "--netcdf", path, "--from", "5", "--only", "fields"]) == 2
    assert "no fields checkpoints between these times" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "none"), "--netcdf", path]) == 4


def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sluice_post.errors.find_spec", lambda name: None if name == "zarr" else name)
    assert main(["export", str(tmp_path), "--zarr", str(tmp_path / "out")]) == 2
    err = capsys.readouterr().err
    assert "zarr is not installed. In the folder of Sluice's sources: pip install './postprocess[zarr]'" in err
