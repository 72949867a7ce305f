"""The command `modes`: the same as from arrays, part by part; what it prints, writes and refuses."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import synthetic_probes

pytest.importorskip("h5netcdf")

import xarray as xr

from sluice_post import layout
from sluice_post.cli import main
from sluice_post.modes import StreamingPOD, StreamingSPOD

NZ, NX, COUNT, DT = 12, 16, 70, 0.5
FACES = np.tanh(1.5 * np.linspace(-1, 1, NZ + 1)) / np.tanh(1.5) + 1
LINES = {
    "x": (np.arange(NX) + 0.5) / 2,
    "x_face": (np.arange(NX) + 1.0) / 2,
    "y": np.array([1.5]),
    "z": (FACES[1:] + FACES[:-1]) / 2,
    "z_face": FACES[1:],
}
TIME = 3 + DT * np.arange(COUNT)


def write_slice(
    directory: Path, label: str, fields: dict[str, np.ndarray], time: np.ndarray = TIME, part: int = 16
) -> None:
    used = {layout.line_of(field, axis) for field in fields for axis in "xyz"}
    synthetic_probes.write_series(
        directory / layout.SLICE_FOLDER,
        label,
        time,
        np.arange(time.size),
        fields,
        {name: line for name, line in LINES.items() if name in used},
        {"normal": "y", "at": 1.5},
        part,
    )


def random_fields(count: int = COUNT) -> dict[str, np.ndarray]:
    random = np.random.default_rng(4)
    return {name: random.normal(size=(count, NZ, 1, NX)) + 3 for name in ("u", "w", "p")}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_slice(tmp_path, "y1.5", random_fields())
    return tmp_path


def test_pod_is_that_of_the_arrays(run, capsys):
    assert main(["modes", str(run), "--rank", "6", "--from", "5"]) == 0
    fields = random_fields()
    pod = StreamingPOD(LINES, ("u", "w"), 6)
    for n in np.flatnonzero(TIME >= 5):
        pod.add(TIME[n], [fields["u"][n, :, 0], fields["w"][n, :, 0]])
    expected = pod.result()
    printed = capsys.readouterr().out.splitlines()
    memory = f"{pod.memory() / 2**20:.1f} MiB"
    assert printed[0] == f"POD of u w on slices/y1.5: 66 samples from t = 5 to 37.5, {memory}"
    assert printed[2].startswith(f"mode 1: {float(expected.energy[0]):.4g} U^2, ")
    path = run / "pod_y1.5.nc"
    assert printed[-1] == f"modes: {path}"
    with xr.open_dataset(path, engine="h5netcdf") as found:
        for name in ("modes", "energy", "fraction", "total_energy", "energy_error", "mean"):
            np.testing.assert_array_equal(found[name], expected[name])
        assert found.attrs["slice"] == "y1.5"
        assert found.attrs["samples"] == 66
        assert found.energy.attrs["reference_scale"] == "U^2"
        assert list(found.component_label.values) == ["u", "w"]


def test_spod_is_that_of_the_arrays(run, capsys):
    options = ["--spod", "--block", "16", "--overlap", "4", "--window", "hamming", "--homogeneous", "x"]
    path = run / "new" / "found.nc"
    arguments = ["modes", str(run), "--slice", "1", "--fields", "u", "w", *options, "-o", str(path)]
    assert main(arguments) == 0
    fields = random_fields()
    spod = StreamingSPOD(LINES, ("u", "w"), 10, 16, 4, "hamming", ("x",))
    for n, time in enumerate(TIME):
        spod.add(time, [fields["u"][n, :, 0], fields["w"][n, :, 0]])
    expected = spod.result()
    with xr.open_dataset(path, engine="h5netcdf") as found:
        np.testing.assert_array_equal(found.modes_real + 1j * found.modes_imag, expected.modes)
        np.testing.assert_array_equal(found.energy, expected.energy)
        assert found.attrs["blocks"] == 5
        assert found.frequency.attrs["reference_scale"] == "U/h"
    assert "frequency" in capsys.readouterr().out


def test_one_other_field(run):
    assert main(["modes", str(run), "--fields", "p", "--keep-mean"]) == 0
    with xr.open_dataset(run / "pod_y1.5.nc", engine="h5netcdf") as found:
        assert found.energy.attrs["reference_scale"] == "(rho U^2)^2"
        assert float(found.energy[0]) == pytest.approx(9, rel=0.02)
        assert "mean" not in found


def test_memory_does_not_grow_with_the_run(tmp_path):
    import sluice_post.datasets.modes  # noqa: F401

    peaks = []
    for parts in (2, 12):
        directory = tmp_path / str(parts)
        count = 100 * parts
        write_slice(directory, "y1.5", random_fields(count), DT * np.arange(count), part=100)
        tracemalloc.start()
        assert main(["modes", str(directory), "--rank", "3"]) == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--slice", "2"], "no slice 2. There are 1 y1.5"),
        (["--slice", "z1"], "no slice z1. There are 1 y1.5"),
        (["--fields", "v"], "--fields v: the slice has u, w, p"),
        (["--fields", "u", "p"], "only velocities have an energy together"),
        (["--block", "8"], "--block: is for --spod"),
        (["--homogeneous", "y"], "homogeneous y: samples have only z, x"),
        (["--spod"], "at least 2 blocks of 256 samples; 70 samples have 0"),
        (["--spod", "--block", "8", "--window", "nothing"], "window 'nothing'"),
    ],
)
def test_refused_options(run, options, message, capsys):
    assert main(["modes", str(run), *options]) == 2
    assert message in capsys.readouterr().err
    assert not list(run.glob("*.nc"))


def test_which_slice(run, capsys):
    write_slice(run, "y2", random_fields())
    assert main(["modes", str(run)]) == 2
    assert "which slice? There are 1 y1.5, 2 y2" in capsys.readouterr().err
    assert main(["modes", str(run), "--slice", "2"]) == 0
    assert (run / "pod_y2.nc").is_file()


def test_uneven_times_and_missing_slices(tmp_path, capsys):
    assert main(["modes", str(tmp_path)]) == 2
    assert "there are no slices (output.slices)" in capsys.readouterr().err
    write_slice(tmp_path, "y1.5", random_fields(), TIME + 0.01 * np.sin(TIME))
    assert main(["modes", str(tmp_path), "--spod", "--block", "8"]) == 2
    assert "`time.dt`, not `time.cfl`" in capsys.readouterr().err
    assert main(["modes", str(tmp_path)]) == 0
    assert main(["modes", str(tmp_path), "--from", "1e6"]) == 4
    assert "no slice y1.5 between these times" in capsys.readouterr().err
