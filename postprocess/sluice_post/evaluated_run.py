"""A run directory, of which what is asked for is read and evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import xarray as xr

from sluice_post import layout
from sluice_post.budgets import EvaluatedBudgets, evaluate_budgets, require_budgets
from sluice_post.companions import require_turbulence
from sluice_post.densities import load_densities
from sluice_post.derived import evaluate_derived
from sluice_post.errors import InputOutputError
from sluice_post.evaluated_densities import EvaluatedDensities, evaluate_densities
from sluice_post.key_figures import Figure, key_figures
from sluice_post.parameters import FlowParameters
from sluice_post.phases import evaluate_phases, load_phases
from sluice_post.profiles import WallProfiles, wall_profiles, with_intervals
from sluice_post.run import check_directory, load_statistics
from sluice_post.scalar_budgets import evaluate_scalar_budgets
from sluice_post.scalar_numbers import EvaluatedScalar, evaluate_scalars
from sluice_post.scalar_spectra import EvaluatedScalarSpectra, evaluate_scalar_spectra
from sluice_post.spectra import EvaluatedSpectra, evaluate_spectra, load_spectra
from sluice_post.statistics import Blocks
from sluice_post.time_averages import read_series_blocks
from sluice_post.timeseries import TimeSeries, read_timeseries


@dataclass(frozen=True)
class Selection:
    """What of a run is used. `begin`, `end`: times, None for all; only blocks that lie entirely between them count.

    `side`: the wall from which profiles are seen, both (symmetric halves averaged), bottom or top; None: both if the
    halves are symmetric, else the bottom wall. `heights`: z+ of spectra and densities, inf for the centre; None: 5, 15,
    30, 100 and the centre.
    """

    begin: float | None = None
    end: float | None = None
    side: str | None = None
    heights: tuple[float, ...] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether no times are chosen."""
        return self.begin is None and self.end is None

    @staticmethod
    def of(begin: float | None, end: float | None, side: str | None, heights: Sequence[float] | None) -> Selection:
        """From the arguments of `sluice_post.open`."""
        return Selection(begin, end, side, None if heights is None else tuple(heights))


class EvaluatedRun:
    """What sluice_post evaluates of a run; each part when it is first asked for, and then kept."""

    def __init__(self, directory: Path, selection: Selection) -> None:
        self.directory, self.selection = check_directory(directory), selection

    @cached_property
    def _statistics(self) -> tuple[FlowParameters, Blocks]:
        return load_statistics(self.directory, self.selection.begin, self.selection.end)

    @property
    def parameters(self) -> FlowParameters:
        """Geometry, viscosity and walls."""
        return self._statistics[0]

    @property
    def blocks(self) -> Blocks:
        """The blocks of statistics."""
        return self._statistics[1]

    @cached_property
    def wall_profiles(self) -> WallProfiles:
        """Profiles in wall units with intervals."""
        return with_intervals(wall_profiles(self.blocks.means(), self.parameters, self.selection.side), self.blocks)

    @cached_property
    def evaluated_budgets(self) -> EvaluatedBudgets:
        """Budgets of k, uu, vv, ww and uw with intervals."""
        require_budgets(self.blocks, self.parameters, self.directory)
        return evaluate_budgets(self.blocks, self.parameters, self.selection.side)

    @cached_property
    def evaluated_scalars(self) -> Mapping[str, EvaluatedScalar]:
        """Profiles and numbers of scalars; names as theta, or c_bottom and c_top where the halves differ."""
        found, _ = evaluate_scalars(self.blocks, self.parameters, self.selection.side)
        return {scalar.name: scalar for scalar in found}

    @cached_property
    def evaluated_scalar_budgets(self) -> Mapping[str, EvaluatedBudgets]:
        """Budgets of scalars with intervals by the names of evaluated_scalars."""
        require_budgets(self.blocks, self.parameters, self.directory)
        scalars = list(self.evaluated_scalars.values())
        found = evaluate_scalar_budgets(self.blocks, self.parameters, scalars)
        return {evaluated.name: evaluated for evaluated in found}

    @cached_property
    def derived(self) -> xr.Dataset:
        """Anisotropy, enstrophy and Kolmogorov's scales with intervals."""
        require_turbulence(self.wall_profiles, self.directory, "derived quantities")
        return evaluate_derived(self.blocks, self.parameters, self.selection.side)

    @cached_property
    def spectra_blocks(self) -> Blocks:
        """The blocks of spectra."""
        return load_spectra(self.directory, self.blocks, self.selection.begin, self.selection.end)

    @cached_property
    def evaluated_spectra(self) -> EvaluatedSpectra:
        """Spectra and correlations with intervals."""
        blocks, chosen = self.spectra_blocks, self.selection
        require_turbulence(self.wall_profiles, self.directory, "spectra of fluctuations")
        return evaluate_spectra(blocks, self.parameters, chosen.heights, chosen.side)

    @cached_property
    def evaluated_scalar_spectra(self) -> Mapping[str, EvaluatedScalarSpectra]:
        """Spectra of scalars with intervals by the names of evaluated_scalars."""
        scalars = list(self.evaluated_scalars.values())
        found = evaluate_scalar_spectra(self.evaluated_spectra, self.parameters, scalars)
        return {evaluated.name: evaluated for evaluated in found}

    @cached_property
    def evaluated_densities(self) -> EvaluatedDensities:
        """Densities and quadrants with intervals."""
        chosen = self.selection
        loaded = load_densities(self.directory, self.blocks, chosen.begin, chosen.end)
        require_turbulence(self.wall_profiles, self.directory, "densities of fluctuations")
        return evaluate_densities(loaded, self.parameters, chosen.heights, chosen.side)

    @cached_property
    def phase_blocks(self) -> tuple[float, Blocks]:
        """The period, and the blocks of averages by phase."""
        return load_phases(self.directory, self.selection.begin, self.selection.end)

    @cached_property
    def evaluated_phases(self) -> xr.Dataset:
        """Averages by phase with intervals."""
        return evaluate_phases(*self.phase_blocks)

    @cached_property
    def series_blocks(self) -> Blocks:
        """The time series between the selected times, by default its last third, as blocks."""
        return read_series_blocks(self.directory, self.selection.begin, self.selection.end)

    @cached_property
    def table(self) -> list[Figure]:
        """The key figures as rows."""
        return key_figures(self.blocks, self.parameters, self.selection.side)

    @cached_property
    def series(self) -> TimeSeries:
        """The whole time series, whatever times are selected."""
        path = self.directory / layout.TIMESERIES_FILE
        found = read_timeseries(path)
        if found is None:
            raise InputOutputError(f"{path}: not there or empty")
        return found
