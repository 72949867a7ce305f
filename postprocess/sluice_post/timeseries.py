"""timeseries.csv, and averages over the last part of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.hashes import byte_hash
from sluice_post.uncertainty import MeanEstimate, mean_with_interval

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TimeSeries:
    """Columns of the time series by name; all have the same length, and time does not decrease."""

    columns: dict[str, Array]
    hashed: bool  # whether the file has hashes, so that its numbers are verified

    def __len__(self) -> int:
        return len(self.columns[layout.TIME])

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def has(self, name: str) -> bool:
        """Whether the column exists and holds any finite value that is not zero."""
        values = self.columns.get(name)
        return values is not None and bool(np.any(np.isfinite(values) & (values != 0)))

    @property
    def time(self) -> Array:
        """Simulation time of each row."""
        return self.columns[layout.TIME]

    def last_third(self) -> slice:
        """The rows in the last third of the simulated time."""
        begin = self.time[-1] - (self.time[-1] - self.time[0]) / 3
        return slice(int(np.searchsorted(self.time, begin - 1e-9 * max(1.0, abs(begin)))), None)


def _row(line: str, hashed: bool) -> list[float]:
    """The numbers of a row without its hash, which is verified if the file has hashes."""
    numbers, _, stored = line.rpartition(",") if hashed else (line, "", "")
    if hashed and stored != str(byte_hash(0, numbers.encode()) >> 11):
        raise ValueError("it does not have the hash stored with it")
    values = [float(text) for text in numbers.split(",")]
    if len(values) != len(layout.TIMESERIES_COLUMNS):
        raise ValueError(f"{len(values)} values instead of {len(layout.TIMESERIES_COLUMNS)}")
    return values


def read_timeseries(path: Path) -> TimeSeries | None:
    """The time series of a run; None if there is none or it has no rows yet.

    A last line cut short (the run is being written, or was killed) is left out.
    """
    if not path.exists():
        return None
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InputOutputError(f"{path}: cannot be read ({error})") from error
    *lines, unfinished = text.split("\n")
    columns = ",".join(layout.TIMESERIES_COLUMNS)
    hashed_columns = f"{columns},{layout.ROW_HASH}"
    if not lines and hashed_columns.startswith(unfinished):
        return None
    header = lines[0] if lines else unfinished
    if header not in (columns, hashed_columns):
        raise InputOutputError(
            f"{path}: line 1 is not '{hashed_columns}'; the file is damaged, or not a time series"
        )
    values = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            values.append(_row(line, header == hashed_columns))
        except ValueError as error:
            raise InputOutputError(f"{path}: line {number} is damaged: {error}") from error
    if not re.fullmatch("[-+.,0-9a-z]*", unfinished):
        raise InputOutputError(f"{path}: line {len(lines) + 1}, the last, is damaged")
    if not values:
        return None
    table = np.array(values)
    return TimeSeries(
        {name: table[:, column] for column, name in enumerate(layout.TIMESERIES_COLUMNS)},
        header == hashed_columns,
    )


def walls_with_shear(series: TimeSeries) -> list[str]:
    """The Re_tau columns of no-slip walls: a free-slip wall has none or a thousandth of the other's."""
    largest = {
        name: float(np.nanmax(np.abs(series[name])))
        for name in (layout.RE_TAU_BOTTOM, layout.RE_TAU_TOP)
        if series.has(name)
    }
    return [name for name, value in largest.items() if value > 1e-3 * max(largest.values())]


def friction_reynolds_series(series: TimeSeries) -> Array | None:
    """Re_tau of the mean wall stress at each row: root mean square over the walls that have shear."""
    walls = [series[name] for name in walls_with_shear(series)]
    return np.sqrt(np.mean(np.square(walls), axis=0)) if walls else None


def re_tau_last_third(series: TimeSeries, values: Array | None = None) -> MeanEstimate | None:
    """Re_tau over the last third of the run, from the time mean of the wall stress."""
    values = friction_reynolds_series(series) if values is None else values
    if values is None:
        return None
    squares = values[series.last_third()] ** 2
    squares = squares[np.isfinite(squares)]
    if len(squares) == 0:
        return None
    estimate = mean_with_interval(squares)
    re_tau = float(np.sqrt(estimate.mean))
    if re_tau == 0:
        return None
    # d(Re_tau) = d(Re_tau^2)/(2 Re_tau)
    return MeanEstimate(re_tau, estimate.half_width / (2 * re_tau))
