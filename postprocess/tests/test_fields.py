"""Quantities at cell centres from checkpoints, against exact values, and the files that hold them."""

import tracemalloc
from xml.etree import ElementTree

import h5py
import numpy as np
import pytest
from synthetic_checkpoint import COUETTE, FREE_SLIP, Box, write, zero

from sluice_post import layout
from sluice_post.center_fields import CENTER_QUANTITIES, middle_eigenvalue
from sluice_post.checkpoint import order_of, wall_of
from sluice_post.cli import main
from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import Hdf5File

ALL = list(CENTER_QUANTITIES)


def stretched(n):
    return 1 + np.tanh(1.6 * (2 * np.arange(n + 1) / n - 1)) / np.tanh(1.6)


def rough(x, y, z):
    return np.sin(7 * x + 3 * np.cos(11 * y)) * np.cos(5 * z * x + y)


def rough_checkpoint(path, cells=(12, 10, 14), order=4):
    box = Box(cells, stretched(cells[2]), order)
    return write(path, box, rough, lambda x, y, z: rough(y, z, x), lambda x, y, z: rough(z, x, y), rough)


def computed(checkpoint, *options):
    """The datasets of the file that the command writes, all fields in double precision."""
    path = checkpoint.with_name("fields.h5")
    chosen = ["--precision", "double", "--fields", *ALL, *options, "-o", str(path)]
    assert main(["fields", str(checkpoint), *chosen]) == 0
    with h5py.File(path) as file:
        found = {name: file[name][()] for name in file if name not in ("grid", "x", "y", "z")}
        return found | {axis: file[f"grid/{axis}"][()] for axis in "xyz"}


@pytest.mark.parametrize("order", [2, 4])
def test_a_linear_shear_between_moving_walls_is_exact(tmp_path, order):
    """The walls have the velocity of the shear there, so that the planes next to them are exact, too."""
    box = Box((8, 6, 24), stretched(24), order)
    found = computed(write(tmp_path / "c.h5", box, lambda x, y, z: z - 1 + 0 * x, lambda x, y, z: (z - 1) / 2))
    z = found["z"][:, None, None]
    expected = {"u": z - 1, "v": (z - 1) / 2, "omega_x": -0.5, "omega_y": 1.0}
    for name in (name for key in ALL for name in CENTER_QUANTITIES[key].components):
        difference = np.abs(found[name] - expected.get(name, 0.0)).max()
        assert difference < 1e-12, name


def errors(tmp_path, n, order, along_z):
    """Of velocity and vorticity in a flow with free-slip walls; it depends on x and y, or on z alone."""
    box = Box((n, n, n if along_z else 4), np.linspace(0, 2, (n if along_z else 4) + 1), order, FREE_SLIP, (4, 4))
    k = np.pi / 2
    if along_z:
        flow = (lambda x, y, z: np.cos(k * z) + 0 * x, lambda x, y, z: 2 * np.cos(2 * k * z), zero)
        exact = {
            "omega_x": lambda x, y, z: 4 * k * np.sin(2 * k * z) + 0 * x * y,
            "omega_y": lambda x, y, z: -k * np.sin(k * z) + 0 * x * y,
        }
    else:
        flow = (
            lambda x, y, z: np.sin(k * x) * np.cos(k * y),
            lambda x, y, z: np.cos(2 * k * x) * np.sin(k * y),
            lambda x, y, z: np.sin(k * x + k * y),
        )
        exact = {
            "u": flow[0],
            "v": flow[1],
            "omega_x": lambda x, y, z: k * np.cos(k * x + k * y),
            "omega_y": lambda x, y, z: -k * np.cos(k * x + k * y),
            "omega_z": lambda x, y, z: -2 * k * np.sin(2 * k * x) * np.sin(k * y) + k * np.sin(k * x) * np.sin(k * y),
            "q": lambda x, y, z: (
                -((k * np.cos(k * x) * np.cos(k * y)) ** 2 + (k * np.cos(2 * k * x) * np.cos(k * y)) ** 2) / 2
                - 2 * (k * np.sin(k * x) * np.sin(k * y)) * (k * np.sin(2 * k * x) * np.sin(k * y))
            ),
        }
    found = computed(write(tmp_path / f"c{n}.h5", box, *flow))
    inner = slice(None) if along_z else slice(1, None)  # w is 0 on the wall, which this flow does not respect
    return {
        name: np.abs(found[name] - np.broadcast_to(box.sample(function), found[name].shape))[inner].max()
        for name, function in exact.items()
    }


@pytest.mark.parametrize("order", [2, 4])
def test_order_of_accuracy_along_x_and_y(tmp_path, order):
    coarse, fine = (errors(tmp_path, n, order, along_z=False) for n in (24, 48))
    for name in coarse:
        assert np.log2(coarse[name] / fine[name]) == pytest.approx(order, abs=0.25), name


