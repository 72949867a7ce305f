"""A run whose numerics fail: exit code 5, the place and the values there, and its fields in a file."""

from __future__ import annotations

import os
import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from sluice_run import Outcome, assert_goes_on, checkpoints, content, must, record, sluice, step_of, write_case

CASE = {
    "time.cfl": None,
    "time.dt": 0.05,
    "time.steps": 8,
    "output.checkpoint": {"every": 0.2, "keep": 9},
    "output.statistics": {"start": 0, "every": 1, "block": 0.1},
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
}
PLACE = r"cell \((\d+), (\d+), (\d+)\), x = (\S+), y = (\S+), z = (\S+): (.*)"


def blow_up(case: Path, ranks: int, checkpoint_every: float = 1000) -> Outcome:
    settings = ("--set", "time.dt=5", "--set", f"output.checkpoint.every={checkpoint_every}")
    return must(sluice("run", case, "--restart", "auto", *settings, "--steps", 500, ranks=ranks), 5)


def dumps(out: Path) -> list[Path]:
    return sorted((out / "diagnostics").glob("*.h5"))


def assert_place(text: str, file: h5py.File, quantity: str, magnitude: np.ndarray) -> None:
    """The message names the first cell of the largest magnitude, or of a value that is not finite."""
    place = re.search(quantity + ".*" + PLACE, text)
    assert place, text
    i, j, k = (int(place[n]) for n in (1, 2, 3))
    bad = ~np.isfinite(magnitude)
    first = bad.argmax() if bad.any() else magnitude.argmax()
    assert (k, j, i) == np.unravel_index(first, magnitude.shape)
    for n, (axis, index) in enumerate(zip("xyz", (i, j, k), strict=True)):
        assert float(place[4 + n]) == pytest.approx(file[f"grid/{axis}"][index], rel=1e-5)
    values = dict(part.split(" = ") for part in place[7].split(", "))
    assert values.keys() == set("uvwp")
    for name, value in values.items():
        np.testing.assert_allclose(float(value), file[name][k, j, i], rtol=1e-8)


def rate(file: h5py.File) -> np.ndarray:
    """7/6 (|u|/dx + |v|/dy) + |w|/dz, with the distance between centres for w."""
    dx, dy = (file[f"grid/{axis}_node"][1] for axis in "xy")
    z, z_node = file["grid/z"][...], file["grid/z_node"][...]
    between = np.diff(z, append=2 * z_node[-1] - z[-1])
    u, v, w = (np.abs(file[name][...]) for name in "uvw")
    return np.asarray(7 / 6 * (u / dx + v / dy) + w / between[:, None, None])


@pytest.mark.parametrize("ranks", [0, 4])
def test_blow_up(tmp_path: Path, ranks: int) -> None:
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    must(sluice("run", case, ranks=ranks))
    good = {file: content(file) for file in checkpoints(out)}
    outcome = blow_up(case, ranks)
    assert outcome.err.count("sluice: ") == 1
    assert "use a smaller time.dt" in outcome.err
    assert f"at step {record(out)['step']}" in outcome.err or f"after step {record(out)['step']}" in outcome.err
    (dump,) = dumps(out)
    assert str(dump) in outcome.err
    assert step_of(dump) == record(out)["step"] > 8
    with h5py.File(dump) as file:
        not_finite = [name for name in "uvwp" if not np.isfinite(file[name][...]).all()]
        for name in not_finite:
            count = np.count_nonzero(~np.isfinite(file[name][...]))
            assert f"{name} is not finite in {count} of" in outcome.err
            assert_place(outcome.err, file, rf"\n  {name} is not finite", file[name][...])
        if not not_finite:
            assert_place(outcome.err, file, r"dz is largest", rate(file))
    assert dump.with_suffix(".xdmf").exists()
    must(sluice("info", dump))
    assert "failed" in must(sluice("run", case, "--restart", dump, ranks=ranks), 3).err
    assert {file: content(file) for file in good} == good

    # With the old time step, the run goes on.
    assert_goes_on(case, out, step_of(checkpoints(out)[-1]) + 5, tmp_path / "elsewhere", ranks=ranks)


def test_checkpoints_and_dumps_of_failing_runs(tmp_path: Path) -> None:
    """A flow that allows no further step is not saved as a checkpoint; a failure replaces the fields of the last."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    must(sluice("run", case))
    blow_up(case, 0)
    (first,) = dumps(out)
    blow_up(case, 0, checkpoint_every=0.2)
    assert step_of(checkpoints(out)[-1]) > 8
    for checkpoint in checkpoints(out):
        with h5py.File(checkpoint) as file:
            assert rate(file).max() < 1e10
    (out / "diagnostics" / "step_0000999.h5").touch()
    must(sluice("run", case, "--restart", checkpoints(out)[0], "--set", "time.dt=5", "--steps", 500), 5)
    (second,) = dumps(out)
    assert second != first


def test_fields_that_cannot_be_written(tmp_path: Path) -> None:
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    must(sluice("run", case))
    (out / "diagnostics").write_text("in the way")
    outcome = blow_up(case, 0)
    assert re.search(PLACE, outcome.err)
    assert f"{out}/diagnostics: cannot create the directory" in outcome.err


def test_values_damaged_between_ranks(tmp_path: Path) -> None:
    """The velocity stays finite for a while, but is no longer free of divergence: the run must not go on."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    must(sluice("run", case, ranks=2))
    shim = {"LD_PRELOAD": os.environ.get("SLUICE_CORRUPT_MESSAGES", "")}
    options = ("--restart", "auto", "--steps", 20)
    outcome = must(sluice("run", case, *options, env=shim, ranks=2), 5)
    assert "div u is not zero at step" in outcome.err
    assert "|div u| is largest" in outcome.err
    # The shim damages the message that would have gone into the file, too.
    assert dumps(out) or "could not be written for inspection" in outcome.err
    assert_goes_on(case, out, 13, tmp_path / "elsewhere", ranks=2)


def test_limit_of_the_divergence(tmp_path: Path) -> None:
    """Round-off is far below the default limit, but not below a tiny one."""
    case = write_case(tmp_path, CASE)
    limit = re.compile(r"the largest \|div u\| dt_lim is (\S+), the limit")
    outcome = must(sluice("run", case, "--set", "solver.max_divergence=1e-25"), 5)
    found = limit.search(outcome.err)
    assert found
    assert float(found[1]) < 1e-12
