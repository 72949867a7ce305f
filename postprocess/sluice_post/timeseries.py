"""timeseries.csv, and averages over the last part of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.hashes import byte_hashes
from sluice_post.inputs import read_text
from sluice_post.uncertainty import MeanEstimate, mean_with_interval

_COLUMNS = ",".join(layout.TIMESERIES_COLUMNS)
_HASHED_COLUMNS = f"{_COLUMNS},{layout.ROW_HASH}"


@dataclass(frozen=True)
class Header:
    """The first line of a time series: the names of the columns without the hash, and whether there are hashes."""

    columns: tuple[str, ...]
    hashed: bool


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


def _row(line: str, row_hash: int | None, columns: int) -> list[float]:
    """The numbers of a row without its hash, which must be `row_hash` if the file has hashes."""
    numbers, _, stored = (line, "", "") if row_hash is None else line.rpartition(",")
    if row_hash is not None and stored != str(row_hash):
        raise ValueError("it does not have the hash stored with it")
    values = [float(text) for text in numbers.split(",")]
    if len(values) != columns:
        raise ValueError(f"{len(values)} values instead of {columns}")
    return values


def read_header(line: str, path: Path) -> Header:
    """The columns that this first line of a time series names; an error if it is no such line.

    Cases add columns between those of all cases and the hash.
    """
    names = tuple(line.split(","))
    if line == _COLUMNS:
        return Header(names, False)
    columns, common = names[:-1], len(layout.TIMESERIES_COLUMNS)
    if (
        names[-1] != layout.ROW_HASH
        or columns[:common] != layout.TIMESERIES_COLUMNS
        or len(set(names)) < len(names)
        or not all(re.fullmatch("[-A-Za-z0-9_.]+", name) for name in columns)
    ):
        raise InputOutputError(
            f"{path}: line 1 is not '{_HASHED_COLUMNS}', or this with further columns before the last; "
            "the file is damaged, or not a time series"
        )
    return Header(columns, True)


def read_rows(lines: Sequence[str], header: Header, path: Path, first: int = 2) -> Array:
    """The numbers of whole lines, (line, column); `first` is the number of the first of them in the file."""
    hashes: list[int] | list[None] = [None] * len(lines)
    if header.hashed:
        hashes = (byte_hashes([line.rpartition(",")[0].encode() for line in lines]) >> np.uint64(11)).tolist()
    values = []
    for number, (line, row_hash) in enumerate(zip(lines, hashes, strict=True), start=first):
        try:
            values.append(_row(line, row_hash, len(header.columns)))
        except ValueError as error:
            raise InputOutputError(f"{path}: line {number} is damaged: {error}") from error
    return np.array(values).reshape(len(values), len(header.columns))


def series_of(table: Array, header: Header) -> TimeSeries:
    """The time series whose rows these are."""
    return TimeSeries({name: table[:, column] for column, name in enumerate(header.columns)}, header.hashed)


def read_timeseries(path: Path) -> TimeSeries | None:
    """The time series of a run; None if there is none or it has no rows yet.

    A last line cut short (the run is being written, or was killed) is left out.
    """
    if not path.exists():
        return None
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputOutputError(f"{path}: cannot be read ({error})") from error
    *lines, unfinished = text.split("\n")
    if not lines and (_COLUMNS.startswith(unfinished) or unfinished.startswith(f"{_COLUMNS},")):
        return None
    header = read_header(lines[0] if lines else unfinished, path)
    table = read_rows(lines[1:], header, path)
    if not re.fullmatch("[-+.,0-9a-z]*", unfinished):
        raise InputOutputError(f"{path}: line {len(lines) + 1}, the last, is damaged")
    return series_of(table, header) if len(table) > 0 else None


def rows_between(series: TimeSeries, begin: float | None, end: float | None, path: Path) -> slice:
    """The rows from begin to end; by default the last third."""
    if begin is None and end is None:
        rows = series.last_third()
        first, last = rows.start, len(series)
    else:
        first = 0 if begin is None else int(np.searchsorted(series.time, begin))
        last = len(series) if end is None else int(np.searchsorted(series.time, end, side="right"))
    if last - first < 2:
        raise UsageError(f"{path}: has {max(last - first, 0)} rows between these times; at least 2 are needed")
    return slice(first, last)


def energy_lines(series: TimeSeries | None) -> list[str]:
    """The kinetic energy at the first and the last row, for the summary of a flow without walls."""
    if series is None:
        return []
    energy, time = series[layout.KINETIC_ENERGY], series.time
    return [f"kinetic energy: {energy[0]:.5g} at t = {time[0]:.5g}, {energy[-1]:.5g} at t = {time[-1]:.5g}"]


def walls_with_shear(series: TimeSeries) -> list[str]:
    """The Re_tau columns of no-slip walls: a free-slip wall has none or a thousandth of the other's."""
    largest = {
        name: float(np.nanmax(np.abs(series[name])))
        for name in (layout.RE_TAU_BOTTOM, layout.RE_TAU_TOP)
        if series.has(name)
    }
    return [name for name, value in largest.items() if value > 1e-3 * max(largest.values())]


def friction_reynolds_series(series: TimeSeries, column: str | None = None) -> Array | None:
    """Re_tau at each row: of the wall of a column, else of the mean wall stress of the walls that have shear."""
    names = walls_with_shear(series)
    walls = [series[name] for name in names if column in (None, name)]
    return np.sqrt(np.mean(np.square(walls), axis=0)) if walls else None


def re_tau_last_third(series: TimeSeries, column: str | None = None) -> MeanEstimate | None:
    """Re_tau over the last third of the run, from the time mean of the wall stress; `column`: of one wall."""
    values = friction_reynolds_series(series, column)
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
