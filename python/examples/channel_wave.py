"""Two-dimensional Tollmien-Schlichting waves in a channel, and the lowest Reynolds number at which they exist.

    python channel_wave.py --cells 32 64 --wavenumber 1.3231

Starts from a wave that time stepping brings near to a travelling one, follows the branch of waves to lower Reynolds
numbers and around its fold, and computes the fold. The pressure gradient is constant, and the Reynolds number is that
of the laminar centreline velocity. Herbert (1976) found the fold at Re 2935 for alpha = 1.3231.
"""

from __future__ import annotations

import argparse

import numpy as np

from sluice.dynamics import FlowMap, Solution, Symmetry, find_fold, find_solution, follow_branch, write_solution

REYNOLDS = "flow.reynolds.center"
SPEED = "grid.velocity"


def first_wave(nx: int, nz: int, wavenumber: float, reynolds: float) -> Solution:
    """A wave of the upper branch, with the symmetry of a reflection about the middle and a shift by half a wave."""
    case = {
        "flow": {"type": "channel", "reynolds": {"center": reynolds}},
        "domain": {"size": [2 * np.pi / wavenumber, 1, 2]},
        "grid": {"cells": [nx, 1, nz], "stretching": {"type": "tanh", "factor": 1.3}, "velocity": 0.35},
        "time": {"steps": 1},
    }
    channel = FlowMap(case, time=6, dt=0.06, symmetries=Symmetry(z=-1, shift=(0.5, 0)))
    state = channel.laminar + channel.space.sample(w=lambda x, y, z: 0.5 * np.sin(wavenumber * x) * (z * (2 - z)) ** 2)
    for _ in range(50):
        state = channel(state)
    return find_solution(channel, state, [SPEED])


def show(wave: Solution) -> None:
    """Prints a wave."""
    print(f"Re {wave.parameter(REYNOLDS):.3f}, c {wave.parameter(SPEED):.6f}, norm {wave.norm:.6f}", flush=True)


def fold_of(wave: Solution) -> Solution:
    """The wave at the fold, below the Reynolds number of a wave of the upper branch."""
    branch = [wave]
    for one in follow_branch(wave, REYNOLDS, -60, [SPEED], points=60):
        show(one)
        branch.append(one)
        if one.parameter(REYNOLDS) > branch[-2].parameter(REYNOLDS):
            return find_fold(branch[-3:], REYNOLDS, [SPEED])
    raise SystemExit("60 waves and no fold")


def main() -> None:
    """Reads the options, searches and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cells", nargs=2, type=int, default=[32, 64], metavar=("NX", "NZ"))
    parser.add_argument("--wavenumber", type=float, default=1.3231, help="alpha, in units of 1/h (default 1.3231)")
    parser.add_argument("--reynolds", type=float, default=4000, help="where to begin (default 4000)")
    parser.add_argument("--output", help="HDF5 file for the wave at the fold")
    options = parser.parse_args()

    nx, nz = options.cells
    wave = first_wave(nx, nz, options.wavenumber, options.reynolds)
    show(wave)
    fold = fold_of(wave)
    print("fold: ", end="")
    show(fold)
    if options.output:
        write_solution(options.output, fold)


if __name__ == "__main__":
    main()
