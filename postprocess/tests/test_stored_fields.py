"""Fields along time that stay in their files: what is read, when, and how much memory that takes."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import opened_runs
import pytest
import synthetic
from synthetic_checkpoint import Box, write

pytest.importorskip("h5netcdf")

import h5py

import sluice_post as sp
from sluice_post.datasets import stored
from sluice_post.errors import InputOutputError, NoBlocksError

TIMES = (0.5, 1.5, 2.5)


@pytest.fixture(params=[True, False], ids=["dask", "no dask"])
def with_dask(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param:
        pytest.importorskip("dask")
    else:
        monkeypatch.setattr(stored, "find_spec", lambda _: None)
    return bool(request.param)


def write_checkpoints(directory: Path) -> None:
    """Three of them, whose u grows by 1000 with each."""
    for n, time in enumerate(TIMES):
        path = directory / "checkpoints" / f"step_{10 * n:07}.h5"
        opened_runs.write_checkpoint(path, time)
        with h5py.File(path, "a") as file:
            file.attrs["step"] = 10 * n
            file["u"][...] += 1000 * n


def write_output(directory: Path, name: str, step: int, time: float, fields: tuple[str, ...]) -> Path:
    """A file of output.fields: quantities at the centres of the cells."""
    path = directory / "fields" / f"{name}_{step:07}.h5"
    path.parent.mkdir(exist_ok=True)
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": "Sluice fields", "time": time, "step": step, "sluice_version": "0.1.0"})
        file.attrs.update({"git_revision": "0123", "resolved_case": "title: A case\n"})
        for axis, count in zip("xyz", (4, 3, 2), strict=True):
            file[axis] = np.arange(count) + 0.5
            file[axis].make_scale(axis)
        for field in fields:
            file[field] = np.full((2, 3, 4), time, dtype=np.float32)
            for dimension, axis in zip(file[field].dims, "zyx", strict=True):
                dimension.attach_scale(file[axis])
    return path


@pytest.mark.usefixtures("with_dask")
def test_fields_along_time(tmp_path: Path) -> None:
    write_checkpoints(tmp_path)
    for step, time in ((7, 0.25), (10000000, 1.0)):
        write_output(tmp_path, "vortices", step, time, ("q", "u"))
    run = sp.open(tmp_path)
    assert list(run.fields) == ["checkpoints", "vortices"]
    found = run.fields["checkpoints"]
    assert not found.u.variable._in_memory
    assert found.u.dims == ("time", "z", "y", "x_face")
    assert found.w.dims == ("time", "z_face", "y", "x")
    np.testing.assert_array_equal(found.time, TIMES)
    np.testing.assert_array_equal(found.step, [0, 10, 20])
    for n, step in enumerate((0, 10, 20)):
        for field in "uvwp":
            np.testing.assert_array_equal(found[field][n], run.checkpoints[step][field])
    np.testing.assert_array_equal(found.u[::-2, 1, ::2, [1, 3]], found.u.values[::-2, 1, ::2][..., [1, 3]])
    assert run.between(1.0, 2.0).fields["checkpoints"].time.values.tolist() == [1.5]
    with pytest.raises(NoBlocksError, match="no fields checkpoints between these times"):
        assert run.between(9.0).fields["checkpoints"]

    vortices = run.fields["vortices"]
    assert vortices.q.dims == ("time", "z", "y", "x")  # also u: all are at the centres
    assert vortices.u.dims == ("time", "z", "y", "x")
    assert vortices.q.dtype == np.float32
    np.testing.assert_array_equal(vortices.q[:, 0, 0, 0], [0.25, 1.0])
    assert (vortices.q.attrs["units"], vortices.u.attrs["units"]) == ("U^2/h^2", "U")
    assert (vortices.z.attrs["axis"], vortices.z.attrs["positive"]) == ("Z", "up")


def test_files_of_a_series_that_do_not_fit_are_named(tmp_path: Path) -> None:
    write_output(tmp_path, "a", 1, 1.0, ("q",))
    other = write_output(tmp_path, "a", 2, 2.0, ("q", "lambda2"))
    with pytest.raises(InputOutputError, match=rf"{other}: has other points or fields"):
        assert sp.open(tmp_path).fields["a"]
    other.write_text("cut short")
    with pytest.raises(InputOutputError, match=str(other)):
        assert sp.open(tmp_path).fields["a"]


@pytest.mark.usefixtures("with_dask")
def test_a_part_of_the_fields_is_read_without_the_rest(tmp_path: Path) -> None:
    cells = (64, 48, 200)
    (tmp_path / "checkpoints").mkdir()
    paths = [tmp_path / "checkpoints" / f"step_{step:07}.h5" for step in (1, 2)]
    for path in paths:
        write(path, Box(cells, np.linspace(0, 2, cells[2] + 1)), lambda x, y, z: x + y + z, lambda x, y, z: z)
    u = sp.open(tmp_path).fields["checkpoints"].u
    float(u[0, 0, 0, 0])  # imports
    paths[1].unlink()
    tracemalloc.start()
    plane = u.isel(time=0, z=17).values
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.2 * u[0].nbytes
    np.testing.assert_allclose(plane[5], u.x_face + float(u.y[5]) + float(u.z[17]))
    with pytest.raises(InputOutputError, match=paths[1].name):
        assert u[1].values


@pytest.mark.usefixtures("with_dask")
def test_slices_are_read_and_verified_part_by_part(tmp_path: Path, flow: synthetic.Flow) -> None:
    synthetic.write_slices(tmp_path, "z0", flow, 0.083, [1.0, 2.0, 3.0, 4.0, 5.0], part_samples=2)
    first, second, third = sorted((tmp_path / "slices" / "parts").iterdir())
    u = sp.open(tmp_path, begin=2.0).slices["z0"].u
    assert u.sizes["time"] == 4
    np.testing.assert_array_equal(u[::2, 0], [synthetic.streaks(flow, seed) for seed in (1, 3)])
    content = bytearray(second.read_bytes())
    third.unlink()
    np.testing.assert_array_equal(u[0, 0], synthetic.streaks(flow, 1))
    with h5py.File(second) as file:
        place = file["u"].id.get_offset()
    content[place + 5] ^= 1
    second.write_bytes(content)  # a change after it was verified is found, too
    with pytest.raises(InputOutputError, match=second.name):
        assert u[1].values
    synthetic.write_slices(tmp_path, "z0", flow, 0.083, [1.0], part_samples=2)
    assert first.is_file()
    with pytest.raises(InputOutputError, match="a restart has cut it"):
        assert u[0].values


MEMORY = """
import gc, resource, sys
import numpy as np, dask, h5netcdf, xarray
import sluice_post as sp
from sluice_post.cli import main
from sluice_post.datasets import stored
from sluice_post.errors import InputOutputError

