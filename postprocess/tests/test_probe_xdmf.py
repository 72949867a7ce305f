"""XDMF files of probes: each reference leads to the values of its sample."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import h5py
import numpy as np
import pytest
from synthetic_probes import LENGTH, write_probe

from sluice_post import layout
from sluice_post.cli import main

TIME = 0.5 * np.arange(1, 24) + 1e-3 / 3  # 23 samples in parts of 10


def values(*shape: int, dtype: str = "f8") -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=(TIME.size, *shape)).astype(dtype)


def line(count: int) -> np.ndarray:
    return np.arange(1, count + 1) * LENGTH / count


def sizes(item: ElementTree.Element) -> tuple[int, ...]:
    return tuple(map(int, item.attrib["Dimensions"].split()))


def resolve(folder: Path, item: ElementTree.Element) -> np.ndarray:
    """The values that an item refers to; they have the shape and the type that it says."""
    assert (item.attrib["Format"], item.attrib["NumberType"]) == ("HDF", "Float")
    name, path = item.text.split(":")
    with h5py.File(folder / name, "r") as file:
        dataset = file[path]
        assert not dataset.is_virtual
        assert dataset.shape == sizes(item)
        assert (dataset.dtype.kind, dataset.dtype.itemsize) == ("f", int(item.attrib["Precision"]))
        return dataset[()]


def opened(directory: Path, name: str) -> list[dict[str, list[np.ndarray]]]:
    """What a reader of the XDMF file finds: for each collection, a list over time of coordinates and fields."""
    path = directory / layout.PROBE_FOLDER / f"{name}.xdmf"
    root = ElementTree.parse(path).getroot()
    assert (root.tag, root.attrib["Version"]) == ("Xdmf", "2.0")
    found = []
    for collection in root.findall("Domain/Grid"):
        assert (collection.attrib["GridType"], collection.attrib["CollectionType"]) == ("Collection", "Temporal")
        series: dict[str, list[np.ndarray]] = {}
        for grid in collection.findall("Grid"):
            topology, geometry = grid.find("Topology"), grid.find("Geometry")
            assert (topology.attrib["TopologyType"], geometry.attrib["GeometryType"]) == ("3DRectMesh", "VXVYVZ")
            of_sample = {"time": float(grid.find("Time").attrib["Value"])}
            lines = [resolve(path.parent, item) for item in geometry.findall("DataItem")]
            of_sample |= dict(zip("xyz", lines, strict=True))
            shape = sizes(topology)
            assert shape == tuple(axis.size for axis in reversed(lines))
            for attribute in grid.findall("Attribute"):
                assert attribute.attrib["Center"] == "Node"
                slab = attribute.find("DataItem")
                selection, array = slab.findall("DataItem")
                start, stride, count = np.array(selection.text.split(), dtype=int).reshape(sizes(selection))
                assert stride.tolist() == [1, 1, 1, 1]
                chosen = tuple(slice(first, first + n) for first, n in zip(start, count, strict=True))
                data = resolve(path.parent, array)[chosen]
                assert sizes(slab) == shape
                assert data.size == np.prod(shape)
                of_sample[attribute.attrib["Name"]] = data.reshape(shape)
            for key, value in of_sample.items():
                series.setdefault(key, []).append(value)
        found.append(series)
    return found


@pytest.mark.parametrize("shape", [(1, 4, 6), (5, 4, 1), (3, 1, 6), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_reference_leads_to_its_sample(tmp_path: Path, shape: tuple[int, ...], dtype: str) -> None:
    """Planes normal to each axis, and a box, in single and double precision."""
    u, p = values(*shape, dtype=dtype), values(*shape, dtype=dtype) + 1
    x = np.array([2.0, 3.0])[:1] if shape[2] == 1 else line(shape[2])
    write_probe(tmp_path, TIME, u, x, part_samples=10, name="plane")
    assert main(["probes", str(tmp_path), "--xdmf"]) == 0
    (found,) = opened(tmp_path, "plane")
    assert found["time"] == TIME.tolist()
    np.testing.assert_array_equal(found["u"], u)
    np.testing.assert_array_equal(found["x"], [x] * TIME.size)
    np.testing.assert_array_equal(found["z"], [np.arange(shape[0]) + 0.25] * TIME.size)
    if shape[2] > 1:  # u is drawn at the points of p
        write_probe(tmp_path / "both", TIME, u, x, part_samples=10, name="plane", pressure=p)
        assert main(["probes", str(tmp_path / "both"), "--xdmf", "--probe", "plane"]) == 0
        (found,) = opened(tmp_path / "both", "plane")
        np.testing.assert_array_equal(found["u"], u)
        np.testing.assert_array_equal(found["p"], p)
        np.testing.assert_allclose(found["x"], [x - x[0] / 2] * TIME.size)


def test_fields_of_other_points_are_a_collection_of_their_own(tmp_path: Path) -> None:
    u, p = values(1, 4, 6), values(1, 4, 5)
    write_probe(tmp_path, TIME, u, line(6), part_samples=10, name="plane", pressure=p)
    assert main(["probes", str(tmp_path), "--xdmf"]) == 0
    first, second = opened(tmp_path, "plane")
    np.testing.assert_array_equal(first["u"], u)
    np.testing.assert_array_equal(second["p"], p)
    assert first.keys() & second.keys() == {"time", *"xyz"}


def test_times_are_chosen_and_other_probes_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Few samples are enough, and a second call writes the file anew."""
    write_probe(tmp_path, TIME, values(1, 4, 6), line(6), part_samples=10, name="plane")
    write_probe(tmp_path, TIME, values(1, 1, 6), line(6), name="line")
    for begin, count in (("4.9", 14), ("9.9", 4)):
        assert main(["probes", str(tmp_path), "--xdmf", "--from", begin]) == 0
        assert capsys.readouterr().out == (
            f"probe plane: {count} samples, for ParaView: {tmp_path / 'probes' / 'plane.xdmf'}\n"
        )
        assert opened(tmp_path, "plane")[0]["time"] == TIME[-count:].tolist()
    assert not (tmp_path / "probes" / "line.xdmf").exists()
    assert not (tmp_path / "figures").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--probe", "line"], "the probe line is not a plane"),
        (["--from", "90"], "has no samples between these times"),
        (["-o", "other"], "leave -o and --segment out"),
        (["--segment", "2"], "leave -o and --segment out"),
    ],
)
def test_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    write_probe(tmp_path, TIME, values(1, 4, 6), line(6), name="plane")
    write_probe(tmp_path, TIME, values(1, 1, 6), line(6), name="line")
    assert main(["probes", str(tmp_path), "--xdmf", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.xdmf"))


def test_no_plane_and_lost_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_probe(tmp_path, TIME, values(1, 1, 6), line(6), name="line")
    assert main(["probes", str(tmp_path), "--xdmf"]) == 2
    assert "none of the probes is a plane" in capsys.readouterr().err
    write_probe(tmp_path, TIME, values(1, 4, 6), line(6), part_samples=10, name="plane")
    (tmp_path / layout.PROBE_FOLDER / layout.PARTS / "plane_0000022.h5").unlink()
    assert main(["probes", str(tmp_path), "--xdmf"]) == 4
    assert "13 of 23 samples are there" in capsys.readouterr().err


def test_a_field_that_does_not_fit_its_coordinates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_probe(tmp_path, TIME, values(1, 4, 6), line(6), name="plane")
    with h5py.File(tmp_path / layout.PROBE_FOLDER / layout.PARTS / "plane_0000002.h5", "a") as file:
        del file["u"]
        file["u"] = values(1, 4, 5)
    assert main(["probes", str(tmp_path), "--xdmf"]) == 4
    message = "plane_0000002.h5: the dataset '/u' cannot be read (its shape is (23, 1, 4, 5) instead of (23, 1, 4, 6))"
    assert message in capsys.readouterr().err
