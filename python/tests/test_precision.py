"""A case chooses the precision of the process; the bits are those of the program."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import sluice_run
from processes import run_script

import sluice

both = pytest.mark.skipif(len(sluice._core.precisions) < 2, reason="the build has one precision")

SCRIPT = """
import sys
import numpy as np
import sluice

case = sluice.Case(sys.argv[1])
assert case["solver.precision"] == "single" and sluice.precision == "double"
with sluice.Simulation(case) as sim:
    assert sluice.precision == "single" and sim.u.dtype == np.float32
    sim.run()
    assert isinstance(sim.snapshot(), sluice.Snapshot)
    values = sim.gather("u")
    if sim.rank == 0:
        assert values.dtype == np.float32
        np.save(sys.argv[2], values)
case["solver.precision"] = "double"
try:
    sluice.Simulation(case)
except sluice.UsageError as error:
    print(error)
"""


@both
@pytest.mark.parametrize("ranks", [1, 2])
def test_the_first_case_decides(tmp_path: Path, ranks: int) -> None:
    case = sluice_run.write_case(tmp_path, {"solver.precision": "single", "time.steps": 4})
    told = run_script(tmp_path, SCRIPT, case, tmp_path / "u.npy", ranks=ranks)
    assert told.count("solver.precision is double, but this process has had a simulation in single") == ranks
    sluice_run.must(sluice_run.sluice("run", case, "--output", tmp_path / "out"))
    with h5py.File(sluice_run.checkpoints(tmp_path / "out")[-1]) as file:
        np.testing.assert_array_equal(np.load(tmp_path / "u.npy"), file["u"])


@pytest.mark.skipif(len(sluice._core.precisions) > 1, reason="the build has both precisions")
def test_a_package_without_the_precision_says_so() -> None:
    other = {"double": "single", "single": "double"}[sluice.precision]
    case = sluice.Case("quickstart")
    case["solver.precision"] = other
    with pytest.raises(sluice.UsageError, match=f"this build has {sluice.precision} precision only"):
        sluice.Simulation(case)
