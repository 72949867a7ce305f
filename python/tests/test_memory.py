"""Simulations give back what they took."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path
from typing import Any

from conftest import CHANNEL

import sluice


def sanitizer_function(name: str, result: Any) -> Any:
    """A function of AddressSanitizer; None if this process runs without (docs/development.md, Sanitizers)."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function.restype = result
    return function


def megabytes_in_use() -> float:
    """What this process has allocated, if AddressSanitizer counts it; otherwise its resident memory."""
    allocated = sanitizer_function("__sanitizer_get_current_allocated_bytes", ctypes.c_size_t)
    if allocated is not None:
        return float(allocated()) / 1e6
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def test_thousands_of_simulations() -> None:
    case = sluice.Case(CHANNEL)
    case["grid.cells"] = [4, 4, 8]
    kept: list[Any] = []

    def cycle() -> None:
        sim = sluice.Simulation(case)
        sim.step()
        kept.append(sim.u.values)
        kept.append(sim.snapshot())
        sim.walls["bottom"].u[...] = 0.1
        sim.step()
        sim.restore(kept[-1])
        kept.append(sim.walls["bottom"].u)
        if len(kept) > 12:
            del kept[:6]
        sim.close()

    for _ in range(200):
        cycle()
    gc.collect()
    before = megabytes_in_use()
    for _ in range(2000):
        cycle()
    gc.collect()
    grown = megabytes_in_use() - before
    sanitized = sanitizer_function("__asan_init", None) is not None
    assert grown < (0.2 if sanitized else 5)
    kept.clear()
    gc.collect()
    leaks = sanitizer_function("__lsan_do_recoverable_leak_check", ctypes.c_int)
    assert leaks is None or leaks() == 0, "see the report of LeakSanitizer"
