"""How simulations end: with walls that do not balance, and with an exception on some processes alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sluice_run
from processes import ran

import sluice


def record(directory: Path) -> Any:
    return json.loads((directory / "run.json").read_text())


def test_walls_that_do_not_balance_lose_nothing(tmp_path: Path) -> None:
    case, out = sluice.Case(sluice_run.case_with()), tmp_path / "out"
    with sluice.Simulation(case, output=out) as sim:
        sim.step(3)
        sim.u[...] = 1.1 * sim.u.values
        sim.walls["bottom"].w[...] = 0.25
        with pytest.raises(sluice.UsageError, match="mean of w"):
            sim.step()
    assert record(out)["step"] == 3 and record(out)["why_stopped"] == "closed by the Python program"
    assert (out / "checkpoints" / "step_0000003.h5").is_file()
    with sluice.Simulation(case, output=out, restart="auto") as sim:
        assert sim.step_number == 3 and (sim.walls["bottom"].w.values == 0.25).all()
        assert sim.diagnostics.max_divergence < 1e-10
        with pytest.raises(sluice.UsageError, match="mean of w"):
            sim.step()
        sim.walls["bottom"].w[...] = 0
        sim.step()


SCRIPT = """
import sys
import sluice
from mpi4py import MPI

sluice.simulation.PATIENCE = 2.0
rank = MPI.COMM_WORLD.rank
sim = sluice.Simulation(sluice.Case(sys.argv[1]), output=sys.argv[2])
sim.step(3)
"""
ENDS = {
    "in a function": (
        """
@sim.every(1)
def fail(sim):
    if rank == 1:
        raise KeyError("lost")
with sim:
    sim.run()
""",
        1,
        "KeyError: 'lost'",
        False,
    ),
    "without a with statement": (
        """
if rank == 1:
    raise sluice.UsageError("lost")
sim.run()
""",
        2,
        "UsageError: lost",
        False,
    ),
    "with a finally": (
        """
try:
    if rank == 0:
        raise KeyboardInterrupt
    sim.diagnostics
finally:
    sim.close()
""",
        1,
        "KeyboardInterrupt",
        False,
    ),
    "at the end": (
        """
with sim:
    if rank == 0:
        raise KeyError("lost")
""",
        1,
        "KeyError: 'lost'",
        True,
    ),
    "on all": (
        """
with sim:
    raise KeyError("lost")
""",
        1,
        "KeyError: 'lost'",
        True,
    ),
    "a response on one process": (
        """
with sim:
    if rank == 0:
        @sim.walls["bottom"].response
        def rest(sim):
            return 0 * sim.plane("w", z=0.1).values
    sim.step()
""",
        1,
        "on some processes alone",
        True,
    ),
}


@pytest.mark.parametrize("how", ENDS)
def test_an_exception_on_one_process_ends_all(how: str, tmp_path: Path) -> None:
    text, code, message, closed = ENDS[how]
    changes = {
        "parallel": {"grid": [2, 1], "exchange": "mpi_pipelined"},
        "time.steps": sluice_run.ENDLESS,
        "output.checkpoint": {"every": 1000},
    }
    case = sluice_run.write_case(tmp_path, changes)
    ended = ran(tmp_path, SCRIPT + text, case, tmp_path / "out", ranks=2, timeout=60)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert message in ended.stderr and "Traceback" in ended.stderr
    assert ("others are still running" in ended.stderr) != closed
    assert (tmp_path / "out" / "checkpoints" / "step_0000003.h5").is_file() == closed
