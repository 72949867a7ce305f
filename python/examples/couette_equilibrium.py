"""Nagata's equilibria of plane Couette flow at Re 400, on any grid, with the time of a Newton iteration.

    python couette_equilibrium.py --cells 48 48 96 --upper --eigenvalues 4

The lower branch is found on 16 x 16 x 16 cells from a guess (half a minute on a CPU), interpolated to the grid and
searched there again; --upper follows the branch around its fold first. Prints norm and dissipation, and with
--eigenvalues the eigenvalues that grow fastest. The case is that of Gibson, Halcrow & Cvitanovic (2009).
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from sluice.dynamics import (
    NAGATA,
    FlowMap,
    LinearisedStep,
    Operators,
    Solution,
    edge_state,
    eigenvalues,
    find_solution,
    follow_branch,
    write_solution,
)

REYNOLDS = "flow.reynolds.wall"


def flow_map_of(cells: list[int], step: float) -> FlowMap:
    """The flow map over 8 h/U at Re 400 with the symmetries of the equilibria."""
    case = {
        "flow": {"type": "couette", "reynolds": {"wall": 400}},
        "domain": {"size": [2 * np.pi / 1.14, 4 * np.pi / 5, 2]},
        "grid": {"cells": cells, "stretching": {"type": "uniform"}},
        "time": {"steps": 1},
    }
    return FlowMap(case, time=8, dt=step, symmetries=NAGATA)


def lower_branch() -> Solution:
    """The lower branch on a coarse grid: the edge state, from which Newton's method converges."""
    flow_map = flow_map_of([16, 16, 16], 0.1)
    guess = flow_map.laminar + flow_map.space.sample(
        v=lambda x, y, z: 0.1 * np.sin(1.14 * x) * z * (2 - z),
        w=lambda x, y, z: 0.1 * np.cos(2.5 * y) * (z * (2 - z)) ** 2,
    )
    return find_solution(flow_map, edge_state(flow_map, guess, low=0.002, high=0.06, change=5e-4).state)


def upper_branch(lower: Solution) -> Solution:
    """The upper branch at the same Reynolds number: around the fold."""
    for one in follow_branch(lower, REYNOLDS, -60, until=lambda one: one.parameter(REYNOLDS) > 400 and one.drag > 2):
        last = one
    return find_solution(last.flow_map.at({REYNOLDS: 400}), last.state)


def main() -> None:
    """Reads the options, searches and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cells", nargs=3, type=int, default=[32, 32, 64], metavar=("NX", "NY", "NZ"))
    parser.add_argument("--dt", type=float, default=0.06, help="longest time step (default 0.06)")
    parser.add_argument("--upper", action="store_true", help="the upper branch")
    parser.add_argument("--eigenvalues", type=int, default=0, metavar="N", help="how many eigenvalues")
    parser.add_argument("--output", help="HDF5 file for the solution")
    options = parser.parse_args()

    coarse = lower_branch()
    if options.upper:
        coarse = upper_branch(coarse)
    flow_map = flow_map_of(options.cells, options.dt)
    times = []

    def show(entry: dict[str, float]) -> None:
        times.append(time.perf_counter())
        print(f"residual {entry['residual']:.2e}, {entry['calls']:.0f} evaluations of the flow map", flush=True)

    solution = find_solution(flow_map, flow_map.interpolate(coarse.state, coarse.flow_map), progress=show)
    print(f"norm {solution.norm:.6f}, dissipation {solution.drag:.6f}")
    print(f"a Newton iteration took {np.median(np.diff(times)):.2f} s")
    if options.output:
        write_solution(options.output, solution)
    if options.eigenvalues:
        begin = time.perf_counter()
        step = LinearisedStep(Operators(flow_map.space, flow_map.case), solution.state)
        modes = eigenvalues(step, options.eigenvalues, 20.0, tolerance=1e-7)
        print(
            "eigenvalues",
            ", ".join(f"{value:.6f}" for value in modes.values),
            f"in {time.perf_counter() - begin:.0f} s",
        )


if __name__ == "__main__":
    main()
