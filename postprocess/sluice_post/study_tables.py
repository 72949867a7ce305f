"""Tables of a grid study, as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from math import inf, isfinite, nan

from sluice_post.key_figures import Figure
from sluice_post.printed import at_place, exact_text, is_determined, is_exact, with_interval
from sluice_post.study import COSTS, Cost, CostRatio, Reference, StudyRun, cost_ratio, costs_of, error_of
from sluice_post.wall_view import MEAN_OF_WALLS

# Key figures of the tables, with their headings and the factor they are multiplied by there; a peak is followed by its
# place.
HEADINGS = {
    "re_tau": ("Re_tau", 1),
    "cf": ("1000 C_f", 1000),
    "u_c_plus": ("U_c+", 1),
    "u_peak": ("peak u'+", 1),
    "v_peak": ("peak v'+", 1),
    "w_peak": ("peak w'+", 1),
    "uw_peak": ("peak -uw+", 1),
    "dissipation": ("dissipation", 1),
}
PLACES = {key: f"{key}_z" for key in HEADINGS if key.endswith("_peak")}
COST_LABELS = {"point_steps": "point-steps per h/u_tau", "seconds": "seconds per h/u_tau"}


def number_text(value: float, half_width: float = nan, sign: str = "") -> str:
    """A number with its interval, if it is known; empty if the number is not."""
    if not isfinite(value):
        return ""
    if not isfinite(half_width) or is_exact(value, half_width, scale=1):
        return exact_text(value, sign, scale=1, digits=4)
    return with_interval(value, half_width, sign=sign, may_be_zero=True, plus_minus="±")


def place_text(place: float, half_width: float) -> str:
    """Where a peak is, to follow its value: with its interval, if it is known."""
    if not isfinite(half_width):
        return f" at {place:.1f}"
    if not is_determined(place, half_width):
        return at_place(place, half_width, heading=True, plus_minus="±")
    return f" at {number_text(place, half_width)}"


def _ratio_text(ratio: CostRatio) -> str:
    """For example `3.1 (2.2 to 4.5)`, or only the bound that there is."""
    value, low, high = (f"{number:.2g}" for number in (ratio.value, ratio.low, ratio.high))
    if ratio.high == inf:
        bounds = f"> {low}" if ratio.low > 0 else ""
    else:
        bounds = f"{low} to {high}" if ratio.low > 0 else f"< {high}"
    if not isfinite(ratio.value):
        return bounds or "not known"
    return value if low == high or not bounds else f"{value} ({bounds})"


def markdown_table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cost_rows(runs: Sequence[StudyRun]) -> str:
    heading = [
        *("order", "cells", "dx+", "dy+", "first z+", "dt", "h/u_tau averaged", "steps per h/u_tau"),
        *("million point-steps per h/u_tau", COST_LABELS["seconds"], "device"),
    ]
    rows = []
    for run in runs:
        size = run.resolution
        row = [str(run.order), run.cells, f"{size.dx_plus:.1f}", f"{size.dy_plus:.1f}"]
        row += [f"{size.first_centre_plus:.3f}", number_text(run.dt), f"{size.turnovers:.1f}", number_text(run.steps)]
        rows.append([*row, number_text(run.point_steps / 1e6), number_text(run.seconds), run.device])
    return markdown_table(heading, rows)


def _figure_rows(runs: Sequence[StudyRun], reference: Reference) -> str:
    def cell(figures: dict[str, float], widths: dict[str, float], key: str) -> str:
        factor = HEADINGS[key][1]
        text = number_text(figures.get(key, nan) * factor, widths.get(key, nan) * factor)
        place = PLACES.get(key, "")
        return f"{text}{place_text(figures[place], widths.get(place, nan))}" if place in figures else text

    rows = []
    for run in runs:
        values = {key: figure.value for key, figure in run.figures.items()}
        widths = {key: figure.half_width for key, figure in run.figures.items()}
        rows.append([str(run.order), run.cells, *(cell(values, widths, key) for key in HEADINGS)])
    known = (cell(reference.published.values, reference.half_widths, key) for key in HEADINGS)
    rows.append(["", reference.published.name, *known])
    return markdown_table(["order", "cells", *(heading for heading, _ in HEADINGS.values())], rows)


def _error_rows(runs: Sequence[StudyRun], reference: Reference) -> str:
    keys = [key for key in HEADINGS if key in reference.published.values]
    rows = [
        [str(run.order), run.cells, *(number_text(*error_of(run, reference, key), sign="+") for key in keys)]
        for run in runs
    ]
    return markdown_table(["order", "cells", *(HEADINGS[key][0].removeprefix("1000 ") for key in keys)], rows)


def _ratio_rows(runs: Sequence[StudyRun], reference: Reference, cost: Cost) -> str:
    keys = [key for key in HEADINGS if key in reference.published.values]
    rows = [
        [run.cells, *(_ratio_text(cost_ratio(runs, run, reference, key, cost)) for key in keys)]
        for run in runs
        if run.order == 4
    ]
    return markdown_table(["order 4 on", *(HEADINGS[key][0].removeprefix("1000 ") for key in keys)], rows)


def _of_wall(runs: Sequence[StudyRun]) -> str:
    """Where the walls differ: whose wall units they are, and what Re_tau and C_f are."""
    wall = runs[0].resolution.wall
    return f" of the {wall} (Re_tau and C_f: {MEAN_OF_WALLS})" if wall else ""


def table_text(runs: Sequence[StudyRun], reference: Reference) -> str:
    """All tables, as Markdown."""
    published = reference.published
    parts = [
        "Grid and cost:",
        _cost_rows(runs),
        f"Key figures in wall units{_of_wall(runs)}, with 95 % intervals; peaks at z+:",
        _figure_rows(runs, reference),
        f"Errors in % against {published.source}, Re_tau = {published.re_tau:.5g}:",
        _error_rows(runs, reference),
    ]
    if {run.order for run in runs} >= {2, 4}:
        for name in costs_of(runs):
            parts.append(f"Cost of order 2 over order 4 at the error of order 4, in {COST_LABELS[name]}:")
            parts.append(_ratio_rows(runs, reference, COSTS[name]))
    return "\n\n".join(parts)


def csv_text(runs: Sequence[StudyRun], reference: Reference) -> str:
    """One line for each run, with all digits."""
    text = io.StringIO()
    keys = [key for heading in HEADINGS for key in (heading, PLACES.get(heading)) if key]
    columns = ["directory", "order", "nx", "ny", "nz", "dx_plus", "dy_plus", "first_z_plus", "dz_centre_plus", "dt"]
    columns += ["turnovers_averaged", "steps_per_turnover", "point_steps_per_turnover", "seconds_per_turnover"]
    columns += ["device"]
    columns += [f"{key}{suffix}" for key in keys for suffix in ("", "_ci95", "_error_percent", "_error_ci95")]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for run in runs:
        size = run.resolution
        row: list[object] = [run.directory, run.order, *run.parameters.cells]
        numbers = [size.dx_plus, size.dy_plus, size.first_centre_plus, size.dz_centre_plus, run.dt]
        numbers += [size.turnovers, run.steps, run.point_steps, run.seconds]
        row += [*(f"{number:.10g}" for number in numbers), run.device]
        for key in keys:
            figure = run.figures.get(key, Figure(key, "", nan))
            numbers = [figure.value, figure.half_width, *error_of(run, reference, key)]
            row += [f"{number:.10g}" for number in numbers]
        writer.writerow(row)
    return text.getvalue()
