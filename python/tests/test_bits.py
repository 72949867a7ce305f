"""A simulation in Python computes the bits of the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import sluice_run
from processes import run_script

import sluice

STEPS = 20
TANH = {"type": "tanh", "factor": 1.6}
CHANNEL = {"grid.cells": [16, 12, 32], "grid.stretching": TANH}
CUBE = {"grid.cells": [16, 16, 16]}
CASES = [
    "quickstart",
    "retau180",
    "couette",
    "open_channel",
    "ekman",
    "heated_channel",
    "stratified_channel",
    "oscillating_wall",
    "opposition_control",
    "rotating_channel",
    "pulsating",
    "taylor_green",
]


def settings_of(name: str) -> dict[str, object]:
    """What makes the case small."""
    return CUBE if name == "taylor_green" else CHANNEL


def run_program(folder: Path, name: str) -> Path:
    """The checkpoint after STEPS steps of `sluice run` on one process."""
    case = sluice.case.cases_folder() / name / "case.yaml"
    settings = [f"{key}={json.dumps(value)}" for key, value in settings_of(name).items()]
    options = [word for setting in [*settings, "output.slices=[]"] for word in ("--set", setting)]
    sluice_run.must(sluice_run.sluice("run", case, *options, "--steps", STEPS, "--output", folder / "out"))
    return sorted((folder / "out" / "checkpoints").glob("*.h5"))[-1]


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_those_of_the_program(name: str, tmp_path: Path) -> None:
    case = sluice.Case(name)
    for key, value in settings_of(name).items():
        case[key] = value
    with sluice.Simulation(case) as sim:
        sim.step(STEPS // 2)
        assert all(np.isfinite(field.values).all() for field in sim.fields.values())  # reading changes no bits
        sim.step(STEPS // 2)
        found = {name: field.values.copy() for name, field in sim.fields.items()}
        time, dt = sim.time, sim.dt
    with h5py.File(run_program(tmp_path, name)) as file:
        for field_name, values in found.items():
            assert np.array_equal(values, file[field_name][()]), field_name
        assert set(found) >= {"u", "v", "w", "p"} and file["state"].attrs["dt"] == dt
        assert file.attrs["time"] == time


SCRIPT = """
import sys
import numpy as np
import sluice
from mpi4py import MPI

case = sluice.Case("retau180")
case["grid.cells"] = [16, 12, 32]
case["grid.stretching"] = {"type": "tanh", "factor": 1.6}
case["parallel.grid"] = [2, 1]
case["parallel.exchange"] = "mpi_pipelined"
comm = MPI.COMM_WORLD.Dup()
with sluice.Simulation(case, comm=comm) as sim:
    comm.Free()
    assert (sim.rank, sim.size) == (MPI.COMM_WORLD.rank, 2)
    sim.step(10)
    if sim.rank == 0:  # on one rank alone: the next step projects on both
        kept = sim.u.values.copy()
        sim.u[...] = sim.u.values
    before = sim.snapshot()
    sim.step(3)
    sim.restore(before)
    assert len(sim.v.indices["y"]) == 6 and sim.v.indices["y"].start == 6 * sim.rank
with sluice.Simulation(case) as sim:
    sim.step(20)
    whole = {name: sim.gather(name) for name in "uvwp"}
    assert all((array is None) == (sim.rank > 0) for array in whole.values())
    if sim.rank == 0:
        np.savez(sys.argv[1], **whole)
try:
    case["grid.cells"] = [16, 2, 32]
    sluice.Simulation(case)
except sluice.Error:
    pass
alone = MPI.COMM_SELF
case["parallel.grid"] = "auto"
case["grid.cells"] = [8, 8, 16 + 8 * MPI.COMM_WORLD.rank]
with sluice.Simulation(case, comm=alone) as sim:  # another flow on each rank
    sim.step(2)
    assert sim.size == 1 and sim.u.shape[0] == 16 + 8 * MPI.COMM_WORLD.rank
"""


def test_two_processes(tmp_path: Path) -> None:
    run_script(tmp_path, SCRIPT, tmp_path / "whole.npz", ranks=2)
    whole = np.load(tmp_path / "whole.npz")
    with h5py.File(run_program(tmp_path, "retau180")) as file:
        for name in "uvwp":
            assert np.array_equal(whole[name], file[name][()]), name


def test_without_mpi4py(tmp_path: Path) -> None:
    """Sluice starts MPI and ends it with Python, while a simulation, an array and a snapshot are still there."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sluice\n"
        "case = sluice.Case('poiseuille')\n"
        "kept = sluice.Simulation(case)\n"
        "kept.step(2)\n"
        "array = kept.u.values\n"
        "snapshot = kept.snapshot()\n"
        "print(array[0, 0, 0] == array[0, 1, 1])\n"
    )
    ran = subprocess.run([sys.executable, script], env={**os.environ}, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "True\n", "")
