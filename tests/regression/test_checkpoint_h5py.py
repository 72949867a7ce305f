"""Other programs open our files: h5py, and xarray where it is installed.

Run as `python3 test_checkpoint_h5py.py PATH/TO/test_files`, or with pytest and SLUICE_TEST_FILES set to that
program.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")

DIMENSIONS = {"u": ("z", "y", "x_face"), "v": ("z", "y_face", "x"), "w": ("z_face", "y", "x"), "p": ("z", "y", "x")}
SHAPE = (3, 4, 5)
VALUES = np.concatenate([[0.3], np.arange(1.0, 60.0)]).reshape(SHAPE)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a checkpoint, a statistics file and a slice, written by the C++ test program."""
    program = os.environ.get("SLUICE_TEST_FILES")
    if not program:
        pytest.skip("SLUICE_TEST_FILES does not name the program test_files")
    directory = tmp_path_factory.mktemp("samples")
    environment = dict(os.environ, SLUICE_SAMPLE_DIR=str(directory))
    subprocess.run([program, "--gtest_filter=Sample.*"], env=environment, check=True, capture_output=True)
    return directory


def test_fields_and_their_attributes(samples: Path) -> None:
    with h5py.File(samples / "step_0000012.h5") as file:
        for name in DIMENSIONS:
            field = file[name]
            assert field.shape == SHAPE
            assert field.dtype == np.float64
            assert field.chunks is None
            assert field.attrs["units"] == "1"
            assert field.attrs["long_name"]
            np.testing.assert_array_equal(field[...], VALUES)
        assert file.attrs["format"] == "Sluice checkpoint"
        assert file.attrs["format_version"] == 1
        assert file.attrs["git_revision"] == "abc123"
        assert file.attrs["resolved_case"] == "case"
        assert file["state"].attrs["dt"] == 0.0123


def test_sluice_post_computes_the_hash_of_the_metadata(samples: Path, tmp_path: Path) -> None:
    hdf5_file = pytest.importorskip("sluice_post.hdf5_file")
    files = sorted(samples.rglob("*.h5"))
    assert [file.name for file in files] == ["z1_0000010.h5", "statistics.h5", "step_0000012.h5", "z1.h5"]
    for file in files:
        content = file.read_bytes()
        assert content.endswith(b"SluiceMH")
        with h5py.File(file) as opened:
            format_name = opened.attrs["format"]
        with hdf5_file.Hdf5File(file, format_name):
            pass
        for place in (30, len(content) - 20, len(content) - 1):
            damaged = tmp_path / file.name
            damaged.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with pytest.raises(hdf5_file.InputOutputError, match="hash"):
                hdf5_file.Hdf5File(damaged, format_name)


def test_dimension_scales(samples: Path) -> None:
    with h5py.File(samples / "step_0000012.h5") as file:
        for name, dimensions in DIMENSIONS.items():
            for axis, (dimension, label) in enumerate(zip(file[name].dims, dimensions, strict=True)):
                assert dimension.label == label
                assert list(dimension.keys()) == [label]
                assert dimension[0] == file["grid"][label]
                assert h5py.h5ds.is_attached(file[name].id, file["grid"][label].id, axis)
        for label in ("x", "y", "z", "x_face", "y_face", "z_face"):
            assert file["grid"][label].is_scale
            assert file["grid"][label].attrs["units"] == "1"
        np.testing.assert_array_equal(file["grid/x_face"][...], np.arange(1.0, 6.0))
        np.testing.assert_array_equal(file["grid/x"][...], np.arange(0.5, 5.0))
        np.testing.assert_array_equal(file["grid/z_face"][...], [0.5, 1.5, 2.0])
        np.testing.assert_array_equal(file["grid/z_node"][...], [0.0, 0.5, 1.5, 2.0])


def test_xarray_names_dimensions_and_finds_coordinates(samples: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(samples / "step_0000012.h5", engine="h5netcdf") as data:
        for name, dimensions in DIMENSIONS.items():
            assert data[name].dims == dimensions
            np.testing.assert_array_equal(data[name].values, VALUES)
        np.testing.assert_array_equal(data["u"].coords["x_face"], np.arange(1.0, 6.0))
        assert data["w"].sel(z_face=2.0).shape == (4, 5)
    with xarray.open_dataset(samples / "statistics.h5", engine="h5netcdf") as data:
        assert data["u"].dims == ("block", "z")
        assert data["uw"].dims == ("block", "z_face")
        assert data["samples"].values.tolist() == [10, 11]
    with xarray.open_dataset(samples / "z1.h5", engine="h5netcdf") as data:
        assert data["u"].dims == ("time", "z", "y", "x_face")
        assert data["time"].values.tolist() == [1.0, 2.0]
        assert data["u"].dtype == np.float32
        assert data["z"].values.tolist() == [1.0]


def test_xdmf_points_at_data_of_the_stated_shape(samples: Path) -> None:
    for document in ("step_0000012.xdmf", "z1.xdmf"):
        items = ElementTree.parse(samples / document).getroot().findall(".//DataItem[@Format='HDF']")
        assert items
        for item in items:
            name, path = str(item.text).split(":")
            with h5py.File(samples / name) as file:
                assert file[path].shape == tuple(int(n) for n in item.attrib["Dimensions"].split())
                assert file[path].dtype.itemsize == int(item.attrib["Precision"])


if __name__ == "__main__":
    os.environ["SLUICE_TEST_FILES"] = str(Path(sys.argv[1]).resolve())
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
