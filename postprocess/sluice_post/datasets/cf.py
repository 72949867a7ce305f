"""The CF conventions: the attributes of all datasets, and datasets as files in these conventions have them.

https://cfconventions.org, version 1.13 of December 2025. Of its standard names only that of numbers of samples fits:
the others are of the atmosphere, the ocean or the land, and have units. Time has no `axis`, since CF reserves T for
times since a date.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr

CONVENTIONS = "CF-1.13"
REFERENCE_SCALE = "reference_scale"  # attribute of variables in files: what the numbers are over

PLANES_AND_TIME = "area: time:"  # for `dataset`: averages over planes parallel to the walls and over time
INSTANTS = "time: point"

_CF_UNITS = ("1", "degree", "%")  # of those that variables have; the others are reference scales
_AXIS = re.compile(r"([xyz])(_face)?(_kxky|_joint)?")
_STANDARD_NAMES = {"samples": "number_of_observations"}

# What a statistic is by the words of its description. CF has no method for those of _NO_METHOD.
_NO_METHOD = re.compile(
    "skewness|flatness|covariance|coefficient|density|probability|integral length|Kolmogorov|size of|number|"
    "rate of change|time of the|less that of the balance|balance|turbulent diffusivity|turbulent viscosity|harmonic"
)
_METHODS = ((re.compile("variance"), "variance"), (re.compile(r"\brms\b|root-mean-square"), "standard_deviation"))


def _method(long_name: str) -> str | None:
    """The method of an average over planes and time; None if CF has none."""
    if _NO_METHOD.search(long_name):
        return None
    return next((method for words, method in _METHODS if words.search(long_name)), "mean")


def set_attributes(found: xr.Dataset, cell_methods: str | None) -> None:
    """Adds axis, positive, standard_name, cell_methods and ancillary_variables to the variables of a dataset.

    Heights as seen from the top wall grow downwards. `cell_methods`: PLANES_AND_TIME, INSTANTS or None.
    """
    from_top = "top" in (found.attrs.get("side"), found.attrs.get("wall"))
    for name, values in found.coords.items():
        axis = _AXIS.fullmatch(str(name))
        if axis is not None and values.dims == (name,):
            values.attrs["axis"] = axis[1].upper()
            if axis[1] == "z":
                values.attrs["positive"] = "down" if from_top else "up"
    for name, values in found.data_vars.items():
        if intervals := [f"{name}{ending}" for ending in ("_ci95", "_ci95_time") if f"{name}{ending}" in found]:
            values.attrs["ancillary_variables"] = " ".join(intervals)
        if name in _STANDARD_NAMES:
            values.attrs["standard_name"] = _STANDARD_NAMES[str(name)]
        elif cell_methods == INSTANTS and "time" in found.coords:
            values.attrs["cell_methods"] = INSTANTS
        elif (
            cell_methods == PLANES_AND_TIME
            and not str(name).endswith(("_ci95", "_ci95_time"))
            and (method := _method(values.attrs["long_name"])) is not None
        ):
            values.attrs["cell_methods"] = f"{PLANES_AND_TIME} {method}"


def _attributes(values: xr.DataArray) -> dict[Hashable, Any]:
    found = dict(values.attrs)
    scale = found.pop("units", "1")
    if values.dtype.kind not in "biuf":
        return found  # texts have no units
    if scale in _CF_UNITS:
        return found | {"units": scale}
    if scale:
        shown = f"({scale})" if re.search("[ /]", scale) else scale  # as in files of runs: velocity / U, time / (h/U)
        found |= {"long_name": f"{found['long_name']} / {shown}", REFERENCE_SCALE: scale}
    return found | {"units": "1"}


def _with_bounds(found: xr.Dataset) -> xr.Dataset:
    """The times of the first and the last sample of each block, as the bounds of the block."""
    bounds = np.stack([found["t_begin"], found["t_end"]], axis=-1)
    found = found.drop_vars(["t_begin", "t_end"])
    found["time_bounds"] = xr.Variable(("time", "bounds"), bounds, encoding={"_FillValue": None})
    found["time"].attrs["bounds"] = "time_bounds"
    return found


def cf_dataset(found: xr.Dataset) -> xr.Dataset:
    """A dataset as CF wants it: units of UDUNITS, reference scales in `long_name` and `reference_scale`.

    The begin and the end of blocks become the bounds of `time`. Texts along a dimension of their own name become
    NAME_label: CF takes such variables for coordinates, and those are numbers.
    """
    texts = [name for name in found.indexes if found[name].dtype.kind not in "biuf"]
    found = found.drop_indexes(texts).rename_vars({name: f"{name}_label" for name in texts})
    for name, values in found.variables.items():
        found[name].attrs = _attributes(found[name])
        values.encoding = {} if name in found.data_vars else {"_FillValue": None}
    if {"t_begin", "t_end"} <= set(found.data_vars):
        found = _with_bounds(found)
    found.attrs = {  # NetCDF has texts and numbers
        name: int(value) if isinstance(value, (bool, np.bool_)) else value
        for name, value in found.attrs.items()
        if value is not None
    }
    return found
