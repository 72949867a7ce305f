"""Contents of a run's files, read by other programs: h5py, xarray, and a reader of XDMF such as ParaView."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import h5py
import numpy as np
import pytest
from sluice_run import checkpoints, must, record, rows, sluice, write_case

DIMENSIONS = {"u": ("z", "y", "x_face"), "v": ("z", "y_face", "x"), "w": ("z_face", "y", "x"), "p": ("z", "y", "x")}
SHAPE = (32, 12, 16)
STEPS = 13


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a short run on two ranks; every step is sampled."""
    folder = tmp_path_factory.mktemp("run")
    case = write_case(
        folder,
        {
            "time.steps": STEPS,
            "output.statistics": {"start": 0, "every": 1, "block": 1000},
            "output.spectra": {"start": 0, "every": 1, "block": 0.5},
            "output.densities": {"start": 0, "every": 1, "block": 0.5, "heights": [0.1, 1.9]},
            "output.checkpoint": {"every": 0.3, "keep": 100},
        },
    )
    must(sluice("run", case, ranks=2))
    return folder / "out"


def cell_size(file: h5py.File) -> tuple[float, float, np.ndarray]:
    return (file["grid/x_node"][1], file["grid/y_node"][1], np.diff(file["grid/z_node"][...]))


def test_all_files_are_there(out: Path) -> None:
    names = {path.name for path in out.iterdir()}
    assert names == {
        "resolved.yaml",
        "run.json",
        "log.txt",
        "lock",
        "timeseries.csv",
        "checkpoints",
        "statistics.h5",
        "spectra.h5",
        "densities.h5",
        "slices",
        "probes",
    }
    assert {path.suffix for path in (out / "checkpoints").iterdir()} == {".h5", ".xdmf"}
    assert {path.name for path in (out / "slices").iterdir()} == {
        *(f"{label}.{kind}" for label in ("y1", "z0.1") for kind in ("h5", "xdmf")),
        "parts",
    }


def test_coordinates(out: Path) -> None:
    with h5py.File(checkpoints(out)[-1]) as file:
        for axis, (n, length) in zip("xyz", [(16, 2 * np.pi), (12, np.pi), (32, 2)], strict=True):
            node = file[f"grid/{axis}_node"][...]
            assert node.shape == (n + 1,)
            assert node[0] == 0
            assert node[-1] == pytest.approx(length, rel=1e-15)
            np.testing.assert_array_equal(file[f"grid/{axis}_face"][...], node[1:])
            np.testing.assert_allclose(file[f"grid/{axis}"][...], (node[1:] + node[:-1]) / 2, rtol=1e-14)
        k = np.arange(33)
        np.testing.assert_allclose(
            file["grid/z_node"][...], 1 + np.tanh(1.6 * (2 * k / 32 - 1)) / np.tanh(1.6), atol=1e-14
        )


def derivative(f: np.ndarray, axis: int, spacing: float) -> np.ndarray:
    """The derivative at the centres by eq. (7) of a velocity on the upper faces of the cells."""

    def difference(below: int, above: int) -> np.ndarray:
        return (np.roll(f, -above, axis) - np.roll(f, -below, axis)) / ((above - below) * spacing)

    return 9 / 8 * difference(-1, 0) - 1 / 8 * difference(-2, 1)


def test_values_lie_where_the_format_says(out: Path) -> None:
    """At their documented positions, the velocities are divergence-free, and w vanishes on the top wall."""
    with h5py.File(checkpoints(out)[-1]) as file:
        dx, dy, dz = cell_size(file)
        u, v, w = (file[name][...] for name in "uvw")
        assert (w[-1] == 0).all()
        assert np.abs(w[:-1]).max() > 1e-3
        below = np.concatenate([np.zeros_like(w[:1]), w[:-1]])
        divergence = derivative(u, 2, dx) + derivative(v, 1, dy) + (w - below) / dz[:, None, None]
        assert np.abs(divergence).max() < 1e-11


