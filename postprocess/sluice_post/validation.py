"""The document that shows stored results of cases beside published simulations: cases/NAME/results/*.h5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf, nan
from pathlib import Path
from textwrap import fill
from typing import TypeVar

import numpy as np
from matplotlib.figure import Figure as MplFigure

from sluice_post import budget_figures, deviations, figures, layout, literature, spectra_figures
from sluice_post.budget_terms import IMBALANCE
from sluice_post.errors import InputOutputError
from sluice_post.flow import CHANNEL
from sluice_post.flow_words import REYNOLDS, flow_text, held_text
from sluice_post.key_figures import percent_difference
from sluice_post.literature import Published
from sluice_post.parameters import FlowParameters
from sluice_post.printed import count_of
from sluice_post.reference import Reference, holds_budget, merged, read_budget_reference, read_reference
from sluice_post.results import Results, evaluate
from sluice_post.run import load_run
from sluice_post.spectra import AXES
from sluice_post.spectra_reference import PublishedSpectra, holds_spectra, read_all_spectra
from sluice_post.study_tables import markdown_table, number_text, place_text
from sluice_post.style import single_panel
from sluice_post.wall_view import with_wall

HEIGHTS = (5.0, 19.0, 98.0, inf)  # z+ of the spectra; at Re_tau = 178 the centre is z+ = 178

# Largest deviations that are accepted, in %. INTRODUCTION says how much published simulations differ.
LIMITS = {
    "re_tau": 0.35,
    "cf": 0.7,
    "u_c_plus": 0.5,
    "u_peak": 0.7,
    "v_peak": 0.7,
    "w_peak": 0.7,
    "p_peak": 0.7,
    "uw_peak": 0.7,
    "production_peak": 1.0,
    "wall_dissipation": 1.5,
}
RESIDUAL_LIMIT = 0.1  # in % of the wall stress; published data reach 0.02 to 0.2
IMBALANCE_LIMIT = 0.5  # in % of the peak of the production of k
T = TypeVar("T", Reference, PublishedSpectra)
STRESSES = ("u_rms", "v_rms", "w_rms", "minus_uw")


@dataclass(frozen=True)
class PublishedFiles:
    """Downloaded files, which figures show as circles. Budgets are those of k."""

    profiles: list[Reference] = field(default_factory=list)
    budgets: list[Reference] = field(default_factory=list)
    spectra: list[PublishedSpectra] = field(default_factory=list)

    def near(self, re_tau: float, kind: str = CHANNEL) -> PublishedFiles:
        """Those of plain flows of this kind at this Re_tau, the nearest first."""

        def distance(one: Reference | PublishedSpectra) -> float:
            return abs(one.re_tau / re_tau - 1)

        def chosen(found: list[T]) -> list[T]:
            near = [one for one in found if one.kind == kind and distance(one) <= literature.SAME_REYNOLDS]
            return sorted(near, key=distance)

        return PublishedFiles(chosen(self.profiles), chosen(self.budgets), chosen(self.spectra))

    def for_results(self, results: Results) -> PublishedFiles:
        """Those to lay over the figures of a run: of its flow and, if there is one, of the published simulation."""
        flow, held, re_tau = results.flow, results.held, results.figure("re_tau")
        if flow is None or not flow.is_plain or re_tau is None:
            return PublishedFiles()
        if results.published is not None:
            return self.near(results.published.re_tau, flow.kind)
        is_set = held is not None and held.by_case and held.key == "re_tau"
        return self.near(held.value if held is not None and is_set else re_tau.value, flow.kind)

    @property
    def budget_of_k(self) -> dict[str, Reference]:
        """The nearest budget of k by its name, if there is one."""
        return {"k": self.budgets[0]} if self.budgets else {}


def read_files(paths: Sequence[Path]) -> PublishedFiles:
    """Reads published profiles, budgets and spectra, of one or several simulations."""
    files = PublishedFiles()
    for path in paths:
        if holds_spectra(path):
            files.spectra.extend(read_all_spectra([path]))
        elif holds_budget(path):
            stress, budget = read_budget_reference(path)
            files.budgets.extend([budget] if stress == "k" else [])
        else:
            files.profiles.append(read_reference(path))
    return files


def find_results(cases: Path) -> list[Path]:
    """The folders of stored results, by the name of their case."""
    found = sorted(path.parent for path in cases.glob(f"*/{layout.RESULTS_FOLDER}/{layout.STATISTICS_FILE}"))
    if not found:
        pattern = cases / "NAME" / layout.RESULTS_FOLDER / layout.STATISTICS_FILE
        raise InputOutputError(f"{pattern}: no case has stored results")
    return found


def read_results(directory: Path) -> Results:
    """The numbers of one case, with spectra at those of HEIGHTS that exist."""
    run = load_run(directory)
    if run.profiles is None or run.blocks is None or run.profiles.laminar:
        reason = " ".join(run.missing) or "the flow is laminar"
        raise InputOutputError(f"{directory}: no statistics of a turbulent flow: {reason}")
    re_tau = run.profiles.re_tau
    return evaluate(run, [height for height in HEIGHTS if height == inf or height < 0.95 * re_tau])


def verdict(deviation: float, half_width: float, limit: float) -> str:
    """`within` if the whole interval of a deviation is within its limit, `outside` if none is; else `undecided`."""
    width = 0.0 if np.isnan(half_width) else half_width
    if abs(deviation) + width <= limit:
        return "within"
    return "undecided" if abs(deviation) - width <= limit else "outside"


Row = tuple[str, str, str, str, str, str]
HEADING = ("figure", "run", "published", "deviation, %", "limit, %", "verdict")


def _judged(label: str, run: str, published: str, percent: float, half_width: float, limit: float) -> Row:
    deviation = number_text(percent, half_width, "+")
    return label, run, published, deviation, f"{limit:g}", verdict(percent, half_width, limit)


def _key_rows(results: Results, published: Published | None) -> list[Row]:
    """The key figures that have a limit."""
    rows = []
    shifted = literature.shifted(published, results.held) if published else {}
    for key, limit in LIMITS.items():
        if (figure := results.figure(key)) is None:
            continue
        label = figure.text_label + results.remark_of(figure.key)
        factor, label = (1000, f"1000 {label}") if key == "cf" else (1, label)
        run = number_text(factor * figure.value, factor * figure.half_width)
        if place := results.figure(f"{key}_z"):
            run += place_text(place.value, place.half_width)
        source = literature.with_value(published, key) if published else None
        if source is None:
            rows.append((label, run, "", "", "", ""))
            continue
        expected = f"{factor * source.values[key]:.4g}"
        if f"{key}_z" in source.values:
            expected += f" at {source.values[f'{key}_z']:.1f}"
        if source is not published:
            expected += f" ({source.name}, Re_tau {source.re_tau:g})"
        if results.is_set(key):
            rows.append((label, run, expected, "set by the case", "", ""))
            continue
        value = shifted.get(key, source.values[key]) if source is published else source.values[key]
        if value != source.values[key]:
            expected += f", {factor * value:.4g} at {held_text(results.held)}" if results.held else ""
        rows.append(_judged(label, run, expected, *percent_difference(figure, value), limit))
    return rows


def _balance_rows(results: Results) -> list[Row]:
    """What is 0 in an endless run with a vanishing time step."""
    residual = results.residuals[0]
    wall = results.run.profiles.wall if results.run.profiles is not None else ""
    value, width = 100 * residual.value, 100 * residual.half_width
    run = number_text(value, width)
    rows = [
        _judged(with_wall("total-stress residual, % of the wall stress", wall), run, "0", value, width, RESIDUAL_LIMIT)
    ]
    if results.budgets is not None:
        k = results.budgets.data["k"]
        at = int(np.argmax(np.abs(k[IMBALANCE].values)))
        percent = 100 / float(k["production"].max())
        value = percent * float(k[IMBALANCE][at])
        width = percent * float(k[f"{IMBALANCE}_ci95"][at]) if f"{IMBALANCE}_ci95" in k else nan
        run = f"{number_text(value, width, '+')} at {float(k['z_plus'][at]):.1f}"
        label = "largest imbalance of k, % of the peak of its production"
        rows.append(_judged(label, run, "0", value, width, IMBALANCE_LIMIT))
    return rows


def figures_of_case(results: Results, files: PublishedFiles) -> dict[str, tuple[str, MplFigure]]:
    """Title and figure by name, as far as the results allow."""
    profiles = results.run.profiles
    assert profiles is not None
    near = files.for_results(results)
    reference = merged(near.profiles) if near.profiles else None
    drawn: dict[str, tuple[str, MplFigure]] = {}
    for name, title, draw, quantities in (
        ("mean", "Mean velocity", figures.mean_velocity, ("U",)),
        ("stresses", "Fluctuations and shear stress", figures.fluctuations, STRESSES),
    ):
        common = [quantity for quantity in quantities if reference and quantity in reference.values]
        if reference is not None and common:
            figure: MplFigure = deviations.comparison_figure(profiles, reference, common)
        else:
            figure = single_panel(partial(draw, profiles=profiles))
        drawn[name] = (title, figure)
    drawn["shear_stress"] = ("Balance of the shear stress", figures.shear_stress_figure(profiles))
    if results.budgets is not None:
        figure = budget_figures.budget_figure(results.budgets, "k", near.budget_of_k)
        drawn["budget_k"] = ("Budget of the turbulent kinetic energy", figure)
    if results.spectra is not None:
        for axis in AXES:
            figure = spectra_figures.spectra_figure(results.spectra, axis, near.spectra)
            drawn[f"spectra_{axis}"] = (f"Spectra along {axis}", figure)
    return drawn


def _description(parameters: FlowParameters, results: Results) -> str:
    """One paragraph: the flow, its grid, its averaging time."""
    run, size = results.run, results.resolution
    assert run.blocks is not None and size is not None
    order = run.blocks.sampled_parameters().get(layout.SET_ORDER, 2)
    cells = " x ".join(str(count) for count in parameters.cells)
    box = " x ".join(f"{length:.4g}" for length in parameters.size)
    assert results.flow is not None
    return (
        f"{flow_text(parameters, results.flow, results.held)}. Box {box}, {cells} cells, order {order}: "
        f"dx+ {size.dx_plus:.1f}, dy+ {size.dy_plus:.1f}, first centre z+ {size.first_centre_plus:.2f}, "
        f"dz+ up to {size.dz_centre_plus:.1f}. "
        f"Averaged over {size.turnovers:.3g} h/u_tau in {len(run.blocks)} blocks. Sluice {parameters.version}"
        f"{f', revision {parameters.git_revision}' if parameters.git_revision else ''}."
    )


def _source(results: Results) -> str:
    """The published simulation, and how it was brought to the Reynolds number of the case."""
    published, held = results.published, results.held
    if published is None:
        return results.no_published
    text = f"Published: {published.source}, Re_tau = {published.re_tau:g}"
    if literature.shifted(published, held):
        assert held is not None
        difference = 100 * (published.values[held.key] / held.value - 1)
        text += (
            f", whose {REYNOLDS[held.key]} differs by {difference:+.1f} % from that of the case; the law of the wall "
            "converts the mean velocity, and peaks are compared as published"
        )
    return f"{text}."


def _outcome(rows: Sequence[Row]) -> str:
    """How many of the judged figures are within their limits, undecided and outside, and which are outside."""
    verdicts = {row[0]: row[-1] for row in rows if row[-1]}
    outside = [label for label, verdict_of in verdicts.items() if verdict_of == "outside"]
    within, undecided = (list(verdicts.values()).count(verdict_of) for verdict_of in ("within", "undecided"))
    named = f" ({'; '.join(outside)})" if outside else ""
    return (
        f"Within their limits: {within} of {count_of(len(verdicts), 'figure')}; undecided: {undecided}; "
        f"outside: {len(outside)}{named}."
    )


def section(directory: Path, results: Results, images: dict[str, str]) -> str:
    """The section of one case. `images`: title by path, relative to the document."""
    parameters, published = results.run.parameters, results.published
    assert parameters is not None
    name, stationarity = directory.parent.name, results.stationarity
    signs = stationarity.signs("±") if stationarity is not None else ""
    transient = f"**Not stationary**: {signs}; {stationarity.conclusion}." if stationarity is not None and signs else ""
    rows = _key_rows(results, published) + _balance_rows(results)
    parts = [
        f"## {name}: {results.run.name}",
        fill(_description(parameters, results), 120),
        fill(transient, 120),
        fill(f"{_source(results)} {_outcome(rows)}", 120),
        markdown_table(HEADING, rows),
    ]
    stored = {"budgets": results.budgets, "spectra": results.spectra}
    if missing := [text for text, found in stored.items() if found is None]:
        parts.append(f"Not among the stored results: {', '.join(missing)}.")
    parts += [f"![{title}, {name}]({path})" for path, title in images.items()]
    return "\n\n".join(filter(None, parts))


INTRODUCTION = """# Validation

Stored results of cases (`cases/NAME/results`) beside published simulations. `sluice-post validation` writes this page.

- All figures are in wall units, with 95 % intervals of the sampling error; published values are taken for exact. Peaks
  are followed by their z+. Deviations are in % of the published value.
- A limit is the largest deviation that is accepted. For scale: published simulations near Re_tau = 180 differ among
  each other by 0.4 % in C_f at one Reynolds number, 1 % in the peak of v'+, 1.6 % in that of w'+, 3 % in that of p'+
  and 4 % in the wall dissipation of k+; boxes and Reynolds numbers are part of that.
- `within`: the whole 95 % interval of the deviation is within the limit. `outside`: no part of it is. `undecided`: part
  of it is; only a longer run can tell.
- The section of a flow that was not stationary over the averaging time says so: its averages are of a transient
  (postprocess/README.md, Stationarity).
- The total-stress residual and the imbalance of k would be 0 in an endless run with a vanishing time step
  (postprocess/README.md, Conventions and Budgets).
- Bands in figures are 95 % intervals, circles are published data.
"""
