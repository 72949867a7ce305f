"""Scripts that use the package on several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sluice_run

from sluice import _core


def run_script(folder: Path, text: str, *args: object, ranks: int, timeout: float = 120) -> str:
    """Runs a script on so many processes; returns what it prints. Skips the test without mpi4py or so many GPUs."""
    pytest.importorskip("mpi4py")
    if _core.is_gpu and int(os.environ.get("SLUICE_GPU_RANKS", "1")) < ranks:
        pytest.skip("one GPU for each process")
    script = folder / "script.py"
    script.write_text(text)
    ran = subprocess.run(
        [sluice_run.MPIRUN, *sluice_run.FLAGS, "-n", str(ranks), sys.executable, script, *map(str, args)],
        env=sluice_run.environment(ranks),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
