"""Profiles of a running case, read anew when a block is complete."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sluice_post import literature
from sluice_post.blocks_file import journal_path
from sluice_post.errors import PostError
from sluice_post.flow import flow_of, held_reynolds
from sluice_post.flow_words import unknown_flow_note
from sluice_post.key_figures import figures_of
from sluice_post.profiles import WallProfiles, wall_profiles, with_intervals
from sluice_post.statistics import read_statistics, sampled_flow


@dataclass(frozen=True)
class LiveProfiles:
    """Profiles of all blocks so far, their 95 % intervals, and the published simulation of this flow, if there is one.

    `no_published`: why there is none. `note`: what to know of files of published data that are shown instead.
    """

    profiles: WallProfiles
    published: literature.Published | None
    blocks: int
    begin: float
    end: float
    no_published: str
    note: str


def _read(path: Path) -> LiveProfiles | None:
    parameters, blocks = read_statistics(path)
    if len(blocks) == 0:
        return None
    # Of the flow sampled last: a run can go on with other parameters.
    blocks = blocks.pick((blocks.parameter_set == blocks.parameter_set[-1]).nonzero()[0])
    parameters = sampled_flow(path, parameters, blocks)
    profiles, flow = wall_profiles(blocks.means(), parameters), flow_of(parameters)
    found = literature.Found(None)
    if not profiles.laminar:
        measured = figures_of(blocks.means(), parameters)
        found = literature.find(flow, held_reynolds(parameters, measured), measured["re_tau"])
    return LiveProfiles(
        with_intervals(profiles, blocks), found.published, len(blocks),
        float(blocks.time_begin[0]), float(blocks.time_end[-1]), found.reason, unknown_flow_note(flow),
    )  # fmt: skip


def _version_of(path: Path) -> tuple[int, ...]:
    """Changes with the file and its journal."""
    version: tuple[int, ...] = ()
    for each in (path, journal_path(path)):
        if each == path or each.exists():
            status = each.stat()
            version += (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return version


class ProfileFollower:
    """Keeps the profiles of statistics.h5."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version: tuple[int, ...] = ()
        self.live: LiveProfiles | None = None
        self.problem = ""

    def poll(self) -> None:
        """Reads the file if it has changed."""
        try:
            version = _version_of(self._path)
        except OSError:
            self._version, self.live, self.problem = (), None, ""
            return
        if version == self._version:
            return
        try:
            self.live, self.problem = _read(self._path), ""
        except PostError as error:
            self.live, self.problem = None, str(error)
        self._version = version
