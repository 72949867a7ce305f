"""output.fields in VTK: ParaView's reader, and its Gradient filter against exact derivatives."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import checkpoints, must, sluice, write_case

pytest.importorskip("vtkmodules")
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkDataObject
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkFiltersGeneral import vtkGradientFilter
from vtkmodules.vtkIOXdmf2 import vtkXdmfReader

Array = np.ndarray[Any, Any]

FIELDS = {"name": "all", "every": 1e-6, "fields": ["velocity", "vorticity", "q"], "precision": "double"}
VECTORS = {"velocity": "uvw", "vorticity": ("omega_x", "omega_y", "omega_z")}
INNER = (slice(1, -1),) * 3  # at the outermost points VTK's differences are one-sided
SIZE = (2, 2, 2)
FACTOR = 1.6


@dataclass
class Opened:
    """The end of a series, opened by its XDMF file; arrays are [k, j, i], with components behind."""

    grid: Any

    def values(self, name: str) -> Array:
        array = vtk_to_numpy(self.grid.GetPointData().GetArray(name))
        return array.reshape(*reversed(self.grid.GetDimensions()), *array.shape[1:])

    @property
    def points(self) -> tuple[Array, Array, Array]:
        """x, y and z of the points, to be broadcast."""
        lines = (getattr(self.grid, f"Get{axis}Coordinates")() for axis in "XYZ")
        z, y, x = np.meshgrid(*(vtk_to_numpy(line) for line in reversed([*lines])), indexing="ij", sparse=True)
        return x, y, z

    def with_gradient(self) -> Opened:
        """As ParaView's filter Gradient gives it, with all its results switched on."""
        gradient = vtkGradientFilter()
        gradient.SetInputData(self.grid)
        gradient.SetInputArrayToProcess(0, 0, 0, vtkDataObject.FIELD_ASSOCIATION_POINTS, "velocity")
        gradient.SetResultArrayName("gradient")
        gradient.ComputeQCriterionOn()
        gradient.SetQCriterionArrayName("vtk_q")
        gradient.ComputeVorticityOn()
        gradient.SetVorticityArrayName("vtk_vorticity")
        gradient.Update()
        return Opened(gradient.GetOutput())


def read(series: Path) -> list[tuple[float, Opened]]:
    """All times of a series, by ParaView's "XDMF Reader"."""
    reader = vtkXdmfReader()
    reader.SetFileName(str(series))
    reader.UpdateInformation()
    information = reader.GetOutputInformation(0)
    steps = vtkStreamingDemandDrivenPipeline.TIME_STEPS()
    found = []
    for time in [information.Get(steps, n) for n in range(information.Length(steps))]:
        reader.UpdateTimeStep(time)
        grid = reader.GetOutputDataObject(0)
        while grid.IsA("vtkMultiBlockDataSet"):
            grid = grid.GetBlock(0)
        copy = grid.NewInstance()
        copy.DeepCopy(grid)
        found.append((time, Opened(copy)))
    return found


def one_step(folder: Path, changes: dict[str, Any]) -> Opened:
    """The fields after a step that is too short to change the flow."""
    case = {
        "domain.size": SIZE,
        "grid.stretching": {"type": "tanh", "factor": FACTOR},
        "time": {"steps": 1, "dt": 1e-6},
        "output": {"directory": "out", "fields": [FIELDS]},
        "solver.order": 2,
    }
    must(sluice("run", write_case(folder, {**case, **changes})))
    ((_, opened),) = read(folder / "out/fields/all.xdmf")
    return opened


def test_the_reader_gives_the_values_of_the_files(tmp_path: Path) -> None:
    """Points at the centres, the components of a vector together."""
    must(sluice("run", write_case(tmp_path, {"time.steps": 3, "output.fields": [FIELDS]})))
    paths = sorted((tmp_path / "out/fields").glob("all_*.h5"))
    assert len(paths) == 3
    for path, (time, opened) in zip(paths, read(tmp_path / "out/fields/all.xdmf"), strict=True):
        with h5py.File(path) as file:
            assert file.attrs["time"] == time
            for axis, found in zip("xyz", opened.points, strict=True):
                np.testing.assert_array_equal(found.ravel(), file[f"grid/{axis}"][...])
            for vector, components in VECTORS.items():
                for n, component in enumerate(components):
                    np.testing.assert_array_equal(opened.values(vector)[..., n], file[component][...])
            np.testing.assert_array_equal(opened.values("q"), file["q"][...])


