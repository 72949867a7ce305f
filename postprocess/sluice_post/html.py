"""The report as one HTML page. Here: rows of tables; templates/report.html lays them out."""

from __future__ import annotations

from itertools import groupby
from math import isfinite
from typing import Any, NamedTuple

from markupsafe import Markup

from sluice_post import density_tables, layout, scalar_numbers, spectra_tables
from sluice_post.case_text import value_at
from sluice_post.flow import NAMES
from sluice_post.html_text import as_html, environment, interval, number, number_and_interval
from sluice_post.key_figures import MAY_BE_ZERO, Figure, percent_difference
from sluice_post.printed import NOT_DETERMINED, ROUND_OFF, count_of, is_determined, is_exact, width_text, with_interval
from sluice_post.report_entries import Drawn
from sluice_post.results import RE_TAU, Results
from sluice_post.spectra import AXES
from sluice_post.verdicts import verdicts
from sluice_post.wall_view import with_wall


class Row(NamedTuple):
    """A row of the key figures: label (HTML), this run, its interval, the published value, the difference."""

    label: Markup
    value: Markup
    interval: Markup
    published: str = ""
    difference: str = ""
    indented: bool = False


def _key_figure_row(figure: Figure, label: str, results: Results) -> Row:
    key, value, half_width = figure.key, figure.value, figure.half_width
    known = results.published.values if results.published is not None else {}
    may_be_zero = key in MAY_BE_ZERO
    imposed = is_exact(value, half_width, scale=1 if may_be_zero else 0)
    determined = imposed or may_be_zero or is_determined(value, half_width)
    difference = ""
    if key in known and determined and not results.is_set(key):
        percent = percent_difference(figure, known[key])
        difference = as_html(with_interval(*percent, " %", sign="+", may_be_zero=True, scale=100))
    if not determined:
        shown = (Markup(NOT_DETERMINED), number_and_interval(value, half_width))
    elif imposed:
        laminar = results.run.profiles is not None and results.run.profiles.laminar
        round_off = may_be_zero and abs(value) <= ROUND_OFF
        shown = (number(0.0 if round_off else value), Markup("—" if laminar else "imposed"))
    else:
        shown = (number(value, half_width), interval(value, half_width))
    published = number(known[key]) if key in known else ""
    return Row(Markup(label.strip()), *shown, published, difference, label.startswith(" "))


def key_figure_rows(results: Results) -> list[Row]:
    """Key figures, beside those of a published simulation; the source of Re_tau, which the time series has as well."""
    rows = [_key_figure_row(one, f"{one.label} (last third of the run)", results) for one in results.last_third]
    for one in results.table:
        remark = " (statistics)" if one.key in RE_TAU else results.remark_of(one.key)
        rows.append(_key_figure_row(one, one.label + remark, results))
    return rows


def _residuals(residuals: list[Figure], wall: str) -> list[Row]:
    """The total-stress residual of the profiles shown, below it those of the halves."""
    rows = []
    for residual in residuals:
        shown = (number(residual.value, residual.half_width), interval(residual.value, residual.half_width))
        if residual.key == "both" or len(residuals) == 1:
            usual = Markup("2·10<sup>−4</sup> to 2·10<sup>−3</sup>")
            rows.append(Row(Markup(with_wall("total-stress residual", wall)), *shown, usual))
        else:
            rows.append(Row(Markup(f"{residual.key} half, in its own u<sub>τ</sub>"), *shown, indented=True))
    return rows


def _percent_of_u_tau(results: Results) -> str:
    """The interval of u_tau in % of it; empty if it is not known, or u_tau imposed."""
    u_tau = results.figure("u_tau")
    if u_tau is None or not isfinite(u_tau.half_width) or is_exact(u_tau.value, u_tau.half_width):
        return ""
    return width_text(100 * u_tau.half_width / u_tau.value)


_PERFORMANCE = {
    "point_steps_per_second": "point-steps per second",
    "ns_per_point_per_step": "ns per point and step",
    "steps_taken": "steps taken",
    "wall_seconds": "wall-clock time, s",
    "ranks": "ranks",
    "threads": "threads",
    "gpus": "GPUs",
    "process_grid": Markup("process grid p<sub>y</sub> × p<sub>z</sub>"),
    "exchange": "exchange method",
    "precision": "precision",
    "compiler": "compiler",
    "why_stopped": "why it stopped",
    "machine": "machine",
    "libraries": "libraries",
}
_ENERGY = {
    "joules": "energy, J",
    "watts": "mean power, W",
    "nj_per_point_per_step": "energy, nJ per point and step",
    "joules_per_h_over_u_tau": Markup("energy, J per h/u<sub>τ</sub>"),
    "devices": "energy measured on",
}


def performance_rows(record: dict[str, Any], has_depth: bool) -> dict[str, Any]:
    """What run.json holds about the speed and the energy of the latest start; h is not the depth of every flow."""
    rows = {name: record[key] for key, name in _PERFORMANCE.items() if key in record}
    energy = record.get("energy")
    if isinstance(energy, dict) and "devices" in energy:
        energy = {**energy, "devices": count_of(energy["devices"], str(energy.get("device")))}
        shown = {key: name for key, name in _ENERGY.items() if has_depth or key != "joules_per_h_over_u_tau"}
        rows |= {name: energy[key] for key, name in shown.items() if key in energy}
    return rows


def _phases(record: dict[str, Any]) -> list[tuple[str, float]]:
    """Names and seconds of the phases that run.json holds, the longest first."""
    phases = record.get("phases")
    if not isinstance(phases, list):
        return []
    timed = [p for p in phases if isinstance(p, dict) and isinstance(p.get("seconds"), int | float)]
    return sorted(((p.get("name", ""), p["seconds"]) for p in timed), key=lambda phase: -phase[1])


def report_page(results: Results, figures: list[Drawn], comparison: str) -> str:
    """The page. `comparison` is the text of the comparison with a reference; it may be empty."""
    run, spectra, budgets = results.run, results.spectra, results.budgets
    parameters, record = run.parameters, run.provenance
    flow_type = parameters.flow_type if parameters else value_at(run.case_text, *layout.SET_FLOW_TYPE.split(".")) or ""
    numbers = budgets.numbers if budgets else {}
    tables = {
        "Members": run.members_text,
        "Spectra and two-point correlations": spectra_tables.table_text(spectra) if spectra else "",
        "Scalars": scalar_numbers.table_text(results.scalars),
        "Densities and quadrants": density_tables.table_text(results.densities) if results.densities else "",
        "Comparison": comparison,
    }
    return environment.get_template("report.html").render(
        results=results,
        run=run,
        parameters=parameters,
        profiles=run.profiles,
        resolution=results.resolution,
        published=results.published,
        flow_name=results.flow.name if results.flow is not None else NAMES.get(str(flow_type), str(flow_type)),
        key_figures=key_figure_rows(results) + _residuals(results.residuals, run.profiles.wall if run.profiles else ""),
        verdicts=verdicts(results),
        figure_groups=[(wide, list(group)) for wide, group in groupby(figures, key=lambda figure: figure.entry.wide)],
        tables={heading: text for heading, text in tables.items() if text},
        performance=performance_rows(record, has_depth=parameters is None or not parameters.is_ekman_layer),
        phases=_phases(record),
        falls=[spectra.fall(axis)[:2] for axis in AXES] if spectra else [],
        half_boxes=[spectra_tables.half_box(spectra, axis) for axis in AXES] if spectra else [],
        wall_units_percent=_percent_of_u_tau(results),
        kolmogorov={name: number_and_interval(*found) for name, found in numbers.items()},
    )