def test_time_series_agrees_with_the_fields(out: Path) -> None:
    last = rows(out)[-1]
    with h5py.File(checkpoints(out)[-1]) as file:
        _, _, dz = cell_size(file)
        mean = {name: np.average(file[name][...].mean(axis=(1, 2)), weights=dz) for name in "u"}
        # Face values along z are weighted with half of both neighbours; u and v with their own cell.
        dz_face = np.append((dz[1:] + dz[:-1]) / 2, dz[-1] / 2)
        energy = (
            sum(
                np.sum(w * (file[name][...] ** 2).mean(axis=(1, 2)))
                for name, w in [("u", dz), ("v", dz), ("w", dz_face)]
            )
            / 2
            / dz.sum()
        )
        assert last["step"] == file.attrs["step"] == STEPS
        assert last["time"] == file.attrs["time"]
        assert last["dt"] == file["state"].attrs["dt"]
        assert last["bulk_velocity"] == pytest.approx(mean["u"], abs=1e-13)
        assert last["bulk_velocity"] == pytest.approx(1, abs=1e-13)
        assert last["kinetic_energy"] == pytest.approx(energy, rel=1e-12)
        nu = 2 / 5600
        shear = nu * file["u"][0].mean() / (dz[0] / 2)
        assert last["re_tau_bottom"] == pytest.approx(np.sqrt(shear) / nu, rel=1e-12)
        assert last["max_divergence"] < 1e-11
        assert last["cfl"] == pytest.approx(0.9)


def test_statistics_are_sums_of_plane_means(out: Path, tmp_path: Path) -> None:
    case = write_case(tmp_path, {"output.statistics": {"start": 0, "every": 1, "block": 1000}})
    must(sluice("run", case, "--steps", 1))
    with h5py.File(checkpoints(tmp_path / "out")[-1]) as file:
        opened = file["statistics_open"]
        assert opened.attrs["samples"] == 1
        for name in "uvp":
            np.testing.assert_allclose(opened[name][...], file[name][...].mean(axis=(1, 2)), atol=1e-14)
            square = (file[name][...] ** 2).mean(axis=(1, 2))
            np.testing.assert_allclose(opened[name * 2][...], square, rtol=1e-12)
    with h5py.File(checkpoints(out)[-1]) as file:
        assert file["statistics_open"].attrs["samples"] == STEPS


@pytest.mark.parametrize(("label", "normal", "fields"), [("z0.1", 0, "uw"), ("y1", 1, "uvwp")])
def test_slices_are_planes_of_the_fields(tmp_path: Path, label: str, normal: int, fields: str) -> None:
    """A checkpoint and a slice of the same step contain the same numbers."""
    case = write_case(
        tmp_path,
        {
            "time.steps": 3,
            "output.checkpoint": {"every": 1e-6, "keep": 9},
            "output.slices": [
                {"normal": "z", "at": 0.1, "every": 1e-6, "fields": ["u", "w"]},
                {"normal": "y", "at": 1.0, "every": 1e-6, "fields": ["u", "v", "w", "p"]},
            ],
        },
    )
    must(sluice("run", case, ranks=2))
    with h5py.File(tmp_path / "out" / "slices" / f"{label}.h5") as planes:
        assert planes["step"][...].tolist() == [1, 2, 3]
        assert planes.attrs["normal"] == label[0]
        assert planes.attrs["at"] == float(label[1:])
        assert {name for name in "uvwp" if name in planes} == set(fields)
        for n, whole in enumerate(checkpoints(tmp_path / "out")):
            with h5py.File(whole) as file:
                index = int(np.abs(file[f"grid/{label[0]}"][...] - float(label[1:])).argmin())
                assert planes["time"][n] == file.attrs["time"]
                for name in fields:
                    np.testing.assert_array_equal(planes[name][n], file[name][...].take([index], axis=normal))
                    for axis, line in enumerate(DIMENSIONS[name]):
                        points = file[f"grid/{line}"][...]
                        expected = points[[index]] if axis == normal else points
                        np.testing.assert_array_equal(planes[line][...], expected)


def numbers(item: ElementTree.Element) -> tuple[int, ...]:
    return tuple(int(n) for n in item.attrib["Dimensions"].split())


def stored(document: Path, item: ElementTree.Element) -> np.ndarray:
    """The dataset that an item of an XDMF document refers to, of the shape and precision that it states."""
    name, path = str(item.text).strip().split(":")
    with h5py.File(document.parent / name) as file:
        assert file[path].shape == numbers(item), (document, path)
        assert file[path].dtype.itemsize == int(item.attrib["Precision"])
        return np.asarray(file[path][...])


def test_xdmf_of_checkpoints_leads_to_data_of_the_stated_shape(out: Path) -> None:
    documents = sorted((out / "checkpoints").glob("*.xdmf"))
    assert len(documents) >= 2
    for document in documents:
        (grid,) = ElementTree.parse(document).getroot().iter("Grid")
        with h5py.File(document.with_suffix(".h5")) as file:
            assert float(grid.find("Time").attrib["Value"]) == file.attrs["time"]  # type: ignore[union-attr]
        shapes = {stored(document, item).shape for item in grid.findall("Attribute/DataItem")}
        assert shapes == {SHAPE}
        nodes = [stored(document, item).size for item in grid.findall("Geometry/DataItem")]
        assert nodes == [n + 1 for n in reversed(SHAPE)]
        topology = grid.find("Topology")
        assert topology is not None
        assert list(numbers(topology)) == [n + 1 for n in SHAPE]


