"""The numbers of a run that its report shows, and their summary for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from sluice_post import layout, literature
from sluice_post.arrays import Array
from sluice_post.budgets import EvaluatedBudgets, evaluate_budgets
from sluice_post.density_tables import wall_shear_lines
from sluice_post.derived import evaluate_derived
from sluice_post.errors import UsageError
from sluice_post.evaluated_densities import EvaluatedDensities, evaluate_densities
from sluice_post.flow import Flow, Held, flow_of, held_reynolds
from sluice_post.flow_words import flow_of_case
from sluice_post.key_figures import Figure, Resolution, key_figures, label_of, resolution
from sluice_post.parameters import FlowParameters
from sluice_post.phases import evaluate_phases, has_phases, load_phases
from sluice_post.printed import at_place, with_interval
from sluice_post.profiles import WallProfiles, wall_profiles, with_intervals
from sluice_post.run import Run
from sluice_post.scalar_budgets import evaluate_scalar_budgets
from sluice_post.scalar_numbers import EvaluatedScalar, evaluate_scalars, summary_lines
from sluice_post.scalar_spectra import EvaluatedScalarSpectra, evaluate_scalar_spectra
from sluice_post.spectra import EvaluatedSpectra, evaluate_spectra
from sluice_post.spectra_tables import conclusions
from sluice_post.stationarity import Stationarity, stationarity_of
from sluice_post.statistics import Blocks, Means
from sluice_post.timeseries import energy_lines, re_tau_last_third
from sluice_post.uncertainty import half_width95
from sluice_post.wall_view import with_wall

RE_TAU = ("re_tau", "re_tau_bottom", "re_tau_top")


@dataclass
class Results:
    """What the report shows, computed once."""

    run: Run
    side: str | None = None  # that was asked for
    last_third: list[Figure] = field(default_factory=list)  # Re_tau of the time series; of each wall if they differ
    table: list[Figure] = field(default_factory=list)
    resolution: Resolution | None = None
    residuals: list[Figure] = field(default_factory=list)
    flow: Flow | None = None  # known from the samples, so not without any
    held: Held | None = None
    published: literature.Published | None = None
    no_published: str = ""  # why there is none
    stationarity: Stationarity | None = None
    budgets: EvaluatedBudgets | None = None
    derived: xr.Dataset | None = None
    spectra: EvaluatedSpectra | None = None
    densities: EvaluatedDensities | None = None
    scalars: list[EvaluatedScalar] = field(default_factory=list)
    scalar_budgets: list[EvaluatedBudgets] = field(default_factory=list)
    scalar_spectra: list[EvaluatedScalarSpectra] = field(default_factory=list)
    phases: xr.Dataset | None = None

    def figure(self, key: str) -> Figure | None:
        """A key figure by name."""
        return next((figure for figure in self.table if figure.key == key), None)

    def is_set(self, key: str) -> bool:
        """Whether the case sets this number: it tells which published data are near, but not how good the run is."""
        return self.held is not None and self.held.by_case and self.held.key == key

    def remark_of(self, key: str) -> str:
        """What else a key figure includes, to follow its label: the motion of the walls that it is seen from.

        If the velocity of a wall in its plane varies, u' or v' include this motion.
        """
        profiles, parameters = self.run.profiles, self.run.parameters
        if profiles is None or parameters is None:
            return ""
        walls = ("bottom", "top") if profiles.view.side == "both" else (profiles.view.side,)
        shaken = "".join(parameters.shaken(wall) for wall in walls)
        moved = {f"{letter}_peak" for letter in shaken}
        return " (includes the motion of the wall)" if key in moved else ""

    @property
    def friction_reynolds(self) -> list[Figure]:
        """Re_tau of the statistics: of the mean wall stress, and of each wall where the walls differ."""
        profiles = self.run.profiles
        keys = RE_TAU if profiles is not None and profiles.wall else RE_TAU[:1]
        return [figure for key in keys if (figure := self.figure(key)) is not None]


def _residuals(run: Run) -> list[Figure]:
    """Total-stress residual of the averaged halves, and of each wall in its own u_tau, by side."""
    if run.blocks is None or run.profiles is None or run.parameters is None:
        return []
    parameters, sides = run.parameters, [run.profiles.view.side]
    if run.profiles.view.side == "both":
        sides += ["bottom", "top"]

    def residuals(means: Means) -> Array:
        return np.array([wall_profiles(means, parameters, side).residual for side in sides])

    values, widths = residuals(run.blocks.means()), half_width95(residuals, run.blocks)
    return [Figure(side, "", *pair) for side, *pair in zip(sides, values, widths, strict=True)]


def _last_third(run: Run) -> list[Figure]:
    """Re_tau over the last third of the time series: of the mean wall stress, and of each wall where they differ."""
    if run.averages is not None and "re_tau" in run.averages:
        value, width = (float(run.averages[name]) for name in ("re_tau", "re_tau_ci95"))
        return [Figure("re_tau", label_of("re_tau", "")[0], value, width)]
    if run.series is None:
        return []
    differ = run.profiles is not None and bool(run.profiles.wall)
    columns = {"re_tau": None, "re_tau_bottom": layout.RE_TAU_BOTTOM, "re_tau_top": layout.RE_TAU_TOP}
    rows = []
    for key in RE_TAU if differ else RE_TAU[:1]:
        if (mean := re_tau_last_third(run.series, columns[key])) is not None:
            label, wall = label_of(key, run.profiles.wall if run.profiles is not None else "")
            is_exact = run.blocks is not None and not run.blocks.has_sampling_error
            rows.append(Figure(key, label, mean.mean, 0.0 if is_exact else mean.half_width, wall))
    return rows


def evaluate(run: Run, heights: Sequence[float] | None = None, side: str | None = None) -> Results:
    """All numbers of the report. `heights`: z+ of the spectra; `side`: that with which the run was loaded."""
    results = Results(run, side, last_third=_last_third(run), residuals=_residuals(run))
    if run.blocks is not None and run.parameters and run.profiles:
        results.flow = flow_of(run.parameters)
        results.table = key_figures(run.blocks, run.parameters, side)
        run.profiles = with_intervals(run.profiles, run.blocks)
        results.resolution = resolution(run.blocks, run.parameters, run.profiles)
        if not run.profiles.laminar:
            results.derived = evaluate_derived(run.blocks, run.parameters, side)
        if run.blocks.has_budgets and not run.parameters.controlled and not run.profiles.laminar:
            results.budgets = evaluate_budgets(run.blocks, run.parameters, side)
        if run.spectra is not None and not run.profiles.laminar:
            results.spectra = evaluate_spectra(run.spectra, run.parameters, heights, side)
        results.scalars, problems = evaluate_scalars(run.blocks, run.parameters, side)
        run.missing.extend(f"{problem}." for problem in problems)
        results.scalar_budgets = evaluate_scalar_budgets(run.blocks, run.parameters, results.scalars)
        if results.spectra is not None:
            of_flow = results.spectra
            results.scalar_spectra = evaluate_scalar_spectra(of_flow, run.parameters, results.scalars)
        if not run.members_text and has_phases(run.directory):
            results.phases = _phases(run)
        if run.densities is not None and not run.profiles.laminar:
            results.densities = evaluate_densities(run.densities, run.parameters, side=side)
        _compare_with_published(results, run.parameters, run.profiles)
        results.stationarity = _stationarity(results, run.blocks, run.parameters)
    return results


def _stationarity(results: Results, blocks: Blocks, parameters: FlowParameters) -> Stationarity | None:
    assert results.flow is not None
    fluxes = {
        found.profiles.scalar.name: (found.numbers["imbalance"], found.widths.get("imbalance", np.nan))
        for found in results.scalars  # each wall has its entry, with the imbalance of both walls
        if "imbalance" in found.numbers
    }
    return stationarity_of(blocks, parameters, results.flow, fluxes)


def _compare_with_published(results: Results, parameters: FlowParameters, profiles: WallProfiles) -> None:
    """The published simulation of this flow at the Reynolds number that the case holds fixed."""
    measured = {figure.key: figure.value for figure in results.table}
    results.held = held_reynolds(parameters, measured)
    if results.flow is not None and not profiles.laminar:
        found = literature.find(results.flow, results.held, measured["re_tau"])
        results.published, results.no_published = found.published, found.reason


def _phases(run: Run) -> xr.Dataset | None:
    assert run.blocks is not None
    try:
        begin, end = float(run.blocks.time_begin[0]), float(run.blocks.time_end[-1])
        return evaluate_phases(*load_phases(run.directory, begin, end))
    except UsageError as error:
        run.missing.append(f"{error}; so no averages by phase.")
        return None


def summary_text(results: Results) -> str:
    """The compact summary for the terminal."""
    run = results.run
    lines = [run.name]
    if run.failure:
        lines.append(f"this run failed: {run.failure}")
    for row in results.last_third:
        number = with_interval(row.value, row.half_width)
        lines.append(f"{row.text_label} (last third of the run): {number}")
    if run.has_no_walls:
        lines += [flow_of_case(run.case_text), *energy_lines(run.series)]
    elif not results.last_third:
        lines.append("Re_tau (last third of the run): not known")
    profiles = run.profiles
    if profiles is not None and run.blocks is not None:
        lines.append(
            f"statistics: {run.blocks.samples.sum()} samples in {run.blocks.count_text}, "
            f"t = {run.blocks.times[0]:g} to {run.blocks.times[1]:g}"
        )
        figures = {figure.key: figure for figure in results.table}

        def number_of(key: str) -> str:
            return with_interval(figures[key].value, figures[key].half_width)

        for row in results.friction_reynolds:
            lines.append(f"{row.text_label} (statistics): {with_interval(row.value, row.half_width)}")
        if profiles.laminar:
            lines.append("peak u'+: none, the flow is laminar")
        else:
            for key in ("u_peak", "uw_peak"):
                place = figures[f"{key}_z"]
                where = at_place(place.value, place.half_width)
                lines.append(f"{figures[key].text_label}: {number_of(key)}{where}")
        residual = results.residuals[0]
        number = with_interval(residual.value, residual.half_width, may_be_zero=True, scale=1)
        lines.append(f"{with_wall('total-stress residual', profiles.wall)}: {number}")
    if results.spectra is not None:
        lines.extend(conclusions(results.spectra))
    if results.densities is not None:
        lines.extend(wall_shear_lines(results.densities))
    lines.extend(summary_lines(results.scalars))
    if results.stationarity is not None and (signs := results.stationarity.signs()):
        lines.append(f"not stationary: {signs}; {results.stationarity.conclusion}")
    if results.published is not None:
        published = results.published
        lines.append(f"published: {published.name}, Re_tau = {published.re_tau:g}")
    elif results.no_published:
        lines.append(results.no_published)
    lines.extend(f"missing: {sentence}" for sentence in run.missing)
    return "\n".join(lines)
