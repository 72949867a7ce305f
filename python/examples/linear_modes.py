"""Published eigenvalues, optimal growth and responses of Poiseuille and Couette flow, with Sluice.

    python linear_modes.py                                  # all, in about five minutes on one core
    python linear_modes.py orr-sommerfeld growth-couette    # some of them

Each value is computed on several grids and extrapolated to zero spacing: along z with errors of second and fourth
order, along x and y with errors of fourth and sixth. The grid is refined along one axis at a time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sluice.dynamics import FlowMap, LinearisedStep, Operators, eigenvalues, optimal_growth, resolvent_gain

Value = float | complex
ValueOf = Callable[[int, int, int], Value]
"""A function of the numbers of cells nx, ny and nz."""


def step_of(
    flow: str, reynolds: float, cells: tuple[int, int, int], wavenumbers: tuple[float, float], dt: float, factor: float
) -> LinearisedStep:
    """The step linearised about the laminar flow, in a box of one wavelength along x and y (1 for wavenumber 0).

    `flow`: channel, with the Reynolds number of the centreline velocity, or couette, with that of the walls.
    """
    size = [2 * np.pi / wavenumber if wavenumber else 1.0 for wavenumber in wavenumbers]
    case = {
        "flow": {"type": flow, "reynolds": {"center" if flow == "channel" else "wall": reynolds}},
        "domain": {"size": [*size, 2]},
        "grid": {"cells": list(cells), "stretching": {"type": "tanh", "factor": factor}},
        "time": {"steps": 1},
    }
    flow_map = FlowMap(case, time=dt, dt=dt)
    return LinearisedStep(Operators(flow_map.space, flow_map.case), flow_map.laminar, dt)


def start_of(step: LinearisedStep, wavenumbers: tuple[float, float]) -> Any:
    """A perturbation of these wavenumbers, without symmetry in z, with which an iteration can begin."""
    a, b = wavenumbers

    def wave(amplitude: float, phase: float) -> Callable[[Any, Any, Any], Any]:
        return lambda x, y, z: amplitude * np.cos(a * x + b * y + phase * z + phase) * (z * (2 - z)) ** 2

    return step.space.sample(u=wave(0.1, -1), v=wave(1 if b else 0, 2), w=wave(1, 1))


def extrapolate(cells: Sequence[int], values: Sequence[Value], powers: tuple[int, int]) -> Value:
    """The value at zero spacing, for errors of these powers of the spacing: as many as the grids determine."""
    used = powers[: len(cells) - 1]
    matrix = np.array([[1.0, *(n**-power for power in used)] for n in cells])
    value: Value = np.linalg.solve(matrix, np.array(values))[0]
    return value


def converge(value_of: ValueOf, nx: Sequence[int], ny: Sequence[int], nz: Sequence[int]) -> Value:
    """The extrapolated value. Each axis is refined on the first grid of the other two; prints the values."""
    known: dict[tuple[int, int, int], Value] = {}

    def value(*cells: int) -> Value:
        grid = (cells[0], cells[1], cells[2])
        if grid not in known:
            known[grid] = value_of(*grid)
            print(f"  {grid[0]} x {grid[1]} x {grid[2]}: {known[grid]:.8g}", flush=True)
        return known[grid]

    x, y, z = nx[0], ny[0], nz[0]
    total = extrapolate(nz, [value(x, y, n) for n in nz], (2, 4))
    total += extrapolate(nx, [value(n, y, z) for n in nx], (4, 6)) - value(x, y, z)
    total += extrapolate(ny, [value(x, n, z) for n in ny], (4, 6)) - value(x, y, z)
    return total


def orr_sommerfeld() -> tuple[Value, str]:
    """The speed c of the growing mode exp(i (x - c t)) of Poiseuille flow at Re 10000."""

    def speed(nx: int, ny: int, nz: int) -> Value:
        step = step_of("channel", 10000, (nx, ny, nz), (1, 0), 0.08 if nz < 128 else 0.06, 1.6)
        modes = eigenvalues(step, 1, 40.0, start=start_of(step, (1, 0)), tolerance=1e-9, krylov=14)
        c = 1j * complex(modes.values[0])
        return complex(abs(c.real), c.imag)

    return converge(speed, (32, 24, 16), (1,), (64, 96, 128)), "0.23752649+0.00373967j (Orszag 1971)"


def growth(flow: str, reynolds: float, wavenumbers: tuple[float, float], time: float, dt: dict[int, float]) -> ValueOf:
    """The optimal growth at a time. `dt`: the approximate time step for each nz."""

    def gain(nx: int, ny: int, nz: int) -> Value:
        step = step_of(flow, reynolds, (nx, ny, nz), wavenumbers, time / round(time / dt[nz]), 1.0)
        return optimal_growth(step, time, start=start_of(step, wavenumbers), tolerance=1e-6).gain

    return gain


def growth_of_waves() -> tuple[Value, str]:
    """The largest growth of two-dimensional perturbations of Poiseuille flow at Re 3000, alpha = 1."""
    dt = {48: 0.08, 64: 0.08, 96: 0.08}
    value = converge(growth("channel", 3000, (1, 0), 15.21, dt), (16, 24, 32), (1,), tuple(dt))
    return value, "20.37 (Reddy & Henningson 1993)"


def growth_of_streaks() -> tuple[Value, str]:
    """The largest growth in Poiseuille flow at Re 3000: alpha = 0, beta = 2.04."""
    dt = {32: 0.25, 48: 0.25, 64: 0.15}
    value = converge(growth("channel", 3000, (0, 2.04), 227.7, dt), (2,), (8, 12, 16), tuple(dt))
    return value, "1764 = 0.196e-3 Re^2, to three digits (Reddy & Henningson 1993)"


def growth_in_couette_flow() -> tuple[Value, str]:
    """The largest growth in Couette flow at Re 1000: alpha = 0.035, beta = 1.6."""
    dt = {32: 0.25, 48: 0.2}
    value = converge(growth("couette", 1000, (0.035, 1.6), 116.9, dt), (8, 12, 16), (8, 12, 16), tuple(dt))
    return value, "1185 (Butler & Farrell 1992)"


def response(flow: str, reynolds: float, beta: float) -> Value:
    """Re over the square root of the largest response to a steady force of this spanwise wavenumber."""

    def ratio(nx: int, ny: int, nz: int) -> Value:
        step = step_of(flow, reynolds, (nx, ny, nz), (0, beta), 0.4, 1.0)
        gain = resolvent_gain(step, 0.0, time=100.0, start=start_of(step, (0, beta))).gain
        return reynolds / float(np.sqrt(gain))

    return converge(ratio, (2,), (8, 12), (24, 32))


VALUES: dict[str, Callable[[], tuple[Value, str]]] = {
    "orr-sommerfeld": orr_sommerfeld,
    "growth-waves": growth_of_waves,
    "growth-streaks": growth_of_streaks,
    "growth-couette": growth_in_couette_flow,
    "response-couette": lambda: (response("couette", 500, 1.18), "8.12 (Trefethen et al. 1993)"),
    "response-poiseuille": lambda: (response("channel", 1000, 1.62), "17.4 (Trefethen et al. 1993)"),
}


def main() -> None:
    """Computes the values that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("values", nargs="*", metavar="VALUE", help=f"{', '.join(VALUES)} (default: all)")
    names = parser.parse_args().values or list(VALUES)
    if unknown := set(names) - set(VALUES):
        parser.error(f"no such values: {', '.join(sorted(unknown))}; there are {', '.join(VALUES)}")
    for name in names:
        print(name)
        value, published = VALUES[name]()
        print(f"  extrapolated {value:.8g}, published {published}", flush=True)


if __name__ == "__main__":
    main()
