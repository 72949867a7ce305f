"""Fields at cell centres, for pictures: output.fields."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import assert_same_content, checkpoints, must, sluice, write_case

EVERYTHING = ["velocity", "fluctuation", "vorticity", "q", "lambda2", "p"]
FIELDS: list[dict[str, Any]] = [
    {"name": "all", "every": 1e-6, "fields": EVERYTHING, "precision": "double"},
    {"name": "part", "every": 1e-6, "fields": ["velocity"], "stride": [3, 2, 4], "x": [1, 5], "z": [0, 1]},
]
STEPS = 4
CHANGES: dict[str, Any] = {
    "time.steps": STEPS,
    "output.checkpoint": {"every": 1e-6, "keep": 9},
    "output.fields": FIELDS,
    "solver": {"order": 2},
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    must(sluice("run", write_case(folder, CHANGES), ranks=4))
    return folder / "out"


def files(out: Path, name: str) -> list[Path]:
    return sorted((out / "fields").glob(f"{name}_*.h5"))


def centred(file: h5py.File) -> dict[str, np.ndarray[Any, Any]]:
    """Velocity of a checkpoint at the centres, by order 2."""
    u, v, w = (file[name][...] for name in "uvw")
    below = np.concatenate([np.zeros_like(w[:1]), w[:-1]])
    return {"u": (u + np.roll(u, 1, 2)) / 2, "v": (v + np.roll(v, 1, 1)) / 2, "w": (w + below) / 2}


def test_values_are_those_of_the_checkpoint_at_the_centres(out: Path) -> None:
    assert len(files(out, "all")) == STEPS
    for path, checkpoint in zip(files(out, "all"), checkpoints(out), strict=True):
        with h5py.File(path) as file, h5py.File(checkpoint) as whole:
            assert file.attrs["step"] == whole.attrs["step"]
            assert file.attrs["time"] == whole.attrs["time"]
            for name, values in centred(whole).items():
                np.testing.assert_allclose(file[name][...], values, rtol=0, atol=1e-15)
                mean = values.mean(axis=(1, 2), keepdims=True)
                np.testing.assert_allclose(file[f"{name}_fluctuation"][...], values - mean, rtol=0, atol=1e-13)
            np.testing.assert_array_equal(file["p"][...], whole["p"][...])
            np.testing.assert_array_equal(file["grid/z"][...], whole["grid/z"][...])
            assert file["q"][...].max() > 0 > file["lambda2"][...].min()


def test_a_part_has_the_values_of_the_whole(out: Path) -> None:
    with h5py.File(files(out, "all")[-1]) as whole, h5py.File(files(out, "part")[-1]) as part:
        indices = [np.flatnonzero(np.isin(whole[f"grid/{axis}"][...], part[f"grid/{axis}"][...])) for axis in "zyx"]
        x = whole["grid/x"][...][indices[2]]
        assert x.min() >= 1
        assert x.max() <= 5
        assert whole["grid/z"][...][indices[0]].max() <= 1
        assert [np.diff(index).max() for index in indices] == [4, 2, 3]
        for name in "uvw":
            assert part[name].dtype == np.float32
            np.testing.assert_array_equal(part[name][...], whole[name][...][np.ix_(*indices)].astype(np.float32))


FLOWS: dict[str, dict[str, Any]] = {
    "channel": {},
    "order 4": {"solver.order": 4},
    "couette": {"flow": {"type": "couette", "reynolds": {"wall": 1000}}, "solver.order": 4},
    "open channel": {"flow": {"type": "open_channel", "reynolds": {"tau": 180}}, "domain.size": [6, 3, 1]},
}


# Of the largest value, in units of eps; velocity and p are bitwise the same. lambda2 is the root of a cubic equation.
ROUND_OFF = {"u": 0, "v": 0, "w": 0, "p": 0, "lambda2": 100}


@pytest.mark.parametrize("flow", FLOWS)
def test_sluice_post_computes_the_same_fields_from_a_checkpoint(tmp_path: Path, flow: str) -> None:
    main = pytest.importorskip("sluice_post.cli").main
    part = {**FIELDS[1], "fields": EVERYTHING, "y": [0.3, 2.5]}
    must(sluice("run", write_case(tmp_path, {**CHANGES, **FLOWS[flow], "output.fields": [FIELDS[0], part]})))
    options = {
        "all": ["--precision", "double"],
        "part": ["--stride", "3", "2", "4", "--x", "1", "5", "--y", "0.3", "2.5", "--z", "0", "1"],
    }
    for name, chosen in options.items():
        output = tmp_path / f"{name}.h5"
        checkpoint = str(checkpoints(tmp_path / "out")[-1])
        assert main(["fields", checkpoint, "--fields", *EVERYTHING, *chosen, "-o", str(output)]) == 0
        with h5py.File(files(tmp_path / "out", name)[-1]) as expected, h5py.File(output) as found:
            assert set(found) == set(expected)
            assert found.attrs["step"] == expected.attrs["step"] == STEPS
            assert found.attrs["time"] == expected.attrs["time"]
            for line in expected["grid"]:
                np.testing.assert_array_equal(found["grid"][line][...], expected["grid"][line][...])
            fields = [name for name, item in expected.items() if isinstance(item, h5py.Dataset) and item.ndim == 3]
            assert len(fields) == 12
            for field in fields:
                values = expected[field][...]
                assert found[field].dtype == values.dtype
                limit = ROUND_OFF.get(field, 8) * np.finfo(values.dtype).eps * np.abs(values).max()
                np.testing.assert_allclose(found[field][...], values, rtol=0, atol=limit, err_msg=field)


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_processes_do_not_matter(out: Path, tmp_path: Path, ranks: int) -> None:
    must(sluice("run", write_case(tmp_path, CHANGES), ranks=ranks))
    for path in (out / "fields").glob("*.h5"):
        assert_same_content(path, tmp_path / "out/fields" / path.name)


def test_a_restart_goes_on_with_the_series(out: Path, tmp_path: Path) -> None:
    case = write_case(tmp_path, CHANGES)
    must(sluice("run", case, "--steps", 3))
    must(sluice("run", case, "--restart", checkpoints(tmp_path / "out")[1]))  # from step 2
    for path in (out / "fields").iterdir():
        other = tmp_path / "out/fields" / path.name
        if path.suffix == ".h5":
            assert_same_content(path, other)
        else:
            assert path.read_text() == other.read_text()
    # Without the series in the case, later files go and earlier ones stay.
    without = ("--restart", checkpoints(tmp_path / "out")[2], "--set", "output.fields=[]", "--steps", 4)
    must(sluice("run", case, *without))
    assert [path.stem[-1] for path in files(tmp_path / "out", "all")] == ["1", "2", "3"]


def test_a_series_without_times_has_no_xdmf_file(tmp_path: Path) -> None:
    """Before the first event, and after a step back to before it: ParaView's reader crashes on a series of no time."""
    series = {"name": "f", "every": 0.5, "fields": ["velocity"]}
    slices = [{"normal": "z", "at": 0.5, "every": 0.5, "fields": ["u"]}]
    changes = {"output.checkpoint": {"every": 1e-6, "keep": 99}, "output.fields": [series], "output.slices": slices}
    case, out = write_case(tmp_path, {"time": {"end": 0.6, "cfl": 0.9}, **changes}), tmp_path / "out"

    def documents() -> set[str]:
        return {path.name for path in out.glob("*/*.xdmf") if path.parent.name != "checkpoints"}

    must(sluice("run", case, "--steps", 1))
    assert documents() == set()
    must(sluice("run", case, "--restart", "auto"))
    assert documents() == {"f.xdmf", "z0.5.xdmf"}
    must(sluice("run", case, "--restart", checkpoints(out)[0], "--steps", 1))
    assert documents() == set()
    assert not files(out, "f")


