"""Tables of a grid study, as Markdown and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, nan

import pandas as pd

from sluice_post.key_figures import Figure
from sluice_post.printed import at_place, exact_text, is_determined, is_exact, with_interval
from sluice_post.study import COSTS, Bounded, Reference, StudyRun, cost_ratio, costs_of, error_of
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


def bounded_text(number: Bounded) -> str:
    """For example `3.1 (2.2 to 4.5)`, or only the bound that there is."""
    value, low, high = (f"{one:.2g}" for one in number)
    if number.high == inf:
        bounds = f"> {low}" if number.low > 0 else ""
    else:
        bounds = f"{low} to {high}" if number.low > 0 else f"< {high}"
    if not isfinite(number.value):
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
    def cell(figures: dict[str, tuple[float, float]], key: str) -> str:
        factor = HEADINGS[key][1]
        value, width = figures.get(key, (nan, nan))
        place = figures.get(PLACES.get(key, ""))
        return number_text(value * factor, width * factor) + (place_text(*place) if place is not None else "")

    rows = []
    for run in runs:
        figures = {key: (figure.value, figure.half_width) for key, figure in run.figures.items()}
        rows.append([str(run.order), run.cells, *(cell(figures, key) for key in HEADINGS)])
    known = {key: (value, reference.half_widths.get(key, nan)) for key, value in reference.published.values.items()}
    rows.append(["", reference.published.name, *(cell(known, key) for key in HEADINGS)])
    return markdown_table(["order", "cells", *(heading for heading, _ in HEADINGS.values())], rows)


def table_text(runs: Sequence[StudyRun], reference: Reference) -> str:
    """All tables, as Markdown."""
    published, wall = reference.published, runs[0].resolution.wall
    of_wall = f" of the {wall} (Re_tau and C_f: {MEAN_OF_WALLS})" if wall else ""  # whose wall units they are
    keys = [key for key in HEADINGS if key in published.values]
    names = [HEADINGS[key][0].removeprefix("1000 ") for key in keys]
    errors = [
        [str(run.order), run.cells, *(number_text(*error_of(run, reference, key), sign="+") for key in keys)]
        for run in runs
    ]
    parts = [
        "Grid and cost:",
        _cost_rows(runs),
        f"Key figures in wall units{of_wall}, with 95 % intervals; peaks at z+:",
        _figure_rows(runs, reference),
        f"Errors in % against {published.source}, Re_tau = {published.re_tau:.5g}:",
        markdown_table(["order", "cells", *names], errors),
    ]
    for name in costs_of(runs) if {run.order for run in runs} >= {2, 4} else []:
        ratios = [
            [run.cells, *(bounded_text(cost_ratio(runs, run, reference, key, COSTS[name])) for key in keys)]
            for run in runs
            if run.order == 4
        ]
        parts.append(f"Cost of order 2 over order 4 at the error of order 4, in {COST_LABELS[name]}:")
        parts.append(markdown_table(["order 4 on", *names], ratios))
    return "\n\n".join(parts)


def csv_text(runs: Sequence[StudyRun], reference: Reference) -> str:
    """One line for each run, with all digits."""
    keys = [key for heading in HEADINGS for key in (heading, PLACES.get(heading)) if key]
    rows = []
    for run in runs:
        size = run.resolution
        row: dict[str, object] = {"directory": run.directory, "order": run.order}
        row |= dict(zip(("nx", "ny", "nz"), run.parameters.cells, strict=True))
        row |= {"dx_plus": size.dx_plus, "dy_plus": size.dy_plus, "first_z_plus": size.first_centre_plus}
        row |= {"dz_centre_plus": size.dz_centre_plus, "dt": run.dt, "turnovers_averaged": size.turnovers}
        row |= {"steps_per_turnover": run.steps, "point_steps_per_turnover": run.point_steps}
        row |= {"seconds_per_turnover": run.seconds, "device": run.device}
        for key in keys:
            figure, (error, width) = run.figures.get(key, Figure(key, "", nan)), error_of(run, reference, key)
            row |= {key: figure.value, f"{key}_ci95": figure.half_width}
            row |= {f"{key}_error_percent": error, f"{key}_error_ci95": width}
        rows.append(row)
    return str(pd.DataFrame(rows).to_csv(index=False, float_format="%.10g", na_rep="nan"))