def test_order_of_accuracy_along_z(tmp_path):
    coarse, fine = (errors(tmp_path, n, 4, along_z=True) for n in (16, 32))
    for name in coarse:
        assert np.log2(coarse[name] / fine[name]) == pytest.approx(2, abs=0.25), name


def test_fluctuations_are_about_the_mean_of_the_plane(tmp_path):
    found = computed(rough_checkpoint(tmp_path / "c.h5"))
    for c in "uvw":
        means = found[c].mean(axis=(1, 2), keepdims=True)
        assert found[f"{c}_fluctuation"] == pytest.approx(found[c] - means, abs=1e-13)
        assert np.abs(means).max() > 0.02


def test_middle_eigenvalue():
    """Among the matrices are some of rank 1, a multiple of the identity, and 0."""
    rng = np.random.default_rng(5)
    matrices = rng.normal(size=(300, 3, 3))
    matrices += np.swapaxes(matrices, 1, 2)
    vectors = rng.normal(size=(50, 3))
    special = [np.eye(3) * 7, np.zeros((3, 3)), *(np.outer(v, v) for v in vectors)]
    matrices = np.concatenate([matrices, special])
    found = middle_eigenvalue(np.moveaxis(matrices, 0, -1))
    expected = np.linalg.eigvalsh(matrices)[:, 1]
    assert found[:300] == pytest.approx(expected[:300], abs=1e-12)
    assert found[300:] == pytest.approx(expected[300:], abs=1e-6)  # the cubic has a double root


def test_lambda2_of_a_vortex(tmp_path):
    """In a two-dimensional flow the eigenvalues are -Q, -Q and 0."""
    k = np.pi
    box = Box((32, 32, 4), np.linspace(0, 2, 5), 4, FREE_SLIP, (2, 2))
    u = lambda x, y, z: np.sin(k * x) * np.cos(k * y)  # noqa: E731
    v = lambda x, y, z: -np.cos(k * x) * np.sin(k * y)  # noqa: E731
    found = computed(write(tmp_path / "c.h5", box, u, v))
    assert np.mean(found["q"] > 1) == pytest.approx(0.5, abs=0.1)
    assert found["lambda2"] == pytest.approx(-found["q"], abs=1e-6)  # Q is a double root


def test_strides_and_ranges(tmp_path):
    checkpoint = rough_checkpoint(tmp_path / "c.h5")
    whole = computed(checkpoint)
    found = computed(checkpoint, "--stride", "2", "3", "2", "--x", "0.5", "3.1", "--z", "0.2", "1.7")
    x, y, z = (whole[axis] for axis in "xyz")
    cells = [
        np.flatnonzero((z >= 0.2) & (z <= 1.7))[::2],
        np.arange(y.size)[::3],
        np.flatnonzero((x >= 0.5) & (x <= 3.1))[::2],
    ]
    assert [len(chosen) for chosen in cells] != [z.size, y.size, x.size]
    for axis, chosen in zip("zyx", cells, strict=True):
        assert np.array_equal(found[axis], whole[axis][chosen])
    for key in ALL:
        for name in CENTER_QUANTITIES[key].components:
            assert np.array_equal(found[name], whole[name][np.ix_(*cells)]), name


def test_a_range_between_two_centres_takes_the_nearest(tmp_path):
    checkpoint = rough_checkpoint(tmp_path / "c.h5")
    whole = computed(checkpoint)
    middle = whole["y"][4] + 0.01
    found = computed(checkpoint, "--y", str(middle), str(middle + 0.01))
    assert np.array_equal(found["lambda2"], whole["lambda2"][:, 4:5])


def test_the_file_has_its_hashes_and_the_xdmf_file_refers_to_it(tmp_path, monkeypatch, capsys):
    checkpoint = rough_checkpoint(tmp_path / "c.h5")
    monkeypatch.chdir(tmp_path)
    assert main(["fields", str(checkpoint), "--fields", "vorticity", "q", "q", "--stride", "1", "2", "1"]) == 0
    path = tmp_path / "fields_0000120.h5"
    assert capsys.readouterr().out == "12 x 5 x 14 cells: fields_0000120.h5, for ParaView: fields_0000120.xdmf\n"
    names = ["omega_x", "omega_y", "omega_z", "q"]
    with Hdf5File(path, layout.FIELDS_FORMAT) as file:
        assert (file.value("step"), file.value("time")) == (120, 1.5)
        assert file.value("resolved_case") == COUETTE.format(order=4)
        lines = file.coordinates()
        shape = tuple(lines[f"grid/{axis}"].size for axis in "zyx")
        assert all(np.isfinite(file.field(name, shape)).all() for name in names)
        contents = dict(line.split() for line in str(file.value("contents")).splitlines())
    with h5py.File(path) as file:
        assert contents == {name: f"{file[name].attrs['hash']:016x}" for name in names}
        assert file["time"][()] == 1.5
        assert file["q"].dtype == np.float32 and file["q"].dims[2][0] == file["x"]
    content = path.read_bytes()
    assert content.endswith(b"SluiceMH")

    root = ElementTree.parse(path.with_suffix(".xdmf")).getroot()
    referred = [item.text.split(":") for item in root.iter("DataItem") if item.get("Format") == "HDF"]
    assert [name for _, name in referred] == [f"/{name}" for name in ("grid/x", "grid/y", "grid/z", *names)]
    assert {name for name, _ in referred} == {path.name}
    kinds = {a.get("Name"): (a.get("AttributeType"), a.get("Center")) for a in root.iter("Attribute")}
    assert kinds == {"vorticity": ("Vector", "Node"), "q": ("Scalar", "Node")}
    assert [item.get("Dimensions") for item in root.iter("Topology")] == ["14 5 12"]


