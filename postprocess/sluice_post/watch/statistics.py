"""Profiles of a running case, read anew when a block is complete."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sluice_post import literature
from sluice_post.bands import Bands, bands_of
from sluice_post.blocks_file import journal_path
from sluice_post.errors import PostError
from sluice_post.key_figures import figures_of
from sluice_post.parameters import FlowParameters, imposed_reynolds
from sluice_post.profiles import WallProfiles, wall_profiles
from sluice_post.statistics import read_statistics


@dataclass(frozen=True)
class LiveProfiles:
    """Profiles of all blocks so far, their 95 % intervals, and the nearest published simulation."""

    profiles: WallProfiles
    bands: Bands
    parameters: FlowParameters
    published: literature.Published | None
    blocks: int
    begin: float
    end: float


def _read(path: Path) -> LiveProfiles | None:
    parameters, blocks = read_statistics(path)
    if len(blocks) == 0:
        return None
    # Of the flow sampled last: a run can go on with other parameters.
    blocks = blocks.pick((blocks.parameter_set == blocks.parameter_set[-1]).nonzero()[0])
    sampled = blocks.sampled_parameters()
    parameters = parameters.with_sampled(sampled)
    profiles = wall_profiles(blocks.means(), parameters)
    published = None
    if not profiles.laminar:
        key = imposed_reynolds(parameters, sampled)
        value = figures_of(blocks.means(), parameters).get(key)
        if value is not None:
            found = literature.nearest(parameters.flow_type, value, key)
            published = found if found and literature.comparable(found, value, key) else None
    return LiveProfiles(
        profiles, bands_of(blocks, parameters), parameters, published, len(blocks),
        float(blocks.time_begin[0]), float(blocks.time_end[-1]),
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
