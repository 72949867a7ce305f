"""The report of a run: figures, tables and one self-contained HTML page."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as MplFigure

from sluice_post import compare, export, figures, figures_run, layout, literature
from sluice_post.figures import Bands
from sluice_post.html import (
    escape,
    figure_html,
    headline,
    key_table,
    performance_tables,
    resolution_table,
    run_table,
)
from sluice_post.key_figures import Figure, Resolution, key_figures, resolution
from sluice_post.profiles import WallProfiles, wall_profiles
from sluice_post.reference import Reference
from sluice_post.run import Run
from sluice_post.style import figure_style, save_png
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

    def value(self, key: str) -> float | None:
        """A key figure by name."""
        return next((figure.value for figure in self.table if figure.key == key), None)


def bands_of(run: Run) -> Bands:
    """95 % bands of all profiles of a run; none for a single block."""
    if run.batches is None or run.profiles is None or run.parameters is None or len(run.batches) < 2:
        return {}
    parameters = run.parameters
    joined = half_width95(
        lambda means: figures.joined_profiles(wall_profiles(means, parameters)), run.batches
    )
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
    if run.blocks is not None and run.batches is not None and run.parameters and run.profiles:
        results.table = key_figures(run.blocks, run.batches, run.parameters)
        results.resolution = resolution(run.blocks, run.parameters, run.profiles)
    re_tau = run.profiles.re_tau if run.profiles else results.re_tau.mean if results.re_tau else None
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


@dataclass(frozen=True)
class _Entry:
    name: str
    title: str
    caption: str
    draw: Callable[[], MplFigure | None]
    wide: bool = False


_STRESS_CAPTION = (
    "Above: viscous, Reynolds and total shear stress over the wall stress, from the fluxes of the scheme "
    "itself at the faces, and the line that the mean momentum balance asks for. Below: their difference."
)


def _profile_entries(profiles: WallProfiles, bands: Bands) -> list[_Entry]:
    band = " Bands: 95 % confidence intervals." if bands else ""
    law = f"Law of the wall: {literature.LOG_LAW_SOURCE}."
    return [
        _Entry("mean_velocity", "Mean velocity", (law if not profiles.laminar else "") + band,
               lambda: figures.mean_velocity(profiles, bands)),
        _Entry("fluctuations", "Fluctuations", "Root-mean-square fluctuations." + band,
               lambda: None if profiles.laminar else figures.fluctuations(profiles, bands)),
        _Entry("shear_stress", "Shear stress", _STRESS_CAPTION + band,
               lambda: figures.shear_stress(profiles, bands)),
        _Entry("vorticity", "Vorticity", "Root-mean-square vorticity fluctuations." + band,
               lambda: figures.vorticity(profiles, bands)),
        _Entry("higher_moments", "Skewness and flatness",
               "Skewness and flatness of u (streamwise), v (spanwise) and w (wall-normal, positive away "
               "from the wall). Dashed: the Gaussian values 0 and 3.",
               lambda: figures.higher_moments(profiles), wide=True),
    ]  # fmt: skip


def _run_entries(results: Results) -> list[_Entry]:
    run, entries = results.run, []
    if run.streaks is not None:
        streaks, profiles = run.streaks, run.profiles
        height = run.parameters.size[2] if run.parameters else 0.0
        plus = profiles.u_tau / profiles.viscosity if profiles else None
        u_tau = profiles.u_tau if profiles else None
        if profiles is None and run.parameters is not None and results.re_tau is not None:
            u_tau = results.re_tau.mean * run.parameters.viscosity / run.parameters.half_height
            plus = u_tau / run.parameters.viscosity
        caption = "Streamwise velocity less its plane mean, latest slice parallel to the wall."
        entries.append(
            _Entry(
                "streaks",
                "Streaks",
                caption,
                lambda: figures_run.streak_picture(streaks, height, plus, u_tau),
                wide=True,
            )
        )
    if run.series is not None:
        series, mean = run.series, results.re_tau.mean if results.re_tau else None
        entries.append(_Entry("history", "History of the run", "",
                              lambda: figures_run.history(series, mean), wide=True))  # fmt: skip
    return entries


def _comparison_entry(profiles: WallProfiles, reference: Reference) -> tuple[_Entry, str]:
    names = compare.common_quantities(profiles, reference, None)
    rows = [compare.deviation(profiles, reference, name) for name in names]
    text = compare.table_text(rows, profiles, reference)
    entry = _Entry("compare", "Comparison", f"Against {reference.label}.",
                   lambda: compare.comparison_figure(profiles, reference, names), wide=True)  # fmt: skip
    return entry, text


def _draw_all(entries: list[_Entry], folder: Path) -> str:
    """Draws and saves the figures; returns their HTML, narrow ones in pairs, wide ones on their own."""
    narrow: list[str] = []
    wide: list[str] = []
    with figure_style():
        for entry in entries:
            drawing = entry.draw()
            if drawing is None:
                continue
            png = save_png(drawing, folder / f"{entry.name}.png")
            encoded = base64.b64encode(png).decode("ascii")
            (wide if entry.wide else narrow).append(
                figure_html(encoded, entry.title, entry.caption, entry.wide)
            )
    pair = f'<div class="pair">{"".join(narrow)}</div>' if narrow else ""
    return pair + "".join(wide)


def _data_files(results: Results) -> None:
    run = results.run
    if run.profiles is None or run.parameters is None:
        return
    export.write_text(run.directory / layout.PROFILES_CSV, export.csv_text(run.profiles, results.bands))
    for name, text in export.lee_moser_texts(run.profiles, run.parameters).items():
        export.write_text(run.directory / name, text)


def write_report(results: Results, reference: Reference | None = None) -> Path:
    """Writes report.html, the figures and the tables of profiles into the run directory."""
    run = results.run
    folder = run.directory / layout.FIGURE_FOLDER
    entries, comparison = [], ""
    if run.profiles is not None:
        entries += _profile_entries(run.profiles, results.bands)
    entries += _run_entries(results)
    if run.profiles is not None and reference is not None:
        entry, text = _comparison_entry(run.profiles, reference)
        entries.append(entry)
        comparison = f"<h2>Comparison in numbers</h2><div class='scroll'><pre>{escape(text)}</pre></div>"
    pictures = _draw_all(entries, folder)
    _data_files(results)
    css = resources.files("sluice_post").joinpath("report.css").read_text(encoding="utf-8")
    notes = "".join(f"<li>{escape(sentence)}</li>" for sentence in run.missing)
    case = run.case_text
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{escape(run.name)}</title><style>{css}</style></head><body><main>",
        f"<header><h1>{escape(run.name)}</h1>{run_table(results)}</header>",
        headline(results),
        f"<div class='note'><ul>{notes}</ul></div>" if notes else "",
        key_table(results),
        resolution_table(results),
        "<h2>Figures</h2>" if pictures else "",
        pictures,
        comparison,
        performance_tables(run.provenance),
        f"<h2>Case</h2><details><summary>resolved case file</summary><pre>{escape(case)}</pre></details>"
        if case
        else "",
        "<footer>Coordinates: x streamwise, y spanwise, z wall-normal. Superscript +: wall units. "
        "Made by sluice-post.</footer></main></body></html>\n",
    ]
    path = run.directory / layout.REPORT_FILE
    export.write_text(path, "\n".join(part for part in parts if part))
    return path