@pytest.mark.parametrize("label", ["z0.1", "y1"])
def test_xdmf_of_slices_leads_to_the_values_at_each_time(out: Path, label: str) -> None:
    document = out / "slices" / f"{label}.xdmf"
    grids = [
        grid for grid in ElementTree.parse(document).getroot().iter("Grid") if grid.attrib["GridType"] == "Uniform"
    ]
    with h5py.File(document.with_suffix(".h5")) as file:
        assert len(grids) == len(file["time"]) >= 2
        for n, grid in enumerate(grids):
            assert float(grid.find("Time").attrib["Value"]) == file["time"][n]  # type: ignore[union-attr]
            for item, line in zip(grid.findall("Geometry/DataItem"), "xyz", strict=True):
                np.testing.assert_array_equal(stored(document, item), file[line][...])
            names = [attribute.attrib["Name"] for attribute in grid.findall("Attribute")]
            assert names == [name for name in "uvwp" if name in file]
            for name, slab in zip(names, grid.findall("Attribute/DataItem"), strict=True):
                selection, values = slab
                start, stride, count = np.array(str(selection.text).split(), dtype=int).reshape(3, 4)
                assert stride.tolist() == [1, 1, 1, 1]
                chosen = tuple(slice(a, a + b) for a, b in zip(start, count, strict=True))
                assert tuple(count[1:]) == numbers(slab) == file[name].shape[1:]
                np.testing.assert_array_equal(stored(document, values)[chosen][0], file[name][n])


def test_h5py_finds_scales_units_and_checksums(out: Path) -> None:
    with h5py.File(checkpoints(out)[-1]) as file:
        assert file.attrs["format"] == "Sluice checkpoint"
        assert file.attrs["git_revision"]
        for name, dimensions in DIMENSIONS.items():
            field = file[name]
            assert field.shape == SHAPE
            assert field.dtype == np.float64
            assert field.chunks is None
            assert field.attrs["units"] == "1"
            assert " / " in field.attrs["long_name"]
            assert [dimension.label for dimension in field.dims] == list(dimensions)
            for dimension, label in zip(field.dims, dimensions, strict=True):
                assert dimension[0] == file[f"grid/{label}"]


def test_xarray_opens_all_kinds_of_files(out: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(checkpoints(out)[-1], engine="h5netcdf") as data:
        for name, dimensions in DIMENSIONS.items():
            assert data[name].dims == dimensions
            assert data[name].shape == SHAPE
        assert float(data["w"].sel(z_face=2.0).max()) == 0
        assert data["u"].mean(("y", "x_face")).dims == ("z",)
    with xarray.open_dataset(out / "statistics.h5", engine="h5netcdf") as data:
        assert data["uw"].dims == ("block", "z_face")
    with xarray.open_dataset(out / "slices" / "y1.h5", engine="h5netcdf") as data:
        assert data["p"].dims == ("time", "z", "y", "x")
        assert data["p"].shape == (data.sizes["time"], 32, 1, 16)


FILES = (
    "statistics.h5",
    "spectra.h5",
    "densities.h5",
    "checkpoints/*.h5",
    "slices/y1.h5",
    "slices/z0.1.h5",
    "slices/parts/z0.1_*.h5",
    "probes/line.h5",
    "probes/parts/line_*.h5",
)


@pytest.mark.parametrize("pattern", FILES)
def test_xarray_opens_files_by_their_names_alone(out: Path, pattern: str) -> None:
    """All axes have coordinates, and all variables a description and a unit."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(sorted(out.glob(pattern))[-1]) as data:
        assert len(data) > 0
        assert set(data.dims) <= set(data.coords)
        for name, values in data.variables.items():
            assert values.attrs["long_name"], name
            assert values.attrs["units"] == "1", name
            assert values.load().shape == tuple(data.sizes[dim] for dim in values.dims)


def test_run_json(out: Path) -> None:
    run = record(out)
    for key in (
        "version",
        "git_revision",
        "compiler",
        "precision",
        "libraries",
        "machine",
        "ranks",
        "threads",
        "gpus",
        "process_grid",
        "exchange",
        "why_stopped",
        "point_steps_per_second",
        "memory_bytes",
        "phases",
        "runs",
    ):
        assert key in run, key
    assert run["ranks"] == 2
    assert run["steps_taken"] == STEPS
    points = float(np.prod(SHAPE))
    assert run["point_steps_per_second"] == pytest.approx(points * STEPS / run["stepping_seconds"])
    assert 0 < sum(phase["seconds"] for phase in run["phases"]) <= run["wall_seconds"]
