"""Lines of figures from datasets of profiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from sluice_post.style import line_with_band


def profile_line(axes: Axes, data: xr.Dataset, name: str, *, sign: int = 1, plus: bool = True, **style: Any) -> Any:
    """A profile of a dataset, and the band of its interval, at its own heights; returns their colour.

    Points where it is not defined are left out. `plus`: against z+, without the wall; else against z/h.
    """
    values, (dim,) = sign * data[name].values, data[name].dims
    z = data[f"{dim}_plus" if plus else dim].values
    known = np.isfinite(values) & ((z > 0) | (not plus))
    band = data[f"{name}_ci95"].values[known] if f"{name}_ci95" in data else None
    return line_with_band(axes, z[known], values[known], band, **style)


def z_plus_of(data: xr.Dataset, name: str) -> Any:
    """The heights of a profile in wall units, without the wall."""
    z_plus = data[f"{data[name].dims[0]}_plus"].values
    return z_plus[z_plus > 0]
