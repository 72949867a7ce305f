"""output.catalyst in a simulation with files, with the stand-in for the library that the program's tests use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sluice_run
from processes import run_script

STAND_IN = os.environ.get("SLUICE_CATALYST", "")
pytestmark = pytest.mark.skipif(not STAND_IN, reason="SLUICE_CATALYST does not name the library")

SCRIPT = """
import sys
import sluice

case = sluice.Case("quickstart")
case["grid.cells"] = [16, 12, 16]
case["output.catalyst"] = {"every": 2, "scripts": [sys.argv[1]], "library": sys.argv[2]}
with sluice.Simulation(case, output=sys.argv[3]) as sim:
    sim.step(5)
try:
    with sluice.Simulation(case, output=sys.argv[3], overwrite=True):
        pass
except sluice.UsageError as error:
    print(error)
"""


def calls(folder: Path, rank: int) -> list[str]:
    return [json.loads(line)["call"] for line in (folder / f"rank_{rank}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("ranks", [0, 2])
def test_one_simulation_of_a_process_can_use_it(tmp_path: Path, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pipeline.py").touch()
    monkeypatch.setenv("STAND_IN_FOLDER", str(tmp_path))
    arguments = [tmp_path / "pipeline.py", STAND_IN, tmp_path / "out"]
    if ranks > 0:
        text = run_script(tmp_path, "import mpi4py.MPI\n" + SCRIPT, *arguments, ranks=ranks)
    else:
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT, *map(str, arguments)],
            env=sluice_run.environment(0),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        text = ran.stdout
    assert text.count("output.catalyst: an earlier run of this process") == max(ranks, 1)
    for rank in range(max(ranks, 1)):
        assert calls(tmp_path, rank) == ["initialize", "execute", "execute", "finalize"]