def test_compressed_fields_have_the_same_values_and_hashes(tmp_path):
    checkpoint = rough_checkpoint(tmp_path / "c.h5")
    path, plain = tmp_path / "compressed.h5", tmp_path / "plain.h5"
    assert main(["fields", str(checkpoint), "--compress", "9", "-o", str(path)]) == 0
    assert main(["fields", str(checkpoint), "-o", str(plain)]) == 0
    with h5py.File(path) as file, h5py.File(plain) as expected:
        shape = file["q"].shape
        assert (file["q"].compression, file["q"].shuffle) == ("gzip", True)
        assert expected["q"].compression is None
        for name in ("u", "v", "w", "q"):
            assert np.array_equal(file[name], expected[name])
            assert file[name].attrs["hash"] == expected[name].attrs["hash"]
        chunk = file["q"].id.get_chunk_info(3)
    with Hdf5File(path, layout.FIELDS_FORMAT) as file:
        file.field("q", shape)
    content = bytearray(path.read_bytes())
    content[chunk.byte_offset + chunk.size // 2] ^= 1
    path.write_bytes(content)
    with Hdf5File(path, layout.FIELDS_FORMAT) as file, pytest.raises(InputOutputError):
        file.field("q", shape)


@pytest.mark.parametrize("name", ["u", "v", "w", "p"])
def test_a_damaged_field_leaves_no_file(tmp_path, name, capsys):
    checkpoint = rough_checkpoint(tmp_path / "c.h5")
    with h5py.File(checkpoint, "a") as file:
        file[name][3, 2, 1] += 1e-9
    output = tmp_path / "new" / "q.h5"
    assert main(["fields", str(checkpoint), "--z", "0", "0.1", "-o", str(output)]) == 4
    assert f"the field '/{name}' is damaged" in capsys.readouterr().err
    assert list(output.parent.iterdir()) == []


def test_walls_and_order_of_resolved_cases():
    text = "solver: {tridiagonal: ptdma, z_blocks: 1}\nwalls:\n  bottom: {type: no_slip, velocity: [0, -1e-3, 0]}\n"
    text += "  top: {type: free_slip}\noutput:\n  order: 7\n  bottom: {type: free_slip}\n"
    assert order_of(text) == 2  # from before there was order 4
    assert order_of(text.replace("ptdma", "ptdma, order: 4")) == 4
    assert wall_of(text, "bottom").velocity == (0, -1e-3, 0)
    assert not wall_of(text, "top").no_slip
    assert wall_of("title: walls\n", "top") is None


def test_a_case_without_walls_is_refused(tmp_path, capsys):
    checkpoint = write(tmp_path / "c.h5", Box((4, 4, 4), stretched(4), case="title: none\n"), zero, zero)
    assert main(["fields", str(checkpoint), "-o", str(tmp_path / "f.h5")]) == 4
    assert "walls" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--x", "2", "1"], "--x 2 1"),
        (["-o", "f.vtk"], "must end in .h5"),
        (["-o", "c.h5"], "is the checkpoint itself"),
    ],
)
def test_wrong_options(tmp_path, monkeypatch, capsys, options, expected):
    checkpoint = rough_checkpoint(tmp_path / "c.h5")
    before = checkpoint.read_bytes()
    monkeypatch.chdir(tmp_path)
    assert main(["fields", "c.h5", *options]) == 2
    assert expected in capsys.readouterr().err
    assert checkpoint.read_bytes() == before


def test_memory_is_a_few_planes(tmp_path):
    cells = (64, 48, 120)
    checkpoint = rough_checkpoint(tmp_path / "c.h5", cells)
    output = ["-o", str(tmp_path / "f.h5")]
    main(["fields", str(checkpoint), "--z", "0", "0", *output])  # imports
    tracemalloc.start()
    assert main(["fields", str(checkpoint), "--fields", "vorticity", *output]) == 0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < cells[0] * cells[1] * cells[2] * 8 / 2
