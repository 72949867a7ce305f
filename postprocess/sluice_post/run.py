"""A run directory as a whole: what it holds, and what it lacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import xarray as xr

from sluice_post import layout
from sluice_post.budget_terms import NOT_AT_SUCH_WALLS, NOT_TAKEN
from sluice_post.case_text import title_of, value_at
from sluice_post.densities import DensityBlocks, load_densities
from sluice_post.ensemble import is_ensemble, read_ensemble
from sluice_post.errors import InputOutputError, NoBlocksError, UsageError
from sluice_post.inputs import read_text
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles, wall_profiles
from sluice_post.slices import Plane, Slice, latest_planes, latest_streak_slice
from sluice_post.spectra import load_spectra
from sluice_post.statistics import Blocks, read_statistics, sampled_flow
from sluice_post.timeseries import TimeSeries, read_timeseries
from sluice_post.uncertainty import COSINES

Results = TypeVar("Results")


@dataclass
class Run:
    """Everything read from a run directory. `missing` says in sentences what is not there."""

    directory: Path
    parameters: FlowParameters | None = None
    blocks: Blocks | None = None
    spectra: Blocks | None = None
    densities: DensityBlocks | None = None
    profiles: WallProfiles | None = None
    series: TimeSeries | None = None
    streaks: Slice | None = None
    planes: list[Plane] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    # Of an ensemble: averages of the last third of the time series, and a table of the members.
    averages: xr.Dataset | None = None
    members_text: str = ""

    @property
    def failure(self) -> str:
        """Why the run failed, in the words of run.json; empty if it did not."""
        step = self.provenance.get("step")
        if not isinstance(step, int) or not (self.directory / layout.FAILED_FIELDS.format(step)).is_file():
            return ""
        return str(self.provenance.get("why_stopped", "")) or "for a reason that run.json does not have"

    @property
    def name(self) -> str:
        """The title of the case, else the name of the directory."""
        return title_of(self.case_text) or self.directory.resolve().name

    @property
    def has_no_walls(self) -> bool:
        """Whether the flow is in a box that is periodic along z, too."""
        return bool(value_at(self.case_text, *layout.SET_FLOW_TYPE.split(".")) == layout.PERIODIC)

    @property
    def case_text(self) -> str:
        """The resolved case, from the statistics file or else from resolved.yaml; may be empty."""
        if self.parameters and self.parameters.resolved_case:
            return self.parameters.resolved_case
        path = self.directory / layout.CASE_FILE
        try:
            return read_text(path, errors="replace")
        except OSError:
            return ""


def check_directory(directory: Path) -> Path:
    """The directory, if it is one and looks like that of a run."""
    if not directory.is_dir():
        raise InputOutputError(f"{directory}: no such directory; give the output directory of a run")
    if is_ensemble(directory):
        members = ", ".join(str(member) for member in read_ensemble(directory).members)
        raise UsageError(f"{directory}: is an ensemble of runs, of which this takes only one: {members}")
    return directory


def load_statistics(
    directory: Path, begin: float | None = None, end: float | None = None
) -> tuple[FlowParameters, Blocks]:
    """Flow and blocks between two times; an error if there are no blocks at all."""
    path = check_directory(directory) / layout.STATISTICS_FILE
    parameters, blocks = read_statistics(path)
    if len(blocks) == 0:
        raise InputOutputError(f"{path}: holds no closed block yet; run on past output.statistics.start plus one block")
    blocks = blocks.between(begin, end)
    return sampled_flow(path, parameters, blocks), blocks


def read_provenance(path: Path, missing: list[str]) -> dict[str, Any]:
    """The content of run.json; empty, with a sentence in `missing`, if it cannot be read."""
    problem = "is not what sluice run writes"
    try:
        content = json.loads(read_text(path))
        if isinstance(content, dict):
            return content
    except FileNotFoundError:
        problem = "not there, so no performance figures"
    except (OSError, ValueError, RecursionError) as error:
        problem = f"cannot be read ({error})"
    missing.append(f"{layout.RUN_FILE}: {problem}.")
    return {}


def _read_profiles(run: Run, begin: float | None, end: float | None, side: str | None) -> None:
    path, missing = run.directory / layout.STATISTICS_FILE, run.missing.append
    if run.has_no_walls:
        missing("The box has no walls, so there are no wall units and no profiles, spectra and densities in them.")
        return
    if not path.is_file():
        missing(f"{path.name}: not there, so no profiles and no wall units from them.")
        return
    run.parameters, blocks = read_statistics(path)
    if len(blocks) == 0:
        missing(f"{path.name}: no block is closed yet, so no profiles.")
        return
    blocks = blocks.between(begin, end)
    run.parameters = sampled_flow(path, run.parameters, blocks)
    if not (run.parameters.no_slip_bottom or run.parameters.no_slip_top):
        missing(f"{path.name}: both walls are free-slip, so there are no wall units and no profiles.")
        return
    if not blocks.has_budgets:
        missing(f"{path.name}: {NOT_TAKEN}; so no budgets.")
    elif run.parameters.controlled:
        missing(f"{path.name}: {NOT_AT_SUCH_WALLS}.")
    if blocks.has_sampling_error and len(blocks) == 1:
        missing("Only one block of statistics: no confidence intervals.")
    elif blocks.has_sampling_error and len(blocks) <= COSINES:
        missing(f"Only {len(blocks)} blocks of statistics: the intervals are rough.")
    try:
        run.profiles, run.blocks = wall_profiles(blocks.means(), run.parameters, side), blocks
    except InputOutputError as error:
        missing(f"{path.name}: {error}.")


def _read_companion(
    run: Run, file: str, load: Callable[..., Results], times: tuple[float | None, float | None], what: str
) -> Results | None:
    """The blocks of a file beside statistics.h5; a sentence in `missing` if there are none. `what`: is made of them."""
    if run.has_no_walls:
        return None
    if not (run.directory / file).is_file():
        run.missing.append(f"{file}: not there (output.{Path(file).stem}), so no {what}.")
    elif run.blocks is None:
        run.missing.append(f"{file}: not used, because it needs the profiles of the mean flow.")
    else:
        try:
            return load(run.directory, run.blocks, *times)
        except (NoBlocksError, UsageError) as error:
            run.missing.append(f"{error}; so no {what}.")
    return None


def load_run(directory: Path, begin: float | None = None, end: float | None = None, side: str | None = None) -> Run:
    """Reads whatever a run directory holds; only unreadable files are errors. `side`: of the profiles."""
    run = Run(check_directory(directory))
    _read_profiles(run, begin, end, side)
    times = (begin, end)
    run.spectra = _read_companion(run, layout.SPECTRA_FILE, load_spectra, times, "spectra and two-point correlations")
    run.densities = _read_companion(run, layout.DENSITIES_FILE, load_densities, times, "densities and quadrants")
    run.series = read_timeseries(directory / layout.TIMESERIES_FILE)
    if run.series is None:
        run.missing.append(f"{layout.TIMESERIES_FILE}: not there or empty, so no history of the run.")
    elif not run.series.hashed:
        run.missing.append(
            f"{layout.TIMESERIES_FILE}: an earlier build wrote it, without hashes to verify its numbers."
        )
    run.provenance = read_provenance(directory / layout.RUN_FILE, run.missing)
    plus = run.profiles.u_tau / run.profiles.viscosity if run.profiles else None
    height = run.parameters.size[2] if run.parameters else 0.0
    run.streaks, problems = latest_streak_slice(directory, height, plus)
    run.missing.extend(f"{problem}." for problem in problems)
    if run.streaks is None and not run.has_no_walls:
        run.missing.append("No slice of u parallel to the walls (output.slices), so no picture of the streaks.")
    run.planes, problems = latest_planes(directory)
    run.missing.extend(f"{problem}." for problem in problems if f"{problem}." not in run.missing)
    if run.profiles is None and run.series is None and run.streaks is None:
        raise InputOutputError(
            f"{directory}: holds none of {layout.STATISTICS_FILE}, {layout.TIMESERIES_FILE} and slices; "
            "is it the output directory of a run?"
        )
    return run