def test_no_file_makes_the_reader_crash(tmp_path: Path) -> None:
    """Every document of a run, before any event and after all kinds of them, opened by a process of its own."""
    series = [{"name": "f", "every": 0.5, "fields": ["velocity"]}]
    slices = [{"normal": "z", "at": 0.5, "every": 0.5, "fields": ["u"]}]
    probes = [{"name": "plane", "z": 0.5, "every": 5}]
    outputs = {"output.fields": series, "output.slices": slices, "output.probes": probes}
    case = write_case(tmp_path, {"time": {"end": 0.6, "cfl": 0.9}, **outputs})
    for steps in (["--steps", 1], []):
        must(sluice("run", case, "--restart", "auto", *steps))
        documents = sorted((tmp_path / "out").glob("*/*.xdmf"))
        assert {document.parent.name for document in documents} >= (
            {"checkpoints"} if steps else {"checkpoints", "fields", "slices"}
        )
        for document in documents:
            opened = f"import test_paraview, pathlib; print(len(test_paraview.read(pathlib.Path({str(document)!r}))))"
            done = subprocess.run(
                [sys.executable, "-c", opened], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
            )
            assert int(done.stdout) >= 1
            assert done.stderr == ""


def test_the_reader_opens_compressed_fields(tmp_path: Path) -> None:
    main = pytest.importorskip("sluice_post.cli").main
    must(sluice("run", write_case(tmp_path, {"time.steps": 1})))
    (checkpoint,) = checkpoints(tmp_path / "out")
    path = tmp_path / "fields.h5"
    assert main(["fields", str(checkpoint), "--compress", "4", "-o", str(path)]) == 0
    ((_, opened),) = read(path.with_suffix(".xdmf"))
    must(sluice("info", path))
    with h5py.File(path) as file:
        assert file["q"].compression == "gzip"
        for n, component in enumerate("uvw"):
            np.testing.assert_array_equal(opened.values("velocity")[..., n], file[component][...])
        np.testing.assert_array_equal(opened.values("q"), file["q"][...])


@pytest.mark.parametrize(("normal", "axis"), [("x", 3), ("y", 2), ("z", 1)])
def test_the_reader_gives_the_values_of_slices(tmp_path: Path, normal: str, axis: int) -> None:
    slices = [{"normal": normal, "at": 0.5, "every": 1e-6, "fields": ["u", "w"]}]
    must(sluice("run", write_case(tmp_path, {"time.steps": 3, "output.slices": slices})))
    folder = tmp_path / "out/slices"
    with h5py.File(folder / f"{normal}0.5.h5") as file:
        found = read(folder / f"{normal}0.5.xdmf")
        assert [time for time, _ in found] == file["time"][...].tolist()
        assert len(found) == 3
        for n, (_, opened) in enumerate(found):
            for name in ("u", "w"):
                assert file[name].shape[axis] == 1
                np.testing.assert_array_equal(np.squeeze(opened.values(name)), np.squeeze(file[name][n]))


def test_the_gradient_of_a_linear_shear_is_exact(tmp_path: Path) -> None:
    """Laminar Couette flow, u = z - 1, on a stretched grid: exact up to the walls, and so is our vorticity."""
    opened = one_step(
        tmp_path,
        {
            "flow": {"type": "couette", "reynolds": {"wall": 100}},
            "initial": {"type": "laminar"},
            "grid.cells": [8, 6, 24],
        },
    ).with_gradient()
    heights = np.diff(opened.points[2].ravel())
    assert heights.max() > 3 * heights.min()
    exact = np.zeros((3, 3))
    exact[0, 2] = 1
    gradient = opened.values("gradient")
    assert gradient.shape == (24, 6, 8, 9)
    np.testing.assert_allclose(gradient, np.broadcast_to(exact.ravel(), gradient.shape), rtol=0, atol=1e-12)
    np.testing.assert_allclose(opened.values("vtk_vorticity"), opened.values("vorticity"), rtol=0, atol=1e-12)
    np.testing.assert_allclose(opened.values("vtk_q"), 0, rtol=0, atol=1e-12)