def data_items(series: Path) -> list[tuple[str, tuple[int, ...]]]:
    items = [item for item in ET.parse(series).iter("DataItem") if item.get("Format") == "HDF"]
    return [(str(item.text), tuple(map(int, str(item.get("Dimensions")).split()))) for item in items]


def test_every_reference_of_the_xdmf_file_leads_to_its_values(out: Path) -> None:
    for name, count in (("all", 3 + 12), ("part", 3 + 3)):
        items = data_items(out / f"fields/{name}.xdmf")
        assert len(items) == STEPS * count
        for text, shape in items:
            file, path = text.split(":")
            with h5py.File(out / "fields" / file) as held:
                assert held[path].shape == shape


def test_a_quantity_may_be_added_on_a_restart(tmp_path: Path) -> None:
    series = {"name": "part", "every": 1e-6, "fields": ["p"]}
    must(sluice("run", write_case(tmp_path, {**CHANGES, "output.fields": [series]}), "--steps", 2))
    more = write_case(tmp_path, {**CHANGES, "output.fields": [{**series, "fields": ["p", "velocity"]}]})
    must(sluice("run", more, "--restart", "auto"))
    folder = tmp_path / "out/fields"
    items = data_items(folder / "part.xdmf")
    assert len(items) == STEPS * 4 + 2 * 3  # coordinates and p, and from step 3 on three components
    for text, shape in items:
        file, path = text.split(":")
        with h5py.File(folder / file) as held:
            assert held[path].shape == shape


def test_damage_is_found(out: Path, tmp_path: Path) -> None:
    assert "fields/all_*.h5" in must(sluice("verify", out)).out
    must(sluice("run", write_case(tmp_path, CHANGES)))
    damaged = files(tmp_path / "out", "all")[0]
    with h5py.File(damaged) as file:
        place = file["q"].id.get_offset() + 80
    content = bytearray(damaged.read_bytes())
    content[place] ^= 1
    damaged.write_bytes(content)
    verified = must(sluice("verify", tmp_path / "out"), 3)
    assert damaged.name in verified.out + verified.err
    must(sluice("info", damaged), 3)
    must(sluice("info", files(tmp_path / "out", "all")[1]))


def test_xarray_opens_a_series(out: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(files(out, "all")[0], engine="h5netcdf") as data:
        assert data["u"].dims == ("z", "y", "x")
        assert data["lambda2"].attrs["units"] == "1"
    pytest.importorskip("dask")
    with xarray.open_mfdataset(files(out, "all"), engine="h5netcdf", combine="nested", concat_dim="time") as series:
        assert series["u"].dims == ("time", "z", "y", "x")
        assert series.sizes["time"] == len(files(out, "all"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "a b"}, "cannot name a file"),
        ({"x": [2, 1]}, "is not above 2"),
        ({"z": [0, 3]}, "is outside the domain"),
        ({"fields": ["vorticity", "enstrophy"]}, "allowed"),
        ({"stride": [1, 0, 1]}, "stride"),
        ({"precision": "half"}, "single"),
        ({"x": [1]}, "x"),
    ],
)
def test_wrong_keys_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    refused = must(sluice("check", write_case(tmp_path, {"output.fields": [{**FIELDS[0], **change}]})), 2)
    assert message in refused.err
