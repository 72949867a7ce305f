"""The report as one HTML page. Here: the text of its cells; templates/report.html lays them out."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from sluice_post import density_tables, layout, scalar_numbers, spectra_tables
from sluice_post.budgets import EvaluatedBudgets
from sluice_post.case_text import value_at
from sluice_post.flow import NAMES
from sluice_post.key_figures import Figure, percent_difference
from sluice_post.printed import (
    NO_INTERVAL,
    NOT_DETERMINED,
    ROUND_OFF,
    digits_of,
    is_determined,
    is_exact,
    width_text,
    with_interval,
)
from sluice_post.results import RE_TAU, Results
from sluice_post.spectra import AXES
from sluice_post.verdicts import verdicts
from sluice_post.wall_view import with_wall


def _with_power(text: str, exponent: int) -> Markup:
    power = f"·10<sup>{exponent}</sup>" if exponent else ""
    return Markup(text.replace("-", "−") + power)


def number(value: float, half_width: float | None = None) -> Markup:
    """A number with as many digits as its interval deserves, else five significant ones."""
    if not np.isfinite(value):
        return Markup("—")
    if half_width is not None and np.isfinite(half_width) and not is_exact(value, half_width):
        shown, _, exponent = digits_of(value, half_width)
        return _with_power(shown, exponent)
    scientific = value != 0 and not 1e-2 <= abs(value) < 1e6
    text, _, exponent_text = (f"{value:.3e}" if scientific else f"{value:.5g}").partition("e")
    return _with_power(text, int(exponent_text or 0))


def interval(value: float, half_width: float) -> Markup:
    """The half width of the interval of a number that `number` prints with it; a dash for round-off."""
    if not np.isfinite(half_width):
        return Markup(NO_INTERVAL)
    if is_exact(value, half_width):
        return Markup("—")
    _, shown, exponent = digits_of(value, half_width)
    return Markup("± {}").format(_with_power(shown, exponent))


def number_and_interval(value: float, half_width: float) -> Markup:
    """Both, in one place."""
    if not np.isfinite(half_width) or is_exact(value, half_width):
        return number(value)
    return Markup("{} {}").format(number(value, half_width), interval(value, half_width))


def value_of_record(value: Any) -> str:
    """A value of run.json: numbers rounded, lists and groups on one line."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return Markup(" × ").join(value_of_record(item) for item in value)
    if isinstance(value, dict):
        pairs = (Markup("{} {}").format(key, value_of_record(item)) for key, item in value.items())
        return Markup(", ").join(pairs)
    return escape(value)


@dataclass(frozen=True)
class Movie:
    """Pictures of several times, WebP in base64, and their place on the figure's own picture in percent of its size."""

    times: list[float]
    frames: list[str]
    width: int
    height: int
    left: float
    top: float
    width_percent: float
    height_percent: float


@dataclass(frozen=True)
class EmbeddedFigure:
    """A figure of the page: its picture is a PNG in base64; a wide one has a row to itself."""

    title: str
    caption: str
    png: str
    wide: bool
    movie: Movie | None = None


@dataclass(frozen=True)
class Row:
    """A row of the key figures: label (HTML), this run, its interval, the published value, the difference."""

    label: Markup
    value: str
    interval: str
    published: str = ""
    difference: str = ""
    indented: bool = False


_MAY_BE_ZERO = ("force_balance",)  # key figures that are differences near 0


def key_figure_rows(results: Results) -> list[Row]:
    """Key figures, beside those of a published simulation of this flow at this Reynolds number."""
    known = results.published.values if results.published is not None else {}

    def row(label: str, key: str, value: float, half_width: float) -> Row:
        published, difference = "", ""
        if key in known:
            published = number(known[key])
        imposed = is_exact(value, half_width, scale=1 if key in _MAY_BE_ZERO else 0)
        determined = imposed or key in _MAY_BE_ZERO or is_determined(value, half_width)
        if key in known and determined and not results.is_set(key):
            percent = percent_difference(Figure(key, label, value, half_width), known[key])
            difference = with_interval(*percent, " %", sign="+", may_be_zero=True, scale=100, plus_minus="±").replace(
                "-", "−"
            )
        is_laminar = results.run.profiles is not None and results.run.profiles.laminar
        if not determined:
            found = (Markup(NOT_DETERMINED), number_and_interval(value, half_width))
        elif imposed:
            is_round_off = key in _MAY_BE_ZERO and abs(value) <= ROUND_OFF
            found = (number(0.0 if is_round_off else value), Markup("—" if is_laminar else "imposed"))
        else:
            found = (number(value, half_width), interval(value, half_width))
        return Row(
            label=Markup(label.strip()),
            value=found[0],
            interval=found[1],
            published=published,
            difference=difference,
            indented=label.startswith(" "),
        )

    rows = [
        row(f"{figure.label} (last third of the run)", figure.key, figure.value, figure.half_width)
        for figure in results.last_third
    ]
    rows += [
        row(_with_remark(figure, results), figure.key, figure.value, figure.half_width) for figure in results.table
    ]
    return rows


