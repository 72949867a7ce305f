"""Simulations give back what they took."""

from __future__ import annotations

import gc
from pathlib import Path

from conftest import CHANNEL

import sluice


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def test_thousands_of_simulations() -> None:
    case = sluice.Case(CHANNEL)
    case["grid.cells"] = [4, 4, 8]
    kept = []

    def cycle() -> None:
        sim = sluice.Simulation(case)
        sim.step()
        kept.append(sim.u.values)
        kept.append(sim.snapshot())
        if len(kept) > 8:
            del kept[:4]
        sim.close()

    for _ in range(200):
        cycle()
    gc.collect()
    before = resident_megabytes()
    for _ in range(2000):
        cycle()
    gc.collect()
    assert resident_megabytes() - before < 5