# Vortices with all nine derivatives, periodic along x and y, between free-slip walls at z = 0 and z = 2:
# u = AMPLITUDES[0] sin(pi x) cos(pi y) cos(pi z), v and w with the sine of y and z instead. The divergence is 0.
AMPLITUDES = (1, 1, -2)


def component(n: int, points: tuple[Array, Array, Array], derivative: int | None = None) -> Array:
    """A component of the velocity of the vortices, or its derivative along an axis, at any points."""
    value: Array = np.asarray(AMPLITUDES[n], dtype=float)
    for axis, line in enumerate(points):
        sine, cosine = np.sin(np.pi * line), np.cos(np.pi * line)
        if axis == derivative:
            value = value * np.pi * (cosine if axis == n else -sine)
        else:
            value = value * (sine if axis == n else cosine)
    return value


def exact_gradient(points: tuple[Array, Array, Array]) -> Array:
    rows = [[component(n, points, axis) for axis in range(3)] for n in range(3)]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def vortices(folder: Path, cells: int) -> Opened:
    """On cells x cells x cells, from a file: each component on its own faces, the upper ones of the cells."""
    folder.mkdir()
    nodes = [np.linspace(0, 2, cells + 1)] * 2 + [1 + np.tanh(FACTOR * np.linspace(-1, 1, cells + 1)) / np.tanh(FACTOR)]
    with h5py.File(folder / "start.h5", "w") as file:
        for n, name in enumerate("uvw"):
            lines = [node[1:] if axis == n else (node[1:] + node[:-1]) / 2 for axis, node in enumerate(nodes)]
            z, y, x = np.meshgrid(*reversed(lines), indexing="ij", sparse=True)
            file[name] = component(n, (x, y, z))
    return one_step(
        folder,
        {
            "initial": {"type": "fields", "file": "start.h5"},
            "grid.cells": [cells] * 3,
            "walls": {"bottom": "free_slip", "top": "free_slip"},
            "flow": {"type": "channel", "reynolds": {"viscosity": 0.01}, "forcing": "none"},
        },
    ).with_gradient()


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, float]]:
    """Of VTK and of our fields on two grids, and their difference, each over the largest exact value."""
    folder = tmp_path_factory.mktemp("vortices")
    found = []
    for cells in (32, 64):
        opened = vortices(folder / str(cells), cells)
        gradient = exact_gradient(opened.points)
        q = -np.einsum("...ab,...ba", gradient, gradient) / 2
        vorticity = np.stack(
            [gradient[..., (n + 2) % 3, (n + 1) % 3] - gradient[..., (n + 1) % 3, (n + 2) % 3] for n in range(3)],
            axis=-1,
        )
        pairs = {
            "gradient": (opened.values("gradient"), gradient.reshape(*q.shape, 9)),
            "vtk_q": (opened.values("vtk_q"), q),
            "vtk_vorticity": (opened.values("vtk_vorticity"), vorticity),
            "q": (opened.values("q"), q),
            "vorticity": (opened.values("vorticity"), vorticity),
            "vtk_q - q": (opened.values("vtk_q"), opened.values("q")),
        }
        found.append({name: np.abs(one - two)[INNER].max() / np.abs(two).max() for name, (one, two) in pairs.items()})
    return found


@pytest.mark.parametrize("name", ["gradient", "vtk_q", "vtk_vorticity", "q", "vorticity", "vtk_q - q"])
def test_derivatives_of_vortices_converge_with_order_2(errors: list[dict[str, float]], name: str) -> None:
    coarse, fine = (error[name] for error in errors)
    assert np.log2(coarse / fine) == pytest.approx(2, abs=0.15)
