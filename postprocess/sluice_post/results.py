"""The numbers of a run that its report shows, and their summary for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sluice_post import literature
from sluice_post.bands import Bands, bands_of
from sluice_post.budgets import EvaluatedBudgets, evaluate_budgets
from sluice_post.density_tables import wall_shear_lines
from sluice_post.derived import Derived, evaluate_derived
from sluice_post.errors import UsageError
from sluice_post.evaluated_densities import EvaluatedDensities, evaluate_densities
from sluice_post.key_figures import Figure, Resolution, key_figures, resolution
from sluice_post.parameters import imposed_reynolds
from sluice_post.phases import PhaseAverages, evaluate_phases, has_phases, load_phases
from sluice_post.profiles import wall_profiles
from sluice_post.run import Run
from sluice_post.scalar_budgets import EvaluatedScalarBudgets, evaluate_scalar_budgets
from sluice_post.scalar_numbers import EvaluatedScalar, evaluate_scalars, summary_lines
from sluice_post.scalar_spectra import EvaluatedScalarSpectra, evaluate_scalar_spectra
from sluice_post.spectra import EvaluatedSpectra, evaluate_spectra
from sluice_post.spectra_tables import conclusions
from sluice_post.statistics import Means
from sluice_post.symmetry import Symmetry
from sluice_post.timeseries import re_tau_last_third
from sluice_post.uncertainty import MeanEstimate, half_width95

Array = NDArray[np.float64]


@dataclass
class Results:
    """What the report shows, computed once."""

    run: Run
    re_tau: MeanEstimate | None = None
    table: list[Figure] = field(default_factory=list)
    bands: Bands = field(default_factory=Bands)
    resolution: Resolution | None = None
    residuals: list[Figure] = field(default_factory=list)
    published: literature.Published | None = None
    budgets: EvaluatedBudgets | None = None
    derived: Derived | None = None
    spectra: EvaluatedSpectra | None = None
    densities: EvaluatedDensities | None = None
    scalars: list[EvaluatedScalar] = field(default_factory=list)
    scalar_budgets: list[EvaluatedScalarBudgets] = field(default_factory=list)
    scalar_spectra: list[EvaluatedScalarSpectra] = field(default_factory=list)
    phases: PhaseAverages | None = None

    @property
    def known_re_tau(self) -> float | None:
        """Re_tau of the statistics, else that of the time series, else None."""
        if self.run.profiles is not None:
            return self.run.profiles.re_tau
        return self.re_tau.mean if self.re_tau is not None else None

    @property
    def reynolds(self) -> tuple[str, float] | None:
        """The Reynolds number that the case sets, its key and value; Re_tau if that is not known."""
        run = self.run
        if run.parameters is not None and run.blocks is not None:
            key = imposed_reynolds(run.parameters, run.blocks.sampled_parameters())
            if (figure := self.figure(key)) is not None:
                return key, figure.value
        return None if self.known_re_tau is None else ("re_tau", self.known_re_tau)

    @property
    def same_flow(self) -> bool:
        """Whether the published simulation has the Reynolds number that the case sets, so that figures compare."""
        if self.published is None or self.reynolds is None:
            return False
        key, value = self.reynolds
        return literature.comparable(self.published, value, key)

    def figure(self, key: str) -> Figure | None:
        """A key figure by name."""
        return next((figure for figure in self.table if figure.key == key), None)


def _residuals(run: Run) -> list[Figure]:
    """Total-stress residual of the averaged halves, and of each wall in its own u_tau, by side."""
    if run.blocks is None or run.profiles is None or run.parameters is None:
        return []
    parameters, sides = run.parameters, [run.profiles.side]
    if run.profiles.symmetry is not Symmetry.NONE:
        sides += ["bottom", "top"]

    def residuals(means: Means) -> Array:
        return np.array([wall_profiles(means, parameters, side).residual for side in sides])

    values, widths = residuals(run.blocks.means()), half_width95(residuals, run.blocks)
    return [Figure(side, "", *pair) for side, *pair in zip(sides, values, widths, strict=True)]


def evaluate(run: Run, heights: Sequence[float] | None = None) -> Results:
    """All numbers of the report. `heights`: z+ of the spectra."""
    results = Results(run, residuals=_residuals(run))
    if run.series is not None:
        results.re_tau = re_tau_last_third(run.series)
    if run.blocks is not None and run.parameters and run.profiles:
        results.table = key_figures(run.blocks, run.parameters)
        results.bands = bands_of(run.blocks, run.parameters)
        results.resolution = resolution(run.blocks, run.parameters, run.profiles)
        if not run.profiles.laminar:
            results.derived = evaluate_derived(run.blocks, run.parameters)
        if run.blocks.has_budgets and not run.parameters.controlled and not run.profiles.laminar:
            results.budgets = evaluate_budgets(run.blocks, run.parameters)
        if run.spectra is not None and not run.profiles.laminar:
            results.spectra = evaluate_spectra(run.spectra, run.parameters, heights)
        results.scalars, problems = evaluate_scalars(run.blocks, run.parameters)
        run.missing.extend(f"{problem}." for problem in problems)
        results.scalar_budgets = evaluate_scalar_budgets(run.blocks, run.parameters, results.scalars)
        if results.spectra is not None:
            of_flow = results.spectra
            results.scalar_spectra = evaluate_scalar_spectra(of_flow, run.parameters, results.scalars)
        if has_phases(run.directory):
            results.phases = _phases(run)
        if run.densities is not None and not run.profiles.laminar:
            results.densities = evaluate_densities(run.densities, run.parameters)
    comparable = run.parameters is not None and not run.parameters.controlled
    if run.parameters and comparable and results.reynolds and not (run.profiles and run.profiles.laminar):
        key, value = results.reynolds
        results.published = literature.nearest(run.parameters.flow_type, value, key)
    return results


def _phases(run: Run) -> PhaseAverages | None:
    assert run.blocks is not None
    try:
        begin, end = float(run.blocks.time_begin[0]), float(run.blocks.time_end[-1])
        return evaluate_phases(*load_phases(run.directory, begin, end))
    except UsageError as error:
        run.missing.append(f"{error}; so no averages by phase.")
        return None


def _number(value: float, half_width: float, form: str) -> str:
    """For example `2.639 +- 0.012`, or the value alone if its interval is not known."""
    known = np.isfinite(half_width) and half_width > 1e-9 * abs(value)
    return f"{value:{form}} +- {half_width:.2g}" if known else f"{value:{form}}"


def summary_text(results: Results) -> str:
    """The compact summary for the terminal."""
    run = results.run
    lines = [run.name]
    if run.failure:
        lines.append(f"this run failed: {run.failure}")
    if results.re_tau is not None:
        number = _number(results.re_tau.mean, results.re_tau.half_width, ".2f")
        lines.append(f"Re_tau (last third of the run): {number}")
    else:
        lines.append("Re_tau (last third of the run): not known")
    profiles = run.profiles
    if profiles is not None and run.blocks is not None:
        lines.append(
            f"statistics: {run.blocks.samples.sum()} samples in {len(run.blocks)} blocks, "
            f"t = {run.blocks.time_begin[0]:g} to {run.blocks.time_end[-1]:g}"
        )
        figures = {figure.key: figure for figure in [*results.table, *results.residuals]}

        def number_of(key: str, form: str) -> str:
            return _number(figures[key].value, figures[key].half_width, form)

        lines.append(f"Re_tau (statistics): {number_of('re_tau', '.2f')}")
        if profiles.laminar:
            lines.append("peak u'+: none, the flow is laminar")
        else:
            lines.append(f"peak u'+: {number_of('u_peak', '.3f')} at z+ = {number_of('u_peak_z', '.1f')}")
            lines.append(f"peak -uw+: {number_of('uw_peak', '.4f')} at z+ = {number_of('uw_peak_z', '.1f')}")
        lines.append(f"total-stress residual: {number_of(profiles.side, '.2e')}")
    if results.spectra is not None:
        lines.extend(conclusions(results.spectra))
    if results.densities is not None:
        lines.extend(wall_shear_lines(results.densities))
    lines.extend(summary_lines(results.scalars))
    if results.published is not None:
        published = results.published
        lines.append(f"nearest published: {published.name}, Re_tau = {published.re_tau:g}")
    lines.extend(f"missing: {sentence}" for sentence in run.missing)
    return "\n".join(lines)
