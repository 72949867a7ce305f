#!/usr/bin/env python3
"""Do two builds of Sluice compute the same bits?

    same_bits.py record PROGRAM BITS.json       # run every case below, keep the hashes of what it wrote
    same_bits.py check  PROGRAM BITS.json       # the same runs with another build; exit code 1 if any hash differs

Run both on one machine: the FFT library and the compiler choose their instructions by the processor. A dataset that
only the new build writes is no difference. No run has probes.
SLUICE_MPIRUN and SLUICE_MPIRUN_FLAGS name the launcher, as in the tests.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np


@dataclass(frozen=True)
class Run:
    """One run: changes to the base case of the tests, ranks, the step of a restart, and the order."""

    name: str
    changes: dict[str, Any] = field(default_factory=dict)
    ranks: int = 1
    restart_at: int | None = None
    order: int = 2


COUETTE = {"flow": {"type": "couette", "reynolds": {"wall": 1500}}}
OPEN_CHANNEL = {
    "flow": {"type": "open_channel", "reynolds": {"tau": 180}, "forcing": {"pressure_gradient": 1.0}},
    "domain": {"size": ["2*pi", "pi", 1]},
    "output.statistics": {"start": 0.001, "every": 2, "block": 0.02},
    "output.slices": [{"normal": "x", "at": 0.5, "every": 0.01, "fields": ["u", "v", "w", "p"]}],
}
IMPLICIT = {"time.diffusion": "implicit_z"}
TRANSPOSE = {"solver": {"tridiagonal": "transpose"}}
SHEARED = {"walls": {"bottom": {"velocity": [0, 0.2, 0]}, "top": {"velocity": [0.1, 0, 0]}}}
SPLIT_Z = {"parallel": {"grid": [1, 2]}}  # not auto, which may choose another grid on a loaded machine
ROTATING = {"flow.rotation": {"number": 0.4, "axis": [1, 2, 3]}}
EKMAN = {
    "flow": {
        "type": "open_channel",
        "reynolds": {"viscosity": 0.002},
        "rotation": {"number": 0.1, "axis": "wall_normal", "geostrophic": [1, 0.2]},
    },
    "domain": {"size": ["2*pi", "pi", 1]},
    "output.slices": [],
}
HEATED = {
    "scalars": [
        {"name": "t", "prandtl": 0.7, "walls": {"bottom": {"value": 0.5}, "top": {"value": -0.5}}},
        {"name": "c", "source": {"bulk_value": 1}, "walls": {"bottom": {"value": 0}, "top": {"value": 0}}},
    ],
    "flow.buoyancy": {"richardson": 0.2, "direction": [1, 0, -2]},
}
OPPOSED = {"walls": {"bottom": {"actuation": {"type": "opposition_control", "height": 0.1, "amplitude": 1}}}}
OSCILLATING = {"walls": {"top": {"actuation": {"type": "oscillation", "amplitude": 0.3, "period": 2}}}}
OPPOSED_BELOW_AND_ABOVE = {
    "walls": {
        "bottom": {"actuation": {"type": "opposition_control", "height": 0.2, "amplitude": 0.8}},
        "top": {
            "velocity": [0.1, 0.2, 0],
            "actuation": {
                "type": "opposition_control",
                "height": 250,
                "amplitude": 0.5,
                "units": "wall",
                "re_tau": 180,
            },
        },
    }
}
WAVES = {
    "walls": {
        "bottom": {"actuation": {"type": "blowing_suction", "amplitude": 0.1, "wavelength_x": "pi", "period": 2}},
        "top": {
            "actuation": {
                "type": "travelling_wave",
                "component": "streamwise",
                "amplitude": 5,
                "wavelength_y": 565.486677646,
                "speed": 3,
                "direction": "backward",
                "units": "wall",
                "re_tau": 180,
            }
        },
    }
}
UNEVEN = {"grid.cells": [18, 15, 35], "solver": {"z_blocks": 4}}

RUNS = [
    Run("channel"),
    Run("channel-2", SPLIT_Z, 2),
    Run("channel-2x3", {"parallel": {"grid": [2, 3], "exchange": "mpi_p2p"}, "solver": {"z_blocks": 4}}, 6),
    Run("channel-alltoall", {"parallel": {"grid": [2, 2], "exchange": "mpi_alltoall"}}, 4),
    Run("channel-datatype", {"parallel": {"grid": [4, 1], "exchange": "mpi_datatype"}}, 4),
    Run("channel-pipelined", {"parallel": {"grid": [2, 1], "exchange": "mpi_pipelined"}}, 2),
    Run("channel-transpose", {**TRANSPOSE, **SPLIT_Z}, 2),
    Run("channel-restart", SPLIT_Z, 2, restart_at=11),
    Run("channel-uneven", {**UNEVEN, "parallel": {"grid": [2, 3]}}, 6),
    Run("implicit", IMPLICIT),
    Run("implicit-2", {**IMPLICIT, **SPLIT_Z}, 2),
    Run("implicit-2x2", {**IMPLICIT, "parallel": {"grid": [2, 2]}}, 4),
    Run("implicit-transpose", {**IMPLICIT, **TRANSPOSE, **SPLIT_Z}, 2),
    Run("implicit-restart", IMPLICIT, restart_at=13),
    Run("implicit-uneven", {**IMPLICIT, **UNEVEN, "parallel": {"grid": [1, 4]}}, 4),
    Run("couette", COUETTE),
    Run("couette-implicit-2", {**COUETTE, **IMPLICIT, **SPLIT_Z}, 2),
    Run("open", OPEN_CHANNEL),
    Run("open-implicit-2", {**OPEN_CHANNEL, **IMPLICIT, **SPLIT_Z}, 2),
    Run("open-restart-2x1", {**OPEN_CHANNEL, "parallel": {"grid": [2, 1]}}, 2, restart_at=9),
    Run("walls-move", {**SHEARED, **IMPLICIT, **SPLIT_Z}, 2),
    Run("fixed-dt", {"time.cfl": None, "time.dt": 0.05, "flow.forcing": "none"}),
    Run("natural-grid", {"grid": {"cells": [16, 12, 96], "stretching": {"type": "natural", "re_tau": 180}}}),
    Run("rotating", ROTATING),
    Run("rotating-implicit-2", {**ROTATING, **IMPLICIT, **SPLIT_Z}, 2),
    Run("ekman-2", {**EKMAN, **SPLIT_Z}, 2),
    Run("heated-2", {**HEATED, **SPLIT_Z}, 2),
    Run("heated-rotating-4", {**HEATED, **ROTATING, **IMPLICIT, "parallel": {"grid": [2, 2]}}, 4, order=4),
    Run("opposed-2", {**OPPOSED, **SPLIT_Z}, 2, order=4),
    Run(
        "opposed-restart-2x2",
        {**OPPOSED_BELOW_AND_ABOVE, **IMPLICIT, "parallel": {"grid": [2, 2]}},
        4,
        restart_at=5,
        order=4,
    ),
    Run("opposed-3", {**OPPOSED_BELOW_AND_ABOVE, "parallel": {"grid": [1, 3]}, "solver": {"z_blocks": 4}}, 3),
    Run("waves-2", {**WAVES, **SPLIT_Z}, 2, order=4),
    Run("waves-implicit-restart", {**WAVES, **IMPLICIT}, restart_at=6),
    Run("oscillating-restart", {**OSCILLATING, **IMPLICIT}, restart_at=7, order=4),
    Run("power", {"flow.forcing": {"power": 0.01}}, order=4),
    Run("one-y", {"grid.cells": [16, 1, 32], "parallel": {"grid": [1, 2]}}, 2),
]


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def datasets_of(path: Path) -> dict[str, str]:
    """Hashes of the numbers of each dataset of a file. Ignores attributes such as the version and the case."""
    found: dict[str, str] = {}

    def visit(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
            found[f"{path.name}/{name}"] = hash_of(np.ascontiguousarray(item[()]).tobytes())

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def series_of(path: Path) -> bytes:
    """The time series without the column of hashes, which earlier builds do not write."""
    lines = path.read_text().splitlines()
    if lines[0].endswith(",hash"):
        lines = [line.rpartition(",")[0] for line in lines]
    return "".join(f"{line}\n" for line in lines).encode()


def bits_of(output: Path) -> dict[str, str]:
    """Hashes of all results of a run: time series, statistics, slices and checkpoints."""
    found = {"timeseries.csv": hash_of(series_of(output / "timeseries.csv"))}
    for path in sorted(output.rglob("*.h5")):
        found.update(datasets_of(path))
    return found


def of_order(order: int) -> list[str]:
    """The arguments that give the program this order; none if it has order 2 alone."""
    from sluice_run import must, sluice

    has_the_key = re.search(r"^  order:", must(sluice("init")).out, re.MULTILINE)
    return ["--set", f"solver.order={order}"] if has_the_key else []


def bits_of_run(run: Run, folder: Path) -> dict[str, str]:
    """Runs the case, in two parts if it is restarted, and returns its hashes."""
    from sluice_run import must, sluice, write_case

    command = ["run", write_case(folder, {"output.probes": None, **run.changes}), *of_order(run.order)]
    if run.restart_at is not None:
        must(sluice(*command, "--steps", str(run.restart_at), ranks=run.ranks))
        must(sluice(*command, "--restart", "auto", ranks=run.ranks))
    else:
        must(sluice(*command, ranks=run.ranks))
    return bits_of(folder / "out")


def differences(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """The names of missing or different hashes."""
    return [name for name, value in expected.items() if found.get(name) != value]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "check"])
    parser.add_argument("program", type=Path)
    parser.add_argument("bits", type=Path)
    parser.add_argument("--only", default="", help="run the cases whose name holds this word")
    parser.add_argument("--max-ranks", type=int, default=6, help="leave out cases on more ranks, as on one GPU")
    arguments = parser.parse_args()
    os.environ["SLUICE_BINARY"] = str(arguments.program.resolve())

    expected = json.loads(arguments.bits.read_text()) if arguments.action == "check" else {}
    results: dict[str, dict[str, str]] = {}
    failed = 0
    for run in RUNS:
        if arguments.only not in run.name or run.ranks > arguments.max_ranks:
            continue
        with tempfile.TemporaryDirectory() as folder:
            results[run.name] = bits_of_run(run, Path(folder))
        if arguments.action == "record":
            print(f"{run.name:20} {len(results[run.name])} hashes", flush=True)
            continue
        wrong = differences(expected[run.name], results[run.name])
        failed += bool(wrong)
        verdict = "differs: " + ", ".join(wrong[:6]) if wrong else "same"
        print(f"{run.name:20} {len(expected[run.name])} hashes, {verdict}", flush=True)
    if arguments.action == "record":
        arguments.bits.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
