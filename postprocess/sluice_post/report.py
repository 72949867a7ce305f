"""The report of a run: figures, tables of profiles and one self-contained HTML page."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sluice_post import deviations, export, layout, report_parts
from sluice_post.flow_words import unknown_flow_note
from sluice_post.html import report_page
from sluice_post.reference import Reference, References
from sluice_post.report_entries import Entry, Part
from sluice_post.results import Results
from sluice_post.spectra_figures import Published


def _parts(results: Results, published_budgets: References, published_spectra: Published) -> list[Part]:
    """All of what has been evaluated, in the order of the page."""
    run, parts = results.run, []
    if run.profiles is not None and run.parameters is not None:
        parts.append(report_parts.profiles_part(results, run.profiles, run.parameters))
    if results.budgets is not None:
        parts.append(report_parts.budgets_part(results.budgets, published_budgets))
    if results.derived is not None:
        parts.append(report_parts.derived_part(results.derived, run.profiles.wall if run.profiles else ""))
    if results.spectra is not None:
        parts.append(report_parts.spectra_part(results.spectra, published_spectra))
    if results.densities is not None:
        parts.append(report_parts.densities_part(results.densities))
    if results.phases is not None:
        parts.append(report_parts.phases_part(results.phases))
    parts.append(report_parts.scalars_part(results.scalars, run.series))
    parts += [report_parts.budgets_part(of_scalar, {}) for of_scalar in results.scalar_budgets]
    return [*parts, report_parts.scalar_spectra_part(results.scalar_spectra), report_parts.run_part(results)]


def write_report(
    results: Results,
    reference: Reference | None = None,
    published_budgets: References | None = None,
    published_spectra: Published = (),
) -> Path:
    """Writes report.html, the figures, and tables of all that they show into the run directory."""
    run, side, published_budgets = results.run, results.side, published_budgets or {}
    parts, comparisons = _parts(results, published_budgets, published_spectra), []
    if (note := unknown_flow_note(results.flow)) and (reference is not None or published_budgets or published_spectra):
        comparisons.append(note)
    if run.blocks is not None and run.parameters is not None and run.profiles is not None:
        if reference is not None:
            names = deviations.common_quantities(run.profiles, reference, None)
            rows = deviations.deviations(run.blocks, run.parameters, reference, names, side)
            comparisons.append(deviations.table_text(rows, run.profiles, reference))
            draw = partial(deviations.comparison_figure, run.profiles, reference, names)
            parts.append(Part([Entry("compare", "Comparison", f"Against {reference.label}.", draw, wide=True)]))
        if results.budgets is not None and published_budgets:
            of_budgets = deviations.budget_deviations(run.blocks, run.parameters, published_budgets, side)
            comparisons.append(deviations.budget_table_text(of_budgets))
    problems: list[str] = []
    drawn = [one for part in parts for one in part.draw(run.directory / layout.FIGURE_FOLDER, problems)]
    run.missing.extend(f"{problem}." for problem in problems if f"{problem}." not in run.missing)
    for part in parts:
        part.write_tables(run.directory)
    path = run.directory / layout.REPORT_FILE
    export.write_text(path, report_page(results, drawn, "\n\n".join(comparisons)))
    return path
