"""Cases and initial states of the tests of sluice.dynamics."""

from __future__ import annotations

from typing import Any

import numpy as np

import sluice
from sluice.dynamics import FlowMap


def couette(cells: tuple[int, int, int], reynolds: float = 400, **keys: Any) -> sluice.Case:
    case = sluice.Case(
        {
            "flow": {"type": "couette", "reynolds": {"wall": reynolds}},
            "domain": {"size": [2 * np.pi / 1.14, 0.8 * np.pi, 2]},
            "grid": {"cells": list(cells), "stretching": {"type": "uniform"}},
            "time": {"steps": 1, "dt": 0.01},
        }
    )
    for key, value in keys.items():
        case[key.replace("__", ".")] = value
    return case


def channel(cells: tuple[int, int, int]) -> sluice.Case:
    return sluice.Case(
        {
            "flow": {"type": "channel", "reynolds": {"bulk": 2000}},
            "domain": {"size": [4, 2, 2]},
            "grid": {"cells": list(cells)},
            "time": {"steps": 1, "dt": 0.01},
        }
    )


def waves(flow_map: FlowMap, amplitude: float = 0.2) -> Any:
    """The laminar flow with rolls and a wave."""
    a, b = (2 * np.pi / length for length in flow_map.space.lengths[:2])
    return flow_map.laminar + flow_map.space.sample(
        u=lambda x, y, z: 0.3 * amplitude * np.cos(a * x + 1) * np.sin(b * y) * z * (2 - z),
        v=lambda x, y, z: amplitude * np.sin(a * x) * z * (2 - z),
        w=lambda x, y, z: amplitude * np.cos(b * y) * (z * (2 - z)) ** 2,
    )
