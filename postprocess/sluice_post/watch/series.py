"""The time series of a running case, of which each row is read once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.timeseries import Header, TimeSeries, read_header, read_rows, series_of
from sluice_post.watch.tail import Tail


class SeriesFollower:
    """Keeps the rows of timeseries.csv; `generation` grows when rows that were read are no longer valid."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tail = Tail(path)
        self._clear()
        self.generation = 0
        self.problem = ""

    def _clear(self) -> None:
        self._table = np.empty((1024, len(layout.TIMESERIES_COLUMNS)))
        self._count = 0
        self._header: Header | None = None  # None before the first line

    @property
    def series(self) -> TimeSeries | None:
        """All rows read so far; None if there are none. Later rows leave it as it is."""
        if self._header is None or self._count == 0:
            return None
        return series_of(self._table[: self._count], self._header)

    def poll(self) -> bool:
        """Reads a part of what is new; returns whether there may be more."""
        self.problem = ""
        try:
            lines, begun_anew = self._tail.read()
            if begun_anew:
                self._clear()
                self.generation += 1
            self._add(lines)
        except (InputOutputError, OSError) as error:
            self.problem = str(error)
            return False
        return self._tail.accept()

    def _add(self, lines: list[str]) -> None:
        if not lines:
            return
        header, first = self._header, self._count + 2
        if header is None:
            header, lines = read_header(lines[0], self._path), lines[1:]
            self._table = np.empty((1024, len(header.columns)))
        rows = read_rows(lines, header, self._path, first)
        self._header = header
        count = self._count + len(rows)
        if count > len(self._table):
            # A new table: the old one may be in use.
            larger = np.empty((2 * count, self._table.shape[1]))
            larger[: self._count] = self._table[: self._count]
            self._table = larger
        self._table[self._count : count] = rows
        self._count = count
