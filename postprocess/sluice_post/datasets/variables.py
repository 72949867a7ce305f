"""What all datasets are made of: variables with descriptions and units, and coordinates of heights and wavenumbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from sluice_post.arrays import Array
from sluice_post.datasets.cf import set_attributes
from sluice_post.wall_view import SeenFromWall

Variables = dict[str, xr.Variable]

About = tuple["str | tuple[str, ...]", str, str]  # dimensions, description and unit of a variable

RHO = "rho "  # of units of pressure


def variable(dims: str | Sequence[str], values: ArrayLike, long_name: str, units: str = "1") -> xr.Variable:
    """Values with their dimensions, description and unit."""
    return xr.Variable(dims, np.asarray(values), {"long_name": long_name, "units": units})


def half_width_of(values: xr.Variable, half_width: ArrayLike) -> xr.Variable:
    """The half width of the 95 % interval of a variable; with a description, if the variable has one."""
    if not values.attrs:
        return xr.Variable(values.dims, half_width)
    about = f"half width of the 95 % interval of: {values.attrs['long_name']}"
    return variable(tuple(map(str, values.dims)), half_width, about, values.attrs["units"])


def with_interval(
    name: str,
    dims: str | Sequence[str],
    values: ArrayLike,
    half_width: ArrayLike | None,
    about: tuple[str, str],
    in_time: ArrayLike | None = None,
) -> Variables:
    """A variable and, if it is known, the half width of its 95 % interval. `about`: description and unit.

    `in_time`: of an ensemble, the half width of the interval in time, beside that across its members.
    """
    found = {name: variable(dims, values, *about)}
    for ending, width in (("_ci95", half_width), ("_ci95_time", in_time)):
        if width is not None and np.any(np.isfinite(width)):
            found[name + ending] = half_width_of(found[name], width)
    return found


def described(values: Mapping[str, ArrayLike], table: Mapping[str, About]) -> Variables:
    """Variables from arrays by name; NAME_ci95 is the half width of the 95 % interval of NAME, as of `intervals`.

    `table`: the dimensions, description and unit of each name.
    """
    found: Variables = {}
    for name, of_name in values.items():
        if not name.endswith("_ci95"):
            dims, *about = table[name]
            found |= with_interval(name, dims, of_name, values.get(f"{name}_ci95"), (about[0], about[1]))
    return found


def heights(dim: str, z: Array, seen: SeenFromWall) -> Variables:
    """The coordinates of heights above the wall of `seen`: `dim`, in h as in the files, and `dim`_plus."""
    of = "faces" if "face" in dim or "joint" in dim else "cell centres"
    return {
        dim: variable(dim, z, f"distance of {of} from the wall", "h"),
        f"{dim}_plus": variable(dim, z * seen.u_tau / seen.viscosity, f"distance of {of} from the wall", "nu/u_tau"),
    }


def dataset(
    variables: Mapping[str, xr.Variable], coordinates: Variables, cell_methods: str | None = None, **attributes: Any
) -> xr.Dataset:
    """A dataset that can be selected by heights in wall units, too: `.sel(z_plus=15, method="nearest")`.

    `cell_methods`: of the variables, PLANES_AND_TIME or INSTANTS of datasets/cf.py.
    """
    found = xr.Dataset(variables, coordinates, attributes)
    set_attributes(found, cell_methods)
    for name, values in coordinates.items():
        if name.endswith("_plus") and values.ndim == 1 and np.all(np.isfinite(values.values)):
            found = found.set_xindex(name)
    return found
