"""The package as it was built (PYTHONPATH), and the program beside it: see tests/regression/sluice_run.py."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sluice_run

os.environ.update(sluice_run.QUICK_START)  # before MPI starts in this process

import sluice

CHANNEL: dict[str, Any] = {
    "flow": {"type": "channel", "reynolds": {"bulk": 5600}},
    "domain": {"size": ["2*pi", "pi", 2]},
    "grid": {"cells": [16, 12, 16]},
    "time": {"end": 100, "cfl": 0.9, "diffusion": "implicit_z"},
    "initial": {"type": "turbulent", "seed": 3},
    "scalars": [{"name": "heat", "prandtl": 0.7, "walls": {"top": {"value": 1}}}],
}
HEIGHT = 0.15
ACTUATION = {"type": "opposition_control", "amplitude": 1, "height": HEIGHT}


@pytest.fixture
def channel() -> sluice.Case:
    return sluice.Case(CHANNEL)


@pytest.fixture
def sim(channel: sluice.Case) -> Iterator[sluice.Simulation]:
    with sluice.Simulation(channel) as simulation:
        yield simulation


def fields_of(sim: sluice.Simulation) -> dict[str, Any]:
    return {name: field.values.copy() for name, field in sim.fields.items()}


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name, values in one.items():
        assert np.array_equal(values, other[name]), name


def wave(shape: tuple[int, ...], seed: int = 1) -> Any:
    """Values whose mean is 0."""
    values = 0.05 * np.random.default_rng(seed).standard_normal(shape)
    return values - values.mean()


def rest(sim: sluice.Simulation) -> Any:
    return np.zeros(sim.walls["bottom"].w.shape)