dask.config.set(scheduler="synchronous")
directory, output, with_dask = sys.argv[1:]
assert main(["export", directory, "--netcdf", output, "--only", "slices", "--from", "31"]) == 0  # imports
if not with_dask:
    stored.find_spec = lambda _: None
with open("/proc/self/status") as file:
    used = 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + 80 * 2**20,) * 2)
u = sp.open(directory).slices["z0"].u
try:
    u.values
except (MemoryError, InputOutputError):
    pass
else:
    raise SystemExit("the limit has no effect")
gc.collect()
if with_dask:
    means = u.mean(["z", "y", "x_face"]).values
    assert main(["export", directory, "--netcdf", output, "--only", "slices", "--overwrite"]) == 0
else:
    means = [float(u[n].mean()) for n in range(u.sizes["time"])]
np.testing.assert_allclose(means, np.arange(32))
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="needs the size of the process")
def test_memory_does_not_grow_with_the_number_of_slices(tmp_path: Path, with_dask: bool) -> None:
    """128 MiB of slices within 80 MiB."""
    flow = synthetic.Flow(cells=(1024, 512, 8))
    planes = np.broadcast_to(np.arange(32.0)[:, None, None], (32, 512, 1024))
    synthetic.write_slices(tmp_path, "z0", flow, 0.083, list(np.arange(32.0)), planes, part_samples=1)
    arguments = [str(tmp_path), str(tmp_path / "out.nc"), "dask" if with_dask else ""]
    done = subprocess.run([sys.executable, "-c", MEMORY, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
