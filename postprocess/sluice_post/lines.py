"""Lines of figures from datasets of profiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from sluice_post.style import line_with_band, log_wall_axis


def profile_line(axes: Axes, data: xr.Dataset, name: str, *, sign: int = 1, plus: bool = True, **style: Any) -> Any:
    """A profile of a dataset, and the band of its interval, at its own heights; returns their colour.

    Points where it is not defined are left out. `plus`: against z+, without the wall; else against z/h.
    """
    values, (dim,) = sign * data[name].values, data[name].dims
    z = data[f"{dim}_plus" if plus else dim].values
    known = np.isfinite(values) & ((z > 0) | (not plus))
    band = data[f"{name}_ci95"].values[known] if f"{name}_ci95" in data else None
    return line_with_band(axes, z[known], values[known], band, **style)


def wall_axes(axes: Axes, data: xr.Dataset, ylabel: str, *lines: tuple[str, str | None, str]) -> None:
    """Axes against z+ from the first height off the wall, and these profiles: names, colours and labels of lines.

    Profiles that the dataset does not have are left out.
    """
    z_plus = next(data[name].values for name in ("z_plus", "z_face_plus") if name in data.coords)
    log_wall_axis(axes, z_plus[z_plus > 0])
    for name, colour, label in lines:
        if name in data:
            profile_line(axes, data, name, color=colour, label=label)
    axes.set_ylabel(ylabel)
