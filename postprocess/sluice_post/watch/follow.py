"""All that a page shows of the run in a directory, read part by part as it changes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from sluice_post import layout
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.timeseries import TimeSeries
from sluice_post.watch.case import Case, read_case
from sluice_post.watch.lines import LogFollower, SeriesFollower
from sluice_post.watch.pictures import Picture, PictureFollower
from sluice_post.watch.progress import Pace, Progress, find_progress
from sluice_post.watch.statistics import LiveProfiles, ProfileFollower
from sluice_post.watch.status import Status, find_status, read_record

_SILENT = 180.0  # seconds without a new row or line, at least, before a run whose lock is not seen may have ended
_RUN_FILES = (
    *(layout.CASE_FILE, layout.RUN_FILE, layout.LOG_FILE, layout.LOCK_FILE, layout.TIMESERIES_FILE),
    *(layout.STATISTICS_FILE, layout.SLICE_FOLDER),
)


@dataclass(frozen=True)
class Snapshot:
    """The run at one time; never changed afterwards. `generation`: see SeriesFollower."""

    directory: Path
    status: Status
    case: Case | None
    machine: str
    series: TimeSeries | None
    generation: int
    restarts: tuple[tuple[int, float], ...]
    progress: Progress | None
    last_row: float | None  # time.time() of the last row
    live: LiveProfiles | None
    pictures: dict[str, Picture]
    problems: tuple[str, ...]
    reading: bool  # whether there are rows that have not been read yet

    @property
    def name(self) -> str:
        """The title of the case, else the name of the directory."""
        return (self.case.title if self.case else "") or self.directory.resolve().name


def require_run_directory(directory: Path) -> None:
    """An error if there is something other than a run, which will not become one by waiting."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory; give the output directory of a run")
    names = [path.name for path in directory.iterdir()]
    if names and not any(name in names for name in _RUN_FILES):
        raise InputOutputError(
            f"{directory}: holds files, but none of a run ({', '.join(_RUN_FILES[:3])}, ...); "
            "give the output directory of a run, which may still be empty or missing"
        )


class RunFollower:
    """Reads the directory of a run again and again; `snapshot` is the newest. `brief`: no profiles and pictures."""

    def __init__(self, directory: Path, *, brief: bool = False) -> None:
        self._directory, self._brief = directory, brief
        self._series = SeriesFollower(directory / layout.TIMESERIES_FILE)
        self._log = LogFollower(directory / layout.LOG_FILE)
        self._profiles = ProfileFollower(directory / layout.STATISTICS_FILE)
        self._pictures = PictureFollower(directory)
        self._pace = Pace()
        self.snapshot = self._look(False)

    def poll(self) -> bool:
        """Reads what is new; returns whether there is more of it already."""
        try:
            more = self._log.poll() | self._series.poll()
            if not self._brief:
                self._profiles.poll()
            self.snapshot = self._look(more)
        except OSError as error:  # a file system that does not answer for a while: the page keeps what it has
            self.snapshot = replace(self.snapshot, problems=(str(error),))
            return False
        return more

    def _is_growing(self, case: Case | None) -> bool:
        """Whether rows or lines were written lately, by the times of the files: known from the first look on."""
        files = (layout.TIMESERIES_FILE, layout.LOG_FILE)
        changed = max(_changed(self._directory / name) or 0.0 for name in files)
        limit, series, ns_per_point = _SILENT, self._series.series, self._log.ns_per_point
        if series is not None and len(series[layout.STEP]) > 1 and case is not None and ns_per_point is not None:
            steps_of_a_row = float(series[layout.STEP][-1] - series[layout.STEP][-2])
            limit = max(limit, 3 * steps_of_a_row * case.points * ns_per_point / 1e9)
        return time.time() - changed < limit

    def _look(self, reading: bool) -> Snapshot:
        case = read_case(self._directory / layout.CASE_FILE)
        series, log, live = self._series.series, self._log, self._profiles.live
        now, last_step = time.monotonic(), None if series is None else int(series[layout.STEP][-1])
        if not reading:
            self._pace.see(now, last_step)
        status = find_status(
            self._directory, read_record(self._directory), last_step, self._is_growing(case), log.restarted
        )
        profiles = live.profiles if live is not None else None
        if not self._brief:
            self._pictures.poll(
                case.height if case is not None else 0.0,
                None if profiles is None else profiles.u_tau / profiles.viscosity,
                None if profiles is None else profiles.u_tau,
            )
        no_walls = case is not None and case.has_no_walls  # then profiles in wall units are not expected
        of_profiles = "" if no_walls else self._profiles.problem
        problems = (self._series.problem, of_profiles, *self._pictures.problems.values())
        return Snapshot(
            self._directory,
            status,
            case,
            log.machine,
            series,
            self._series.generation,
            log.restarts,
            None if series is None else find_progress(series, case, log, self._pace.seconds_per_step),
            _changed(self._directory / layout.TIMESERIES_FILE),
            live,
            dict(self._pictures.pictures),
            tuple(problem for problem in problems if problem),
            reading,
        )


def _changed(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None
