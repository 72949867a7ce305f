"""timeseries.csv, and averages over the last part of a run."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.uncertainty import MeanEstimate, batch_mean

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TimeSeries:
    """Columns of the time series by name; all have the same length, and time does not decrease."""

    columns: dict[str, Array]

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


def _number(text: str) -> float:
    return float(text) if text.strip() else float("nan")


def read_timeseries(path: Path) -> TimeSeries | None:
    """The time series of a run; None if there is none or it has no rows yet.

    A last line cut short (the run is being written, or was killed) is left out.
    """
    if not path.is_file():
        return None
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise InputOutputError(f"{path}: cannot be read ({error})") from error
    if not rows:
        return None
    header = [name.strip() for name in rows[0]]
    lacking = [name for name in layout.TIMESERIES_COLUMNS if name not in header]
    if lacking:
        raise InputOutputError(f"{path}: line 1 names no column '{lacking[0]}'")
    values = []
    for number, row in enumerate(rows[1:], start=2):
        try:
            if len(row) != len(header):
                raise ValueError(f"{len(row)} values instead of {len(header)}")
            values.append([_number(cell) for cell in row])
        except ValueError as error:
            if number == len(rows):
                break
            raise InputOutputError(f"{path}: row {number}: {error}") from error
    if not values:
        return None
    table = np.array(values, dtype=float)
    return TimeSeries({name: table[:, column] for column, name in enumerate(header)})


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
    estimate = batch_mean(squares)
    re_tau = float(np.sqrt(estimate.mean))
    if re_tau == 0:
        return None
    # d(Re_tau) = d(Re_tau^2)/(2 Re_tau)
    return MeanEstimate(
        re_tau,
        estimate.standard_error / (2 * re_tau),
        estimate.half_width / (2 * re_tau),
        estimate.batches,
        estimate.effective_samples,
    )
