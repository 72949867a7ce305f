"""Text files that a run appends to, or replaces when it restarts: the new lines of its time series and its log."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.inputs import open_regular
from sluice_post.timeseries import Header, TimeSeries, read_header, read_rows, series_of

_MARK_BYTES = 256


class Tail:
    """Reads a growing file in parts of whole lines. The file may appear late, be cut, replaced or removed."""

    def __init__(self, path: Path, part_bytes: int = 1 << 22) -> None:
        self._path = path
        self._part_bytes = part_bytes
        self._offset = 0
        self._mark = b""  # what the file has before the offset
        self._part = b""

    def read(self) -> tuple[list[str], bool]:
        """The next whole lines, and whether they are the first ones because the file is not the one read before.

        The same lines again until they are accepted: on network file systems, new data can be zeros for a moment.
        """
        begun_anew = False
        try:
            with open_regular(self._path) as file:
                if not self._continues(file):
                    begun_anew = True
                    self._offset, self._mark = 0, b""
                file.seek(self._offset)
                part = file.read(self._part_bytes)
        except (FileNotFoundError, NotADirectoryError):
            begun_anew = self._offset > 0
            self._offset, self._mark, part = 0, b"", b""
        self._part = part[: part.rfind(b"\n") + 1]
        return self._part.decode(errors="replace").split("\n")[:-1], begun_anew

    def accept(self) -> bool:
        """Moves on behind the lines read; returns whether there may be more of them already."""
        self._offset += len(self._part)
        self._mark = (self._mark + self._part[-_MARK_BYTES:])[-_MARK_BYTES:]
        return 2 * len(self._part) > self._part_bytes

    def _continues(self, file: BinaryIO) -> bool:
        file.seek(self._offset - len(self._mark))
        return file.read(len(self._mark)) == self._mark


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


_START = re.compile(r"Sluice: ")
_CELLS = re.compile(r"\d+ x \d+ x \d+ cells on ")
_RESTART = re.compile(r"Restarted from .*: step (\d+), time (\S+)")
_STEP = re.compile(r"step +\d+ .* ([\d.]+) ns/point")
_UNTIL = re.compile(r".* time\.until will probably be reached at time ([^\s,]+)")


@dataclass
class RunLog:
    """`restarts`: steps and times of all restarts of this run. The rest is of the latest start."""

    restarts: tuple[tuple[int, float], ...] = ()
    restarted: bool = False
    machine: str = ""  # cells, processes, exchange method, precision and device
    ns_per_point: float | None = None
    until: float | None = None  # the time at which time.until will probably be reached

    def add(self, line: str) -> None:
        """Takes in a line."""
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


class LogFollower:
    """Keeps what the log says."""

    def __init__(self, path: Path) -> None:
        self._tail = Tail(path)
        self.log = RunLog()

    def poll(self) -> bool:
        """Reads a part of what is new; returns whether there may be more."""
        try:
            lines, begun_anew = self._tail.read()
        except OSError:
            return False
        if begun_anew:
            self.log = RunLog()
        for line in lines:
            self.log.add(line)
        return self._tail.accept()
