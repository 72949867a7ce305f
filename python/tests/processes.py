"""Scripts that use the package on several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sluice_run

from sluice import _core


def need_ranks(ranks: int) -> None:
    """Skips the test without mpi4py or so many GPUs."""
    pytest.importorskip("mpi4py")
    if _core.is_gpu and int(os.environ.get("SLUICE_GPU_RANKS", "1")) < ranks:
        pytest.skip("one GPU for each process")


def ran(folder: Path, text: str, *args: object, ranks: int, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs a script on so many processes. Skips the test without mpi4py or so many GPUs."""
    need_ranks(ranks)
    script = folder / "script.py"
    script.write_text(text)
    return subprocess.run(
        [sluice_run.MPIRUN, *sluice_run.FLAGS, "-n", str(ranks), sys.executable, script, *map(str, args)],
        env=sluice_run.environment(ranks),
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def run_script(folder: Path, text: str, *args: object, ranks: int, timeout: float = 120) -> str:
    """The same for a script without errors; returns what it prints."""
    ended = ran(folder, text, *args, ranks=ranks, timeout=timeout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
