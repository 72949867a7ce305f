"""Draws the memory of channels against Re_tau, as figure 1 of Diez Sanhueza et al. (2025), from `sluice check`.

    python3 scripts/draw_memory.py IMAGE.png [SLUICE]

SLUICE is the program, by default the `sluice` on the PATH. Needs Matplotlib; neither that memory nor a GPU.
docs/performance.md, "Memory against Re_tau", states the grids.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

CASE = """\
title: Channel of Diez Sanhueza et al. (2025), figure 1
flow: {type: channel, reynolds: {tau: 5000}, forcing: {pressure_gradient: 1}}
domain: {size: [12.8, 6.4, 2]}
grid: {cells: [7168, 7168, 1594], stretching: {type: natural}}
time: {steps: 1}
"""
# Friction Reynolds numbers and cells: the paper's grid at 5000, nx and ny with Re_tau, nz with Re_tau^(3/4).
GRIDS = {
    180: (256, 256, 132),
    550: (784, 784, 304),
    1000: (1440, 1440, 480),
    2000: (2880, 2880, 800),
    5000: (7168, 7168, 1594),
    10000: (14336, 14336, 2680),
    20000: (28672, 28672, 4508),
    50000: (71680, 71680, 8964),
    100000: (143360, 143360, 15076),
}
SLABS = [tau for tau in GRIDS if 1000 <= tau <= 20000]  # where slabs of two planes are drawn
DIFFUSION = {"explicit": "-", "implicit_z": "--"}
DEVICES = (64e9, 128e9)  # bytes of a GPU, as in the paper
UNITS = {"MiB": 2**20, "GiB": 2**30}
LARGEST_MACHINE = 44544 * 128e9  # bytes of all accelerators of El Capitan


def memory(program: str, case: Path, tau: int, diffusion: str, ranks: int) -> tuple[float, float]:
    """Bytes in all and on the largest rank, in slabs along z for that number of ranks."""
    settings = [
        f"flow.reynolds.tau={tau}",
        f"grid.cells={list(GRIDS[tau])}",
        f"time.diffusion={diffusion}",
        f"parallel.grid=[1,{ranks}]",
        f"solver.z_blocks={ranks}",
    ]
    # One rank keeps the default number of z blocks.
    chosen = settings if ranks > 1 else settings[:3]
    command = [program, "check", str(case), "--np", str(ranks)] + [part for key in chosen for part in ("--set", key)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"exit code {done.returncode} of {' '.join(command)}")
    found = re.search(r"^memory +([\d.]+) (\w+) in all .*, ([\d.]+) (\w+) on rank 0$", done.stdout, re.MULTILINE)
    if not found:
        raise SystemExit(f"no line with the memory in the output of {' '.join(command)}")
    return float(found[1]) * UNITS[found[2]], float(found[3]) * UNITS[found[4]]


def crossing(taus: Sequence[int], sizes: Sequence[float], limit: float) -> float:
    """Re_tau where the size reaches the limit, interpolated between logarithms."""
    return float(np.exp(np.interp(np.log(limit), np.log(sizes), np.log(taus))))


def main(image: str, program: str = "sluice") -> None:
    """Draws the figure, and prints where slabs end and the largest machine is full."""
    taus = list(GRIDS)
    figure, axes = plt.subplots(figsize=(7, 5))
    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder) / "case.yaml"
        case.write_text(CASE)
        for diffusion, line in DIFFUSION.items():
            total = [memory(program, case, tau, diffusion, 1)[0] for tau in taus]
            axes.loglog(taus, total, "C0" + line, label=f"in all, {diffusion}")
            slabs = [memory(program, case, tau, diffusion, GRIDS[tau][2] // 2)[1] for tau in SLABS]
            axes.loglog(SLABS, slabs, "C1" + line, label=f"one rank in slabs of two planes, {diffusion}")
            for limit, marker in zip(DEVICES, "os", strict=True):
                end = crossing(SLABS, slabs, limit)
                label = f"slabs end with {limit / 1e9:.0f} GB per GPU" if diffusion == "explicit" else None
                axes.plot(end, limit, "k" + marker, label=label)
                print(f"{diffusion}: slabs end at Re_tau = {end:.0f} with {limit / 1e9:.0f} GB per GPU")
            end = crossing(taus, total, LARGEST_MACHINE)
            print(f"{diffusion}: El Capitan is full at Re_tau = {end:.0f}")
    axes.loglog(taus, [8 * nx * ny for nx, ny, _ in GRIDS.values()], "C2-", label="one plane of one variable")
    axes.axhline(LARGEST_MACHINE, color="0.5", linestyle=":", label="GPUs of El Capitan in all")
    axes.set(xlabel=r"$Re_\tau$", ylabel="bytes, double precision")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(image, dpi=150)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
