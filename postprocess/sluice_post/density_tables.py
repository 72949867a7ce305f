"""Densities, wall shear and quadrants as tables: for the terminal and the report, and as CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.densities import FIELDS, SHEARS
from sluice_post.evaluated_densities import MIDDLES, Agreement, EvaluatedDensities, agreement
from sluice_post.export import csv_text
from sluice_post.printed import with_interval
from sluice_post.quadrants import HOLE_SIZES
from sluice_post.wall_view import with_wall

_CUT_OFF = "*"  # after a moment that the bins cut off


def _number(evaluated: EvaluatedDensities, name: str, plane: int | tuple[()] = (), may_be_zero: bool = False) -> str:
    value, width = float(evaluated.values[name][plane]), float(evaluated.width(name)[plane])
    return with_interval(value, width, sign="+" if may_be_zero else "", may_be_zero=may_be_zero, scale=1)


def _moment(evaluated: EvaluatedDensities, name: str, plane: int | tuple[()] = ()) -> str:
    """A moment with its interval, marked if it is cut off."""
    number = _number(evaluated, name, plane, may_be_zero=name.startswith("skewness"))
    return number + (_CUT_OFF if evaluated.is_cut_off(name)[plane] else "")


def _of_fields(evaluated: EvaluatedDensities) -> list[str]:
    lines = [f"{'':<6}{'z+':>8}{'rms+':>24}{'skewness':>24}{'flatness':>24}{'in end bins':>14}"]
    for field in FIELDS:
        in_end_bins = np.mean([h.in_end_bins for h in evaluated.found.histograms(field)], axis=0)
        zero = evaluated.found.is_odd(field)
        for n, z_plus in zip(evaluated.planes[field], evaluated.z_plus(field), strict=True):
            cells = [
                "zero by symmetry" if name == "skewness" and zero[n] else _moment(evaluated, f"{name}_{field}", int(n))
                for name in ("rms", "skewness", "flatness")
            ]
            lines.append(
                f"{field:<6}{z_plus:>8.4g}" + "".join(f"{cell:>24}" for cell in cells) + f"{in_end_bins[n]:>14.1e}"
            )
    return lines


def wall_shear_lines(evaluated: EvaluatedDensities) -> list[str]:
    """Moments of the wall shear, and how often the flow at the wall is reversed."""
    mean = "the mean wall stress" if evaluated.found.view.turns else "the mean of tau_x"
    lines = [
        f"{symbol} over {mean}: rms {_moment(evaluated, f'rms_{name}')}, "
        f"skewness {_moment(evaluated, f'skewness_{name}')}, "
        f"flatness {_moment(evaluated, f'flatness_{name}')}"
        for symbol, name in zip(("tau_x", "tau_y"), SHEARS, strict=True)
    ]
    backflow = f"probability of tau_x < 0 (reversed flow): {_number(evaluated, 'backflow')}"
    return [*lines, backflow, *cut_off_note(lines)]


def cut_off_note(lines: Sequence[str]) -> list[str]:
    """What the mark means, if one of the lines has it."""
    if not any(_CUT_OFF in line for line in lines):
        return []
    return [
        f"{_CUT_OFF}: values beyond the bins, which count in the end bins, would change this by more than its interval "
        "(estimated with exponential tails)"
    ]


_QUADRANT_NAMES = ("outward q1", "ejections q2", "inward q3", "sweeps q4")


def _of_quadrants(evaluated: EvaluatedDensities) -> list[str]:
    lines = [f"{'z+':>8}{'quadrant':>16}{'-uw+':>24}{'fraction of time':>24}"]
    for n, z_plus in zip(evaluated.planes["w"], evaluated.z_plus("w"), strict=True):
        for quadrant, name in zip(layout.QUADRANTS, _QUADRANT_NAMES, strict=True):
            part = _number(evaluated, f"minus_uw_q{quadrant}", int(n), may_be_zero=True)
            fraction = _number(evaluated, f"fraction_q{quadrant}", int(n))
            lines.append(f"{z_plus:>8.4g}{name:>16}{part:>24}{fraction:>24}")
        total = _number(evaluated, "minus_uw_all", int(n), may_be_zero=True)
        lines.append(f"{z_plus:>8.4g}{'all':>16}{total:>24}")
    return lines


def _agreement_line(row: Agreement) -> str:
    parts = [
        f"{text} {value:.1e}"
        for text, value in (
            ("mean/rms", row.mean),
            ("rms", row.rms),
            ("skewness", row.skewness),
            ("flatness", row.flatness),
        )
        if np.isfinite(value)
    ]
    return f"  {row.field}: {', '.join(parts)}" if parts else ""


def table_text(evaluated: EvaluatedDensities) -> str:
    """Moments at the chosen heights, wall shear, quadrants, and the agreement with statistics.h5."""
    blocks, of_fields = evaluated.loaded.blocks, _of_fields(evaluated)
    text = [
        f"densities: {blocks.samples.sum()} samples in {len(blocks)} blocks, t = {blocks.time_begin[0]:g} to "
        f"{blocks.time_end[-1]:g}; {with_wall('Re_tau', evaluated.found.view.wall)} = {evaluated.found.re_tau:.2f}",
        "",
        *of_fields,
        *cut_off_note(of_fields),
        "",
        *wall_shear_lines(evaluated),
        "",
        *_of_quadrants(evaluated),
        "",
        f"largest differences from the moments of {layout.STATISTICS_FILE}, "
        + ("of the same samples:" if evaluated.loaded.same_samples else "whose samples differ:"),
    ]
    return "\n".join([*text, *filter(None, map(_agreement_line, agreement(evaluated)))])


def _with_widths(evaluated: EvaluatedDensities, columns: dict[str, str]) -> dict[str, Array]:
    """Columns by the names of values, each with the half widths of its intervals if they are known."""
    found: dict[str, Array] = {}
    for column, name in columns.items():
        found[column] = evaluated.values[name].ravel()
        if evaluated.widths is not None:
            found[f"{column}_ci95"] = evaluated.widths[name].ravel()
    return found


def _density_csv(evaluated: EvaluatedDensities, field: str) -> str:
    z_plus = evaluated.z_plus(field)
    columns = {
        "z_over_h": np.repeat(z_plus / evaluated.found.re_tau, MIDDLES.size),
        "z_plus": np.repeat(z_plus, MIDDLES.size),
        f"{field}_over_rms": np.tile(MIDDLES, z_plus.size),
    }
    return csv_text(columns | _with_widths(evaluated, {"density": f"density_{field}"}))


def _shear_csv(evaluated: EvaluatedDensities, name: str) -> str:
    edges = evaluated.shear_edges[name]
    columns = {
        f"tau_{name[-1]}_over_mean_tau{'' if evaluated.found.view.turns else '_x'}": (edges[1:] + edges[:-1]) / 2
    }
    return csv_text(columns | _with_widths(evaluated, {"density": f"density_{name}"}))


def _profile_csv(
    evaluated: EvaluatedDensities, z: Array, columns: dict[str, str], more: Mapping[str, Array] | None = None
) -> str:
    positions = {"z_over_h": z, "z_plus": evaluated.found.plus(z)}
    return csv_text(positions | _with_widths(evaluated, columns) | dict(more or {}))


def _holes_csv(evaluated: EvaluatedDensities) -> str:
    z, sizes = evaluated.found.joint_z, HOLE_SIZES
    columns = {
        "z_over_h": np.repeat(z, sizes.size),
        "z_plus": np.repeat(evaluated.found.plus(z), sizes.size),
        "hole_size": np.tile(sizes, z.size),
    }
    for column, name in (("minus_uw_q{}_plus", "hole_minus_uw"), ("fraction_q{}", "hole_fraction")):
        for n, quadrant in enumerate(layout.QUADRANTS):
            columns[column.format(quadrant)] = evaluated.values[name][:, n].ravel()
            if evaluated.widths is not None:
                columns[f"{column.format(quadrant)}_ci95"] = evaluated.widths[name][:, n].ravel()
    return csv_text(columns)


def csv_texts(evaluated: EvaluatedDensities) -> dict[str, str]:
    """All tables by the names of their files."""
    texts = {f"{layout.DENSITY_NAME.format(field)}.csv": _density_csv(evaluated, field) for field in FIELDS}
    texts |= {f"{layout.DENSITY_NAME.format(name)}.csv": _shear_csv(evaluated, name) for name in SHEARS}
    for points, fields in (("centres", layout.CENTRE_HISTOGRAMS), ("faces", layout.FACE_HISTOGRAMS)):
        names: dict[str, str] = {}
        for field in fields:
            names |= {f"{field}_rms_plus": f"rms_{field}"}
            names |= {f"{moment}_{field}": f"{moment}_{field}" for moment in ("skewness", "flatness")}
        beyond = {f"{column}_beyond_bins": evaluated.beyond[name] for column, name in names.items()}
        texts[layout.DENSITY_MOMENTS_CSV.format(points)] = _profile_csv(
            evaluated, evaluated.found.z(fields[0]), names, beyond
        )
    quadrants = {f"minus_uw_q{n}_plus": f"minus_uw_q{n}" for n in layout.QUADRANTS}
    quadrants |= {f"fraction_q{n}": f"fraction_q{n}" for n in layout.QUADRANTS}
    texts[layout.QUADRANTS_CSV] = _profile_csv(evaluated, evaluated.found.z("w"), quadrants)
    if evaluated.found.joint_z.size:
        texts[layout.HOLES_CSV] = _holes_csv(evaluated)
    return texts
