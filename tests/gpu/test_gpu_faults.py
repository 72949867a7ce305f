"""GPUs that fail, hang or run out of memory, and ranks that die: the run ends within seconds and loses nothing.

SLUICE_GPU_FAULTS names the preloaded library gpu_faults, SLUICE_GPU_RANKS the number of GPUs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from sluice_run import (
    ENDLESS,
    Outcome,
    assert_goes_on,
    checkpoints,
    descendants,
    finish,
    must,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)

GPUS = int(os.environ.get("SLUICE_GPU_RANKS", "1"))
CASE = {"grid.cells": [64, 64, 64], "time.steps": ENDLESS, "output.checkpoint": {"every": 0.2, "keep": 2}}
PATIENCE = 30  # seconds in which a run must end after a fault


def forms() -> Iterator[tuple[int, str, int]]:
    """The number of GPUs, the exchange method, and the rank whose GPU fails."""
    yield 0, "auto", 0
    for ranks in sorted({2, GPUS} if GPUS > 1 else {}):
        for exchange in ("peer", "nccl"):
            yield from ((ranks, exchange, victim) for victim in (0, ranks - 1))


each_form = pytest.mark.parametrize(("ranks", "exchange", "victim"), list(forms()))


def case_of(folder: Path, ranks: int, exchange: str, **changes: object) -> Path:
    grid = [1, max(1, ranks)]  # given, because a measurement does not always choose the same, and so the same bits
    return write_case(folder, {**CASE, "parallel": {"grid": grid, "exchange": exchange}, **changes})


def faulty(fault: str, victim: int, sign: Path, call: str = "") -> dict[str, str]:
    """The environment in which the GPU of one rank fails once the file `sign` exists."""
    return {
        "LD_PRELOAD": os.environ["SLUICE_GPU_FAULTS"],
        "SLUICE_GPU_FAULT": fault,
        "SLUICE_GPU_FAULT_CALL": call,
        "SLUICE_GPU_FAULT_IF": str(sign),
        "SLUICE_GPU_FAULT_RANK": str(victim),
    }


def started(case: Path, ranks: int, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """A run that has written two checkpoints."""
    process = start(["run", case], ranks, env=env)
    out = case.parent / "out"
    wait_until(lambda: len(checkpoints(out)) == 2 or process.poll() is not None, "two checkpoints", timeout=120)
    assert process.poll() is None, finish(process).text
    return process


def ended(process: subprocess.Popen[str], code: int) -> Outcome:
    """How the run ended after a fault that happened just now."""
    begin = time.monotonic()
    ranks = descendants(process.pid)
    outcome = must(finish(process, PATIENCE), code)
    wait_until(lambda: not any(Path(f"/proc/{rank}").exists() for rank in ranks), "the end of all ranks")
    print(f"ended after {time.monotonic() - begin:.1f} s")
    return outcome


def assert_nothing_lost(case: Path, ranks: int) -> None:
    """The files are intact, and the run goes on from its newest checkpoint as if nothing had happened."""
    out, elsewhere = case.parent / "out", case.parent / "elsewhere"
    must(sluice("verify", out))
    end = step_of(checkpoints(out)[-1]) + 10
    must(sluice("run", case, "--output", elsewhere, "--steps", end, ranks=ranks, timeout=200))
    assert_goes_on(case, out, end, elsewhere, ranks=ranks)


def lost_gpus() -> Iterator[tuple[int, str, int, str]]:
    """A form, and what its GPU reports: uncorrectable memory, a failed link, an unknown error; or an exception."""
    yield from ((*form, fault) for form in forms() for fault in ("214", "trap"))
    yield from ((0, "auto", 0, fault) for fault in ("220", "999"))


@pytest.mark.parametrize(("ranks", "exchange", "victim", "fault"), list(lost_gpus()))
def test_lost_gpu(tmp_path: Path, ranks: int, exchange: str, victim: int, fault: str) -> None:
    case, sign = case_of(tmp_path, ranks, exchange), tmp_path / "sign"
    process = started(case, ranks, faulty(fault, victim, sign))
    sign.touch()
    outcome = ended(process, 6)
    messages = [line for line in outcome.err.splitlines() if line.startswith("sluice: ")]
    assert len(messages) == 1, outcome.err
    assert "failed: " in messages[0]
    assert f"of host {os.uname().nodename}" in messages[0]
    assert "--restart auto" in messages[0]
    assert_nothing_lost(case, ranks)


def test_wrong_use_of_a_gpu_is_a_defect(tmp_path: Path) -> None:
    case, sign = case_of(tmp_path, 0, "auto"), tmp_path / "sign"
    process = started(case, 0, faulty("700", 0, sign))
    sign.touch()
    assert "illegal memory access" in ended(process, 1).err


def test_an_index_outside_of_a_field(tmp_path: Path) -> None:
    """A debug build finds it on the GPU: the kernel stops with a message, and the run with the kernel's error."""
    case, sign = case_of(tmp_path, 0, "auto"), tmp_path / "sign"
    process = started(case, 0, faulty("bounds", 0, sign))
    sign.touch()
    outcome = ended(process, 1)
    assert "index outside of a field" in outcome.text
    assert "cudaErrorAssert" in outcome.err


@each_form
def test_a_gpu_that_does_not_finish(tmp_path: Path, ranks: int, exchange: str, victim: int) -> None:
    """The watchdog ends the run, and the GPU's endless kernel with it."""
    case, sign = case_of(tmp_path, ranks, exchange, watchdog=3), tmp_path / "sign"
    process = started(case, ranks, faulty("hang", victim, sign))
    sign.touch()
    assert "the run hangs" in ended(process, 6).err
    assert_nothing_lost(case, ranks)


@each_form
def test_memory_that_cannot_be_allocated(tmp_path: Path, ranks: int, exchange: str, victim: int) -> None:
    case, sign = case_of(tmp_path, ranks, exchange), tmp_path / "sign"
    sign.touch()
    process = start(["run", case], ranks, env=faulty("2", victim, sign, "cudaMalloc"))
    assert "out of GPU memory" in ended(process, 6).err


@pytest.mark.parametrize("ranks", [0, 2] if GPUS > 1 else [0])
@pytest.mark.parametrize("free", [20, 300])  # MiB: hardly any of what the case needs, and half of it
def test_gpu_that_is_nearly_full(tmp_path: Path, ranks: int, free: int) -> None:
    case = case_of(tmp_path, ranks, "auto", **{"grid.cells": [192, 192, 192]})
    env = {"LD_PRELOAD": os.environ["SLUICE_GPU_FAULTS"], "SLUICE_GPU_FREE_MIB": str(free)}
    outcome = ended(start(["run", case], ranks, env=env), 6)
    assert "memory" in outcome.err
    assert outcome.err.count("sluice: ") == 1


@each_form
def test_a_killed_rank(tmp_path: Path, ranks: int, exchange: str, victim: int) -> None:
    """The others wait for it on their GPUs, where no signal reaches them."""
    if ranks < 2:
        pytest.skip("needs 2 GPUs")
    case = case_of(tmp_path, ranks, exchange)
    process = started(case, ranks)
    os.kill(sorted(descendants(process.pid))[victim], signal.SIGKILL)
    assert finish(process, PATIENCE).code != 0
    assert_nothing_lost(case, ranks)
