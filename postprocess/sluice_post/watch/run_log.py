"""What the log of a running case says: its starts, its speed, and when it will probably end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sluice_post.watch.tail import Tail

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