def _flow_name(results: Results) -> str:
    """What flow it is; without samples only its type."""
    if results.flow is not None:
        return results.flow.name
    of_case = str(value_at(results.run.case_text, *layout.SET_FLOW_TYPE.split(".")) or "")
    flow_type = results.run.parameters.flow_type if results.run.parameters is not None else of_case
    return NAMES.get(flow_type, flow_type)


def _with_remark(figure: Figure, results: Results) -> str:
    """The label of a figure from the statistics. It says so if the time series has a figure of this name, too."""
    if figure.key in RE_TAU:
        return f"{figure.label} (statistics)"
    return f"{figure.label}{results.remark_of(figure.key)}"


def _residuals(residuals: list[Figure], wall: str) -> list[Row]:
    """The total-stress residual of the profiles shown, below it those of the halves."""
    usual = Markup("2·10<sup>−4</sup> to 2·10<sup>−3</sup>")
    rows = []
    for residual in residuals:
        value = number(residual.value, residual.half_width)
        width = interval(residual.value, residual.half_width)
        if residual.key == "both" or len(residuals) == 1:
            rows.append(Row(Markup(with_wall("total-stress residual", wall)), value, width, usual))
        else:
            label = Markup("{} half, in its own u<sub>τ</sub>").format(residual.key)
            rows.append(Row(label, value, width, indented=True))
    return rows


def _percent_of_u_tau(results: Results) -> str:
    """The interval of u_tau in % of it; empty if it is not known, or u_tau imposed."""
    u_tau = results.figure("u_tau")
    if u_tau is None or not np.isfinite(u_tau.half_width) or is_exact(u_tau.value, u_tau.half_width):
        return ""
    return width_text(100 * u_tau.half_width / u_tau.value)


def _kolmogorov(budgets: EvaluatedBudgets) -> dict[str, Markup]:
    """The smallest Kolmogorov length and the largest cells in its units, with intervals."""
    names = ("eta_plus", "dx_over_eta", "dy_over_eta", "dz_over_eta")
    return {name: number_and_interval(*budgets.numbers[name]) for name in names}


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


def _performance(record: dict[str, Any], has_depth: bool) -> dict[str, Any]:
    """What run.json holds about the speed and the energy of the latest start; h is not the depth of every flow."""
    rows = {name: record[key] for key, name in _PERFORMANCE.items() if key in record}
    energy = record.get("energy")
    if isinstance(energy, dict) and "devices" in energy:
        count, device = energy["devices"], energy.get("device")
        energy = {**energy, "devices": f"{count} {device}{'' if count == 1 else 's'}"}
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


@functools.cache
def _template() -> Template:
    """Of the page."""
    environment = Environment(
        loader=PackageLoader("sluice_post"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(number=number, with_interval=number_and_interval, value_of_record=value_of_record)
    return environment.get_template("report.html")


def report_page(results: Results, figures: list[EmbeddedFigure], comparison: str) -> str:
    """The page. `comparison` is the text of the comparison with a reference; it may be empty."""
    run = results.run
    record, spectra = run.provenance, results.spectra
    is_ekman_layer = run.parameters is not None and run.parameters.is_ekman_layer
    return _template().render(
        results=results,
        run=run,
        published=results.published,
        flow_name=_flow_name(results),
        key_figures=key_figure_rows(results) + _residuals(results.residuals, run.profiles.wall if run.profiles else ""),
        verdicts=verdicts(results),
        figure_groups=[(wide, list(group)) for wide, group in groupby(figures, key=lambda figure: figure.wide)],
        comparison=comparison,
        performance=_performance(record, has_depth=not is_ekman_layer),
        phases=_phases(record),
        spectra_table=spectra_tables.table_text(spectra) if spectra else "",
        densities_table=density_tables.table_text(results.densities) if results.densities else "",
        scalars_table=scalar_numbers.table_text(results.scalars),
        falls=[spectra.fall(axis)[:2] for axis in AXES] if spectra else [],
        half_boxes=[spectra_tables.half_box(spectra, axis) for axis in AXES] if spectra else [],
        wall_units_percent=_percent_of_u_tau(results),
        kolmogorov=_kolmogorov(results.budgets) if results.budgets else None,
    )
