"""Scalars of a run as sluice_post reads them: time series, statistics, slices, probes, checkpoints and fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import checkpoints, must, sluice, write_case

sp = pytest.importorskip("sluice_post")
pytest.importorskip("xarray", reason="the extra `xarray` of sluice_post is not installed")

HOT, COLD = 2.0, -1.0
CHANGES: dict[str, Any] = {
    "time.steps": 40,
    "scalars": [
        {
            "name": "theta",
            "prandtl": 0.71,
            "walls": {"bottom": {"value": 0}, "top": {"value": 0}},
            "source": {"uniform": 1},
        },
        {"name": "c", "walls": {"bottom": {"value": HOT}, "top": {"value": COLD}}},
    ],
    "output.timeseries": {"every": 1},
    "output.statistics": {"start": 0.0, "every": 1, "block": 0.3},
    "output.slices": [{"normal": "y", "at": 1.0, "every": 0.5, "fields": ["theta", "c"]}],
    "output.probes": [{"name": "point", "x": 1, "y": 1, "z": 1, "every": 1, "fields": ["u", "c"]}],
    "output.fields": [{"name": "f", "every": 1e-6, "fields": ["theta"], "precision": "double"}],
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    must(sluice("run", write_case(folder, CHANGES)))
    return folder / "out"


@pytest.mark.parametrize(("name", "sign"), [("theta", 1), ("c", -1)])
def test_wall_flux_is_the_mean_of_the_time_series(out: Path, name: str, sign: int) -> None:
    """Of both walls, a flux into the fluid; of c, the flux at the hot wall.

    The time series reads it off the stored halo cells, the statistics off the mean profile and the value of the wall.
    """
    tolerance = 1e-6 if "single" in must(sluice("--version")).out else 1e-9
    run = sp.open(out)
    blocks, series = run.block_means, run.time_series
    samples, last = int(blocks.samples.sum()), float(blocks.t_end[-1])
    during = series.sel(time=slice(None, last * (1 + 1e-12))).isel(time=slice(-samples, None))
    bottom, top = (during[f"{name}_flux_{wall}"].values for wall in ("bottom", "top"))
    found = run.scalars[name]
    assert len(bottom) == samples > 30
    assert found.attrs["wall_flux"] == pytest.approx((bottom.mean() + sign * top.mean()) / 2, rel=tolerance)
    assert np.sign(found.attrs["wall_flux"]) == -sign
    assert found.attrs["wall_value"] == pytest.approx((HOT if name == "c" else 0), abs=tolerance)


def test_fields_of_scalars(out: Path, tmp_path: Path) -> None:
    run = sp.open(out)
    assert list(run.slices["y1"]) == ["theta", "c"]
    assert list(run.probes["point"]) == ["u", "c"]
    newest = checkpoints(out)[-1]
    written = tmp_path / "theta.h5"
    choice = ["--fields", "theta", "--precision", "double", "-o", str(written)]
    from sluice_post import cli

    assert cli.main(["fields", str(newest), *choice]) == 0
    with h5py.File(written) as ours, h5py.File(newest) as checkpoint:
        np.testing.assert_array_equal(ours["theta"][...], checkpoint["theta"][...])
        step = int(checkpoint.attrs["step"])
    with h5py.File(written) as ours, h5py.File(out / "fields" / f"f_{step:07d}.h5") as theirs:
        np.testing.assert_array_equal(ours["theta"][...], theirs["theta"][...])
        assert ours["theta"].attrs["hash"] == theirs["theta"].attrs["hash"]
