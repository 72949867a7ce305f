"""The type of arrays that all modules share, and interpolation of profiles on grids that are not uniform."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def interpolate(x: Array, xp: Array, fp: Array) -> Array:
    """Lagrange interpolation along the first axis, through the four points nearest to each x: exact for cubics.

    `xp` increases strictly; with fewer than four points all of them are used.
    """
    count = min(4, len(xp))
    first = np.clip(np.searchsorted(xp, x) - count // 2, 0, len(xp) - count)
    columns = first[:, None] + np.arange(count)
    nodes = xp[columns]
    result = np.zeros((len(x), *fp.shape[1:]))
    for j in range(count):
        others = [m for m in range(count) if m != j]
        weight = np.prod((x[:, None] - nodes[:, others]) / (nodes[:, [j]] - nodes[:, others]), axis=1)
        result += weight.reshape(-1, *[1] * (fp.ndim - 1)) * fp[columns[:, j]]
    return result
