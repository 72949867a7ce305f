"""Modes of a running simulation are those of the slices that the program stores of the same run."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import conftest
import numpy as np
import pytest
import sluice_run

pytest.importorskip("xarray")
pytest.importorskip("h5netcdf")
pytest.importorskip("sluice_post.modes")

import xarray as xr

import sluice
from sluice_post.cli import main
from sluice_post.modes import StreamingPOD, StreamingSPOD

STEPS, EVERY, DT = 60, 2, 0.01


@pytest.fixture(scope="module")
def case() -> dict[str, object]:
    found = copy.deepcopy(conftest.CHANNEL)
    del found["scalars"]
    found["time"] = {"steps": STEPS, "dt": DT, "diffusion": "implicit_z"}
    return found


@pytest.fixture(scope="module")
def stored(case: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the program with a slice normal to y."""
    slices = [{"normal": "y", "at": 1.5, "every": EVERY * DT, "fields": ["u", "v", "w"]}]
    folder = tmp_path_factory.mktemp("stored")
    file = folder / "case.yaml"
    file.write_text(json.dumps(case | {"output": {"slices": slices}}))
    sluice_run.must(sluice_run.sluice("run", file, "--output", folder / "out"))
    return folder / "out"


@pytest.mark.parametrize("homogeneous", [(), ("x",)])
@pytest.mark.parametrize("method", [StreamingPOD, StreamingSPOD])
def test_in_situ_is_as_stored(
    method: type, homogeneous: tuple[str, ...], case: dict[str, object], stored: Path
) -> None:
    options = {"block": 8} if method is StreamingSPOD else {}
    with sluice.Simulation(sluice.Case(case)) as sim:
        coordinates = {"z": sim.u.coords["z"], "z_face": sim.w.coords["z"], "x_face": sim.u.coords["x"]}
        row = int(np.argmin(np.abs(sim.u.coords["y"] - 1.5)))
        stream = method(coordinates, ("u", "v", "w"), 6, homogeneous=homogeneous, **options)

        def sample(sim: sluice.Simulation) -> None:
            stream.add(sim.time, [field.values[:, row] for field in (sim.u, sim.v, sim.w)])

        sim.every(EVERY)(sample)
        sim.run()
    found = stream.result()

    file = stored / "modes.nc"
    command = ["modes", str(stored), "--rank", "6", "-o", str(file)]
    command += ["--spod", "--block", "8"] if method is StreamingSPOD else []
    command += ["--homogeneous", *homogeneous] if homogeneous else []
    assert main(command) == 0
    with xr.open_dataset(file, engine="h5netcdf") as expected:
        assert found.attrs["samples"] == expected.attrs["samples"] == STEPS // EVERY
        largest = float(expected.energy.max())
        # Coordinates of a grid and in a file may differ by round-off.
        for name in ("energy", "total_energy", "energy_error"):
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-10, atol=1e-14 * largest)
        modes = expected.modes if "modes" in expected else expected.modes_real + 1j * expected.modes_imag
        strong = found.energy > 1e-4 * largest
        np.testing.assert_allclose(found.modes.where(strong), modes.where(strong), rtol=1e-6, atol=1e-6)
