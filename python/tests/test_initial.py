"""Initial fields that scripts give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import run_script

import sluice

DOUBLE = sluice.precision == "double"
ROUND_OFF = 1e-13 if DOUBLE else 1e-5
CHANNEL: dict[str, Any] = {
    "flow": {"type": "channel", "reynolds": {"viscosity": 1e-3}, "forcing": {"pressure_gradient": 0.002}},
    "domain": {"size": ["2*pi", "pi", 2]},
    "grid": {"cells": [16, 12, 24], "stretching": {"type": "tanh", "factor": 1.5}},
    "time": {"end": 1, "cfl": 0.9, "diffusion": "implicit_z"},
    "initial": {"type": "turbulent", "seed": 3},
    "scalars": [{"name": "heat", "initial": "z"}],
}


def mean(field: sluice.Field) -> np.ndarray[Any, np.dtype[Any]]:
    return np.asarray(field.values.astype(np.float64).mean(axis=(1, 2)))


def test_profile() -> None:
    """The plane means are the profile, with the waves of the turbulent start on top, and the flow is solenoidal."""
    case = sluice.Case(CHANNEL)
    with sluice.Simulation(case) as sim:
        z = sim.u.coords["z"]
    profile = 1.2 * z * (2 - z)
    for initial in (profile, lambda z: 1.2 * z * (2 - z), {"profile": (profile, 0.2 * z)}):
        with sluice.Simulation(case, initial=initial) as sim:
            assert np.abs(mean(sim.u) - profile).max() < ROUND_OFF
            assert np.abs(mean(sim.v) - (0.2 * z if isinstance(initial, dict) else 0)).max() < ROUND_OFF
            assert np.abs(mean(sim.w)).max() < ROUND_OFF
            assert sim.u.values.std(axis=(1, 2)).min() > 0.001
            assert sim.diagnostics.max_divergence < 100 * ROUND_OFF
            assert np.abs(sim.fields["heat"].values - z[:, None, None]).max() < ROUND_OFF
            sim.step(2)
    case["initial.amplitude"] = 0
    with sluice.Simulation(case, initial=profile) as sim:
        assert np.abs(sim.u.values - profile[:, None, None]).max() < ROUND_OFF


def test_profile_of_the_case_file() -> None:
    """The same bits as from an array."""
    case = sluice.Case(CHANNEL)
    with sluice.Simulation(case) as sim:
        z = sim.u.coords["z"]
    with sluice.Simulation(case, initial=z * (2 - z)) as sim:
        found = sim.u.values.copy()
    case["initial.profile"] = ["z*(2 - z)", 0]
    with sluice.Simulation(case) as sim:
        assert np.array_equal(sim.u.values, found)


def test_fields() -> None:
    """A solenoidal field stays, any other becomes solenoidal; scalars and what is not given stay."""
    case = sluice.Case(CHANNEL)
    case["initial"] = {"type": "zero"}
    rng = np.random.default_rng(1)
    with sluice.Simulation(case, initial={"u": lambda x, y, z: np.sin(y) * z, "heat": 0.5}) as sim:
        expected = np.sin(sim.u.coords["y"])[:, None] * sim.u.coords["z"][:, None, None]
        assert np.abs(sim.u.values - expected).max() < 10 * ROUND_OFF
        assert np.all(sim.fields["heat"].values == 0.5) and np.abs(sim.v.values).max() < ROUND_OFF
        noise = rng.standard_normal(sim.u.shape)
    with sluice.Simulation(case, initial=dict.fromkeys(("u", "v", "w"), noise)) as sim:
        assert sim.diagnostics.max_divergence < 1000 * ROUND_OFF
        assert np.abs(sim.u.values - noise).max() > 0.1 and sim.diagnostics.kinetic_energy > 0.1
        sim.step(2)


def test_errors() -> None:
    for initial, error, text in [
        (np.ones(5), ValueError, r"initial profile: it has the shape \(5,\)"),
        ({"profile": (1, 2, 3)}, ValueError, "not 3 profiles"),
        ({"speed": 1}, ValueError, "there is no field 'speed'; there are: profile, u"),
        ({"u": np.ones((2, 2))}, ValueError, "initial u: the array has the shape"),
        ({"v": np.nan}, ValueError, "initial v: a value is not finite"),
        ({"w": "fast"}, TypeError, "initial w: real numbers"),
        ({"w": lambda x, y, z: 1 / 0}, ZeroDivisionError, "division"),
    ]:
        with pytest.raises(error, match=text):
            sluice.Simulation(CHANNEL, initial=initial)


SCRIPT = """
import sys
import numpy as np
import sluice
from mpi4py import MPI
sys.path.insert(0, sys.argv[2])
from test_initial import CHANNEL

case = sluice.Case(CHANNEL)
case["parallel.grid"] = [MPI.COMM_WORLD.size, 1]
case["parallel.exchange"] = "mpi_pipelined"
whole = np.random.default_rng(5).standard_normal((24, 12, 16))
given = {"profile": lambda z: z * (2 - z), "v": whole, "heat": lambda x, y, z: np.sin(x) * y * z}
with sluice.Simulation(case, initial=given) as sim:
    begin = sim.rank * 12 // sim.size
    part = whole[:, begin : begin + 12 // sim.size]
    found = {name: sim.gather(name) for name in ("u", "v", "w", "heat")}
    if sim.rank == 0:
        np.savez(sys.argv[1], **found)
with sluice.Simulation(case, initial={**given, "v": part}) as sim:
    again = sim.gather("v")
    assert again is None or np.array_equal(again, found["v"])
try:
    sluice.Simulation(case, initial={"u": np.nan if MPI.COMM_WORLD.rank == 0 else 0})
    raise SystemExit("no error")
except (ValueError, sluice.UsageError) as error:
    assert "initial" in str(error)
"""


def test_two_processes(tmp_path: Path) -> None:
    for ranks in (1, 2):
        run_script(tmp_path, SCRIPT, tmp_path / f"{ranks}.npz", Path(__file__).parent, ranks=ranks)
    one, two = np.load(tmp_path / "1.npz"), np.load(tmp_path / "2.npz")
    for name in one.files:
        assert np.array_equal(one[name], two[name]), name
