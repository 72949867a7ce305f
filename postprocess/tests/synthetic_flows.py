"""Runs of channels that are not plain, or whose walls differ: the model flow with other parameters of the case."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import synthetic

from sluice_post import hashes

PLAIN = {
    "flow.type": "channel",
    "flow.spanwise_forcing": "none",
    "flow.rotation": "none",
    "flow.magnetic_field": "none",
    "flow.buoyancy": "none",
    "walls.bottom.type": "no_slip",
    "walls.bottom.velocity": "[0, 0, 0]",
    "walls.bottom.actuation": "none",
    "walls.top.type": "no_slip",
    "walls.top.velocity": "[0, 0, 0]",
    "walls.top.actuation": "none",
    "scalars": "[]",
    "solver.order": "4",
}
ROTATION = {"flow.rotation.number": "0.5", "flow.rotation.axis": "spanwise", "flow.rotation.geostrophic": "[0, 0]"}
RE_B = 5600.0
STRESS_ON_TOP = 0.25  # over that on the bottom wall, where the walls differ


def _uneven(profiles: dict) -> dict:
    """The flow with weaker stresses and fluctuations in its upper half."""
    uneven = dict(profiles)
    for name in ("tau_xz", "uw"):
        values = np.array(profiles[name])
        values[len(values) // 2 + 1 :] *= STRESS_ON_TOP
        uneven[name] = values
    for name in "uv":
        mean, square = profiles[name], np.array(profiles[name * 2])
        half = len(square) // 2
        square[half:] -= (1 - STRESS_ON_TOP) * (square[half:] - mean[half:] ** 2)
        uneven[name * 2] = square
    return uneven


def _write_timeseries(path: Path, flow: synthetic.Flow, top: float) -> None:
    """A time series with `top` times the Re_tau on the top wall."""
    synthetic.write_timeseries(path, flow, rows=400)
    header, *rows = path.read_text().splitlines()
    column = header.split(",").index("re_tau_top")
    lines = [header]
    for row in rows:
        values = row.split(",")[:-1]
        values[column] = f"{top * float(values[column]):.17g}"
        text = ",".join(values)
        lines.append(f"{text},{hashes.byte_hash(0, text.encode()) >> 11}")
    path.write_text("\n".join(lines) + "\n")


def write_run(
    directory: Path, sampled: dict | None = None, uneven: bool = False, re_tau: float = 180.0, **changes: object
) -> Path:
    """A run of the model flow with these keys of the case; U is the nominal bulk velocity.

    `uneven`: with other stresses on the top wall; `changes`: to synthetic.Flow.
    """
    flow = synthetic.Flow(**{"re_tau": re_tau, "u_tau": 2 * re_tau / RE_B, "cells": (32, 24, 48), **changes})
    profiles = synthetic.turbulent_profiles(flow)
    blocks = synthetic.noisy_blocks(flow, _uneven(profiles) if uneven else profiles, 8, 3)
    if uneven:
        blocks = [block | {"uu": _uneven(block)["uu"]} for block in blocks]
    synthetic.write_statistics(directory / "statistics.h5", flow, blocks)
    sampled = sampled or {}
    drive = {} if any(key.startswith("flow.forcing") for key in sampled) else {"flow.forcing.bulk_velocity": "1"}
    keys = PLAIN | {"flow.reynolds.viscosity": repr(flow.viscosity)} | drive | sampled
    synthetic.write_parameter_sets(directory / "statistics.h5", [0] * len(blocks), [keys])
    _write_timeseries(directory / "timeseries.csv", flow, STRESS_ON_TOP**0.5 if uneven else 1.0)
    synthetic.write_run_json(directory / "run.json")
    return directory
