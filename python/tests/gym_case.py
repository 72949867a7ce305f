"""A tiny control environment for the tests of sluice.gym; its library of states is made once for all of them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import sluice
from sluice.gym import Config, States

CASE: dict[str, Any] = {
    "flow": {"type": "channel", "reynolds": {"bulk": 5600}, "forcing": {"bulk_velocity": 1}},
    "domain": {"size": ["pi", "pi/2", 2]},
    "grid": {"cells": [16, 12, 16], "stretching": {"type": "tanh", "factor": 1.6}},
    "time": {"end": 100, "cfl": 0.9, "diffusion": "implicit_z"},
    "initial": {"type": "turbulent", "seed": 3},
}
_FOLDER = tempfile.TemporaryDirectory(prefix="sluice-gym-")
CACHE = Path(os.environ.get("SLUICE_GYM_TEST_CACHE", _FOLDER.name))
STATES = States(count=3, chains=2, transient=0.5, separation=0.2, cache=CACHE)


def config(**keywords: Any) -> Config:
    return Config(**{"case": CASE, "interval": 4.0, "episode": 12.0, "states": STATES, **keywords})


def case() -> sluice.Case:
    return sluice.Case(CASE)
