"""Densities, wall shear and quadrants as tables: for the terminal and the report, and as CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from sluice_post import layout
from sluice_post.densities import FIELDS, SHEARS
from sluice_post.evaluated_densities import EvaluatedDensities, agreement
from sluice_post.export import dataset_text
from sluice_post.wall_view import with_wall

_CUT_OFF = "*"  # after a moment that the bins cut off
_QUADRANT_NAMES = ("outward q1", "ejections q2", "inward q3", "sweeps q4")


def _number(evaluated: EvaluatedDensities, name: str, plane: int | tuple[()] = (), may_be_zero: bool = False) -> str:
    return evaluated.number(name, plane, sign="+" if may_be_zero else "", may_be_zero=may_be_zero, scale=1)


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
            rms, skewness, flatness = (
                _moment(evaluated, f"{name}_{field}", n) for name in ("rms", "skewness", "flatness")
            )
            skewness = "zero by symmetry" if zero[n] else skewness
            lines.append(f"{field:<6}{z_plus:>8.4g}{rms:>24}{skewness:>24}{flatness:>24}{in_end_bins[n]:>14.1e}")
    return lines


def wall_shear_lines(evaluated: EvaluatedDensities) -> list[str]:
    """Moments of the wall shear, and how often the flow at the wall is reversed."""
    mean = "the mean wall stress" if evaluated.found.view.turns else "the mean of tau_x"
    lines = []
    for name in SHEARS:
        of = (f"{moment} {_moment(evaluated, f'{moment}_{name}')}" for moment in ("rms", "skewness", "flatness"))
        lines.append(f"tau_{name[-1]} over {mean}: {', '.join(of)}")
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


def _of_quadrants(evaluated: EvaluatedDensities) -> list[str]:
    lines = [f"{'z+':>8}{'quadrant':>16}{'-uw+':>24}{'fraction of time':>24}"]
    for n, z_plus in zip(evaluated.planes["w"], evaluated.z_plus("w"), strict=True):
        for quadrant, name in zip(layout.QUADRANTS, _QUADRANT_NAMES, strict=True):
            part = _number(evaluated, f"minus_uw_q{quadrant}", n, may_be_zero=True)
            fraction = _number(evaluated, f"fraction_q{quadrant}", n)
            lines.append(f"{z_plus:>8.4g}{name:>16}{part:>24}{fraction:>24}")
        lines.append(f"{z_plus:>8.4g}{'all':>16}{_number(evaluated, 'minus_uw_all', n, may_be_zero=True):>24}")
    return lines


def table_text(evaluated: EvaluatedDensities) -> str:
    """Moments at the chosen heights, wall shear, quadrants, and the agreement with statistics.h5."""
    blocks, of_fields = evaluated.loaded.blocks, _of_fields(evaluated)
    text = [
        f"densities: {blocks.samples.sum()} samples in {len(blocks)} blocks, t = {blocks.time_begin[0]:g} to "
        f"{blocks.time_end[-1]:g}; {with_wall('Re_tau', evaluated.found.wall)} = {evaluated.found.re_tau:.2f}",
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
    for field, row in agreement(evaluated).items():
        if row:
            text.append(f"  {field}: {', '.join(f'{name} {value:.1e}' for name, value in row.items())}")
    return "\n".join(text)


def _profiles(evaluated: EvaluatedDensities, z: str, columns: Mapping[str, str | xr.DataArray]) -> str:
    return dataset_text(evaluated.dataset, {"z_over_h": z, "z_plus": f"{z}_plus"} | dict(columns))


def csv_texts(evaluated: EvaluatedDensities) -> dict[str, str]:
    """All tables by the names of their files."""
    found, texts = evaluated.dataset, {}
    for field in FIELDS:
        z_plus = xr.DataArray(evaluated.z_plus(field), dims="height")
        columns = {"z_over_h": z_plus / evaluated.found.re_tau, "z_plus": z_plus, f"{field}_over_rms": "deviation"}
        texts[layout.DENSITY_NAME.format(field)] = dataset_text(found, columns | {"density": f"density_{field}"})
    mean = "mean_tau" if evaluated.found.view.turns else "mean_tau_x"
    for name in SHEARS:
        columns = {f"tau_{name[-1]}_over_{mean}": name, "density": f"density_{name}"}
        texts[layout.DENSITY_NAME.format(name)] = dataset_text(found, columns)
    for points, z, fields in (("centres", "z", layout.CENTRE_HISTOGRAMS), ("faces", "z_face", layout.FACE_HISTOGRAMS)):
        columns = {}
        for field in fields:
            columns[f"{field}_rms_plus"] = f"rms_{field}"
            columns |= {f"{moment}_{field}": f"{moment}_{field}" for moment in ("skewness", "flatness")}
        beyond = {f"{column}_beyond_bins": evaluated.beyond[name] for column, name in columns.items()}
        columns |= {column: xr.DataArray(values, dims=z) for column, values in beyond.items()}
        texts[layout.DENSITY_MOMENTS_CSV.format(points)] = _profiles(evaluated, z, columns)
    columns = {f"minus_uw_q{n}_plus": f"minus_uw_q{n}" for n in layout.QUADRANTS}
    columns |= {f"fraction_q{n}": f"fraction_q{n}" for n in layout.QUADRANTS}
    texts[layout.QUADRANTS_CSV] = _profiles(evaluated, "z_face", columns)
    if evaluated.found.joint_z.size:
        columns = {"hole_size": "hole_size"}
        for column, name in (("minus_uw_q{}_plus", "hole_minus_uw"), ("fraction_q{}", "hole_fraction")):
            for n in layout.QUADRANTS:
                for ending in ("", "_ci95"):
                    if name + ending in found:
                        columns[column.format(n) + ending] = found[name + ending].sel(quadrant=n)
        texts[layout.HOLES_CSV] = _profiles(evaluated, "z_joint", columns)
    return {f"{name.removesuffix('.csv')}.csv": text for name, text in texts.items()}
