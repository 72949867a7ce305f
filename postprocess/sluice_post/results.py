"""The numbers of a run that its report shows, and their summary for the terminal."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sluice_post import figures, literature
from sluice_post.figures import Bands
from sluice_post.key_figures import Figure, Resolution, key_figures, resolution
from sluice_post.profiles import wall_profiles
from sluice_post.run import Run
from sluice_post.symmetry import Symmetry
from sluice_post.timeseries import re_tau_last_third
from sluice_post.uncertainty import MeanEstimate, half_width95


@dataclass
class Results:
    """What the report shows, computed once."""

    run: Run
    re_tau: MeanEstimate | None = None
    table: list[Figure] = field(default_factory=list)
    bands: Bands = field(default_factory=dict)
    resolution: Resolution | None = None
    residuals: dict[str, float] = field(default_factory=dict)
    published: literature.Published | None = None

    @property
    def known_re_tau(self) -> float | None:
        """Re_tau of the statistics, else that of the time series, else None."""
        if self.run.profiles is not None:
            return self.run.profiles.re_tau
        return self.re_tau.mean if self.re_tau is not None else None

    def value(self, key: str) -> float | None:
        """A key figure by name."""
        return next((figure.value for figure in self.table if figure.key == key), None)


def bands_of(run: Run) -> Bands:
    """95 % bands of all profiles of a run; none for a single block."""
    if run.blocks is None or run.profiles is None or run.parameters is None or len(run.blocks) < 2:
        return {}
    parameters = run.parameters
    joined = half_width95(lambda means: figures.joined_profiles(wall_profiles(means, parameters)), run.blocks)
    return figures.split_bands(run.profiles, joined)


def _residuals(run: Run) -> dict[str, float]:
    """Total-stress residual of the averaged halves, and of each wall in its own u_tau."""
    if run.blocks is None or run.profiles is None or run.parameters is None:
        return {}
    residuals = {run.profiles.side: run.profiles.residual}
    if run.profiles.symmetry is not Symmetry.NONE:
        for side in ("bottom", "top"):
            residuals[side] = wall_profiles(run.blocks.means(), run.parameters, side).residual
    return residuals


def evaluate(run: Run) -> Results:
    """All numbers of the report."""
    results = Results(run, residuals=_residuals(run), bands=bands_of(run))
    if run.series is not None:
        results.re_tau = re_tau_last_third(run.series)
    if run.blocks is not None and run.parameters and run.profiles:
        results.table = key_figures(run.blocks, run.parameters)
        results.resolution = resolution(run.blocks, run.parameters, run.profiles)
    re_tau = results.known_re_tau
    if run.parameters and re_tau and not (run.profiles and run.profiles.laminar):
        results.published = literature.nearest(run.parameters.flow_type, re_tau)
    return results


def summary_text(results: Results) -> str:
    """The compact summary for the terminal."""
    run = results.run
    lines = [run.name]
    if results.re_tau is not None:
        width = results.re_tau.half_width
        known = np.isfinite(width) and width > 1e-9 * results.re_tau.mean
        interval = f" +- {width:.2g}" if known else ""
        lines.append(f"Re_tau (last third of the run): {results.re_tau.mean:.2f}{interval}")
    else:
        lines.append("Re_tau (last third of the run): not known")
    profiles = run.profiles
    if profiles is not None and run.blocks is not None:
        lines.append(
            f"statistics: {run.blocks.samples.sum()} samples in {len(run.blocks)} blocks, "
            f"t = {run.blocks.time_begin[0]:g} to {run.blocks.time_end[-1]:g}"
        )
        lines.append(f"Re_tau (statistics): {profiles.re_tau:.2f}")
        if profiles.laminar:
            lines.append("peak u'+: none, the flow is laminar")
        else:
            value = results.value
            lines.append(f"peak u'+: {value('u_peak'):.3f} at z+ = {value('u_peak_z'):.1f}")
            lines.append(f"peak -uw+: {value('uw_peak'):.4f} at z+ = {value('uw_peak_z'):.1f}")
        lines.append(f"total-stress residual: {profiles.residual:.2e}")
    if results.published is not None:
        published = results.published
        lines.append(f"nearest published: {published.name}, Re_tau = {published.re_tau:g}")
    lines.extend(f"missing: {sentence}" for sentence in run.missing)
    return "\n".join(lines)
