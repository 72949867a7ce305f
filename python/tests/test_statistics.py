"""Statistics in memory: those of the files of the same run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sluice_run

import sluice

HEATED = {
    "scalars": [{"name": "heat", "prandtl": 0.7, "walls": {"top": {"value": 1}}}],
    "time.steps": 60,
    "output.slices": [],
    "output.probes": [],
}


def case_with(changes: dict[str, Any] | None = None) -> sluice.Case:
    return sluice.Case(sluice_run.case_with(HEATED | (changes or {})))


def test_equal_to_those_from_files(tmp_path: Path) -> None:
    sluice_post = pytest.importorskip("sluice_post")
    xarray = pytest.importorskip("xarray")
    with sluice.Simulation(case_with(), output=tmp_path / "out") as sim:
        assert sim.statistics.samples == 0
        sim.run()
        found = sim.statistics.profiles()
        samples = sim.statistics.samples
        from_one_wall = sim.statistics.profiles(side="bottom")
    with sluice.Simulation(case_with()) as sim:  # and without files
        assert sim.statistics is sim.statistics
        sim.run()
        without_files = sim.statistics.profiles()
        means = sim.statistics.means()
        z, z_face = sim.statistics.z, sim.statistics.z_face
        assert sim.statistics.profiles(unfinished=True)["U"].shape == found["U"].shape
    run = sluice_post.open(tmp_path / "out")
    assert len(run.blocks) > 3 and samples >= run.blocks.samples.sum()
    xarray.testing.assert_identical(found, run.profiles)
    xarray.testing.assert_identical(without_files, run.profiles)
    xarray.testing.assert_identical(from_one_wall, sluice_post.open(tmp_path / "out", side="bottom").profiles)
    np.testing.assert_array_equal(z, run.block_means.z)
    np.testing.assert_array_equal(z_face, run.block_means.z_face)
    assert {name for name in run.block_means.data_vars if "z" in str(run.block_means[name].dims)} == set(means)


def plane_mean(field: sluice.Field) -> Any:
    return field.values.mean(axis=(1, 2), dtype=float)


def test_means_are_those_of_the_fields() -> None:
    with sluice.Simulation(case_with()) as sim:
        sim.step(2)
        statistics = sim.statistics
        statistics.sample()
        once, heat = plane_mean(sim.u), plane_mean(sim.fields["heat"])
        sim.u[...] = 1.5 * sim.u.values
        statistics.sample()  # of the flow with its changes
        assert statistics.samples == 2
        means = statistics.means()
        assert means["u"].shape == statistics.z.shape and means["uw"].shape == statistics.z_face.shape
        np.testing.assert_allclose(means["u"], 1.25 * once, rtol=1e-6)
        np.testing.assert_allclose(means["heat"], heat, rtol=1e-6)
        statistics.reset()
        assert statistics.samples == 0
        with pytest.raises(sluice.UsageError, match="no sample"):
            statistics.means()
        with pytest.raises(sluice.UsageError, match="no sample"):
            statistics.profiles()
    with pytest.raises(sluice.UsageError, match="closed"):
        statistics.samples  # noqa: B018


def test_only_what_is_asked_for(channel: sluice.Case) -> None:
    channel["output.statistics"] = "none"
    with sluice.Simulation(channel) as sim:
        assert sim.statistics.samples == 0
        sim.step(20)
        assert sim.statistics.samples == 0
        sim.statistics.sample()
        sim.step(20)
        sim.statistics.sample()
        assert sim.statistics.samples == 2
        pytest.importorskip("sluice_post")
        with pytest.raises(sluice.UsageError, match="unfinished"):
            sim.statistics.profiles()
        profiles = sim.statistics.profiles(unfinished=True)
        assert np.isfinite(profiles["U"]).all()


def test_restore_brings_back_the_samples() -> None:
    with sluice.Simulation(case_with()) as sim, sluice.Simulation(case_with()) as other:
        before = sim.snapshot()
        _ = sim.statistics, other.statistics
        sim.step(40)
        snapshot = sim.snapshot()
        sim.step(20)
        expected, samples = sim.statistics.means(), sim.statistics.samples
        sim.restore(snapshot)
        assert 0 < sim.statistics.samples < samples
        other.restore(snapshot)
        for simulation in (sim, other):
            simulation.step(20)
            assert simulation.statistics.samples == samples
            for name, mean in simulation.statistics.means().items():
                assert np.array_equal(mean, expected[name]), name
        sim.restore(before)
        assert sim.statistics.samples == 0


def test_bits_do_not_depend_on_statistics() -> None:
    with sluice.Simulation(case_with()) as sim, sluice.Simulation(case_with()) as other:
        sim.statistics.sample()
        sim.step(30)
        other.step(30)
        assert np.array_equal(sim.u.values, other.u.values)


def test_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sluice_post", None)
    with sluice.Simulation(case_with()) as sim:
        sim.statistics.sample()
        with pytest.raises(ImportError, match="pip install"):
            sim.statistics.profiles(unfinished=True)
