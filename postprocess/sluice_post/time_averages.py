"""Averages of the time series: Re_tau, C_f, bulk velocity, force and energy, of a run or of members of an ensemble.

Quantities that are not means come from means over all members: Re_tau from the mean square, C_f from this and from the
mean bulk velocity.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.datasets.variables import Variables, dataset, with_interval
from sluice_post.errors import InputOutputError
from sluice_post.statistics import Blocks, Means
from sluice_post.timeseries import TimeSeries, friction_reynolds_series, read_timeseries, rows_between
from sluice_post.uncertainty import half_width95
from sluice_post.watch.case import Case, read_case

_PIECES = 60  # ten for each period of the fastest cosine of uncertainty.py
_SQUARED = "re_tau_squared"
ABOUT = {
    "re_tau": ("friction Reynolds number of the mean wall stress", "1"),
    "cf": ("friction coefficient of the mean wall stress", "1"),
    layout.BULK_VELOCITY: ("bulk velocity", "U"),
    layout.FORCING_COLUMN: ("mean force", "U^2/h"),
    layout.KINETIC_ENERGY: ("volume mean of |u|^2/2", "U^2"),
}


def series_blocks(series: TimeSeries, begin: float | None, end: float | None, path: Path) -> Blocks:
    """Rows between two times, by default the last third, at even times, as blocks of sums."""
    rows = rows_between(series, begin, end, path)
    time, re_tau = series.time[rows], friction_reynolds_series(series)
    columns = {name: series[name][rows] for name in ABOUT if name in series.columns}
    if re_tau is not None:
        columns[_SQUARED] = re_tau[rows] ** 2
    even = np.linspace(time[0], time[-1], len(time))
    pieces = np.array_split(np.arange(len(time)), min(_PIECES, len(time)))
    starts = np.array([piece[0] for piece in pieces])

    def sums(values: Array) -> Array:
        return np.asarray(np.add.reduceat(np.interp(even, time, values), starts)[:, None])

    return Blocks(
        z=np.zeros(0),
        z_face=np.zeros(0),
        samples=np.array([len(piece) for piece in pieces]),
        time_begin=even[starts],
        time_end=even[[piece[-1] for piece in pieces]],
        centre={name: sums(values) for name, values in columns.items()},
        face={},
        forcing=np.zeros(len(pieces)),
        parameter_set=np.zeros(len(pieces), dtype=np.int64),
        parameter_sets=(),
        sampling_error=True,
    )


def read_series_blocks(directory: Path, begin: float | None, end: float | None) -> Blocks:
    """The time series of a run as blocks of sums."""
    path = directory / layout.TIMESERIES_FILE
    series = read_timeseries(path)
    if series is None:
        raise InputOutputError(f"{path}: not there, or without rows")
    return series_blocks(series, begin, end, path)


def averages_of(blocks: Blocks, case: Case | None) -> xr.Dataset:
    """Averages with their intervals; NAME_ci95_time is that in time of an ensemble, whose other is across members."""

    def figures(means: Means) -> dict[str, float]:
        values = {name: float(value[0]) for name, value in means.centre.items()}
        found = {}
        if (squared := values.pop(_SQUARED, 0.0)) > 0:
            found["re_tau"] = squared**0.5
            if case is not None and np.isfinite(cf := case.friction(squared**0.5, values[layout.BULK_VELOCITY])):
                found["cf"] = cf
        return found | values

    values, variables = figures(blocks.means()), Variables()

    def vector(means: Means) -> Array:
        found = figures(means)
        return np.array([found[name] for name in values])

    widths = half_width95(vector, blocks)
    in_time = half_width95(vector, blocks.in_time) if blocks.in_time is not None else np.full(len(values), np.nan)
    for (name, value), width, of_time in zip(values.items(), widths, in_time, strict=True):
        variables |= with_interval(name, (), value, width, ABOUT[name], of_time)
    begin, end = blocks.times
    return dataset(variables, {}, begin=begin, end=end)


def case_of(directory: Path) -> Case | None:
    """The units of a run, without which there is no C_f."""
    return read_case(directory / layout.CASE_FILE)
