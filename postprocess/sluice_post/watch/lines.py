"""Text files that a run appends to, or replaces when it restarts: the new lines of its time series and its log."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sluice_post.errors import InputOutputError
from sluice_post.inputs import open_regular
from sluice_post.timeseries import Header, TimeSeries, read_header, read_rows, series_of

_MARK_BYTES = 256


class Tail:
    """Reads a growing file in parts of whole lines. The file may appear late, be cut, replaced or removed."""

    def __init__(self, path: Path, part_bytes: int = 1 << 22) -> None:
        self._path, self._part_bytes = path, part_bytes
        self._offset = 0
        self._mark = b""  # what the file has before the offset

    def poll(self, take: Callable[[list[str], bool], None]) -> bool:
        """Hands the next whole lines to `take`; returns whether there may be more of them already.

        `take` also gets whether they are the first ones because the file is not the one read before. If it fails, it
        gets the same lines again: on network file systems, new data can be zeros for a moment.
        """
        begun_anew = False
        try:
            with open_regular(self._path) as file:
                file.seek(self._offset - len(self._mark))
                if file.read(len(self._mark)) != self._mark:
                    begun_anew = True
                    self._offset, self._mark = 0, b""
                file.seek(self._offset)
                part = file.read(self._part_bytes)
        except (FileNotFoundError, NotADirectoryError):
            begun_anew = self._offset > 0
            self._offset, self._mark, part = 0, b"", b""
        part = part[: part.rfind(b"\n") + 1]
        take(part.decode(errors="replace").split("\n")[:-1], begun_anew)
        self._offset += len(part)
        self._mark = (self._mark + part[-_MARK_BYTES:])[-_MARK_BYTES:]
        return 2 * len(part) > self._part_bytes


class SeriesFollower:
    """Keeps the rows of timeseries.csv; `generation` grows when rows that were read are no longer valid."""

    def __init__(self, path: Path) -> None:
        self._path, self._tail = path, Tail(path)
        self._header: Header | None = None  # None before the first line
        self._table = np.empty((0, 0))
        self.generation = 0
        self.problem = ""

    @property
    def series(self) -> TimeSeries | None:
        """All rows read so far; None if there are none. Later rows leave it as it is."""
        if self._header is None or len(self._table) == 0:
            return None
        return series_of(self._table, self._header)

    def poll(self) -> bool:
        """Reads a part of what is new; returns whether there may be more."""
        self.problem = ""
        try:
            return self._tail.poll(self._take)
        except (InputOutputError, OSError) as error:
            self.problem = str(error)
            return False

    def _take(self, lines: list[str], begun_anew: bool) -> None:
        if begun_anew:
            self._header = None
            self.generation += 1
        if not lines:
            return
        header, table = self._header, self._table
        if header is None:
            header, lines = read_header(lines[0], self._path), lines[1:]
            table = np.empty((0, len(header.columns)))
        rows = read_rows(lines, header, self._path, len(table) + 2)
        self._header, self._table = header, np.concatenate([table, rows])


_START = re.compile(r"Sluice: ")
_CELLS = re.compile(r"\d+ x \d+ x \d+ cells on ")
_RESTART = re.compile(r"Restarted from .*: step (\d+), time (\S+)")
_STEP = re.compile(r"step +\d+ .* ([\d.]+) ns/point")
_UNTIL = re.compile(r".* time\.until will probably be reached at time ([^\s,]+)")


class LogFollower:
    """Keeps what the log says. `restarts`: steps and times of all restarts of this run; the rest: of the latest start.

    `machine`: cells, processes, exchange method, precision and device. `until`: the time at which time.until will
    probably be reached.
    """

    def __init__(self, path: Path) -> None:
        self._tail = Tail(path)
        self._clear()

    def _clear(self) -> None:
        self.restarts: tuple[tuple[int, float], ...] = ()
        self.machine, self.restarted = "", False
        self.ns_per_point: float | None = None
        self.until: float | None = None

    def poll(self) -> bool:
        """Reads a part of what is new; returns whether there may be more."""
        try:
            return self._tail.poll(self._take)
        except OSError:
            return False

    def _take(self, lines: list[str], begun_anew: bool) -> None:
        if begun_anew:
            self._clear()
        for line in lines:
            if _START.match(line):
                self.restarted, self.ns_per_point, self.until = False, None, None
            elif _CELLS.match(line):
                self.machine = line
            elif found := _RESTART.match(line):
                self.restarted = True
                self.restarts += ((int(found[1]), float(found[2])),)
            elif found := _STEP.match(line):
                self.ns_per_point = float(found[1])
                if not self.restarted:  # a fresh start: the log of a run that it overwrites is kept
                    self.restarts = ()
            elif found := _UNTIL.match(line):
                self.until = float(found[1])
