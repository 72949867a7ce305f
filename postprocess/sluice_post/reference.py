"""Published profiles that a user has downloaded, read into Sluice's names and wall units.

Layouts: Lee & Moser (.dat; v wall-normal, w spanwise), Moser, Kim & Mansour (chan*.means, .reystress, .skew,
.flat, .velp, .vortvar), del Alamo & Jimenez and Hoyas & Jimenez (.prof; rms values), tables whose first line
names components such as uu_12, and the CSV files of this program. Budgets: Lee & Moser (*_RSTE_*_prof.dat), Moser, Kim
& Mansour (chan*.kbal, .uubal, ...), Hoyas & Jimenez (.bal.kbal, .bal.uu, ...), and this program's budget_*.csv.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.budget_terms import FORCES, IMBALANCE, STRESSES, TERMS
from sluice_post.errors import InputOutputError
from sluice_post.flow import CHANNEL, COUETTE, OPEN_CHANNEL
from sluice_post.inputs import read_given
from sluice_post.profiles import CSV_COLUMNS

Convert = Callable[[Array, float], Array]  # (values, Re_tau) -> values in wall units


@dataclass(frozen=True)
class Reference:
    """Published profiles against z+, by Sluice's names of the profiles."""

    label: str
    re_tau: float
    re_tau_exact: bool  # False: only the last z+ of the table is known, which is just short of Re_tau
    z_plus: dict[str, Array]
    values: dict[str, Array]
    kind: str = CHANNEL  # of flow (flow.py), as far as the file tells
    citation: str = ""  # authors and year, if the header of the file names its paper


References: TypeAlias = Mapping[str, Reference]  # published budgets by the name of the stress


def kind_of(path: Path, header: Sequence[str]) -> str:
    """The kind of flow that the name or the header of a file tells; all other published files are of channels."""
    text = " ".join([path.name, *header]).lower()
    if "couette" in text:
        return COUETTE
    return OPEN_CHANNEL if re.search("open[ _-]?channel", text) else CHANNEL


# What a header says of the paper of its data. It names other papers, too, such as that of the numerical method.
_CITATIONS = {
    "Moser, Kim & Mansour": "Moser, Kim & Mansour (1999)",
    r"Lee and Robert D\. Moser.*\b2015\b": "Lee & Moser (2015)",
    r"Lee and Robert D\. Moser.*\b2018\b": "Lee & Moser (2018)",
    "Hoyas": "Hoyas & Jimenez (2008)",
}


def _citation(header: Sequence[str]) -> str:
    text = " ".join(header)
    return next((citation for words, citation in _CITATIONS.items() if re.search(words, text)), "")


def _same(values: Array, re_tau: float) -> Array:
    return values


def _negative(values: Array, re_tau: float) -> Array:
    return -values


def _root(values: Array, re_tau: float) -> Array:
    return np.sqrt(np.maximum(values, 0.0))


def _outer_gradient(values: Array, re_tau: float) -> Array:
    return values / re_tau


def _by_heading(tables: Mapping[Convert, Mapping[str, str]]) -> dict[str, tuple[str, Convert]]:
    """Column heading -> profile and what makes it one in wall units, from the headings of each profile."""
    return {
        heading: (name, convert)
        for convert, headings in tables.items()
        for name, of_name in headings.items()
        for heading in of_name.split()
    }


# Profile -> headings of Lee & Moser; Moser, Kim & Mansour; Hoyas & Jimenez; tables of components, as far as they have
# it. Their y is wall-normal, so v is our w.
_COLUMNS = _by_heading(
    {
        _same: {
            "U": "U Umean U+ u_1",
            "dUdz": "dU/dy -Om_z+ grad_u_12",
            "P": "P Pmean",
            "k": "k tke",
            "u_rms": "u'+",
            "w_rms": "v'+",
            "v_rms": "w'+",
            "p_rms": "p'",  # the whole pressure; pr'+ and ps'+ are its rapid and slow parts
            "omega_x_rms": "om_x'+",
            "omega_z_rms": "om_y'+",
            "omega_y_rms": "om_z'+",
            "skew_u": "S(u)",
            "skew_w": "S(v)",
            "flat_u": "F(u)",
            "flat_w": "F(v)",
            "flat_v": "F(w)",
        },
        _root: {
            "u_rms": "u'u' R_uu uu_11",
            "w_rms": "v'v' R_vv uu_22",
            "v_rms": "w'w' R_ww uu_33",
            "p_rms": "R_pp",
            "omega_x_rms": "W_xx",
            "omega_z_rms": "W_yy",
            "omega_y_rms": "W_zz",
        },
        _negative: {"minus_uw": "u'v' R_uv uv'+ uu_12"},
        _outer_gradient: {"dUdz": "dUmean/dy"},
    }
) | {column: (name, _same) for column, name in CSV_COLUMNS.items() if not column.endswith("residual")}
# Term -> headings of Lee & Moser, whose dissipation is positive; of the others.
_BUDGET_COLUMNS = _by_heading(
    {
        _same: {
            "production": "Production produc",
            "turbulent_transport": "Turbulent_Transport t-diff",
            "pressure_transport": "Pressure_Transport p-diff",
            "pressure_strain": "Pressure_Strain p-strain",
            "viscous_diffusion": "Viscous_Transport v-diff",
            "dissipation": "dissip",
            IMBALANCE: "Balance bal",
        },
        _negative: {"dissipation": "Viscous_Dissipation"},
    }
) | {name: (name, _same) for name in (*TERMS, *FORCES, IMBALANCE)}
# Their name of a stress, in the name of the file -> ours.
_STRESS_OF_FILE = {theirs: ours for ours, theirs in layout.LEE_MOSER_STRESSES.items()}

_Y_PLUS = ("y^+", "y+", "z_plus")
_Y_OUTER = ("y/delta", "y/h", "y", "z_over_h")
_FORTRAN_EXPONENT = re.compile(r"(?<=\d)[dD](?=[+-]?\d)")


def _split(line: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", line.strip()) if word]


def _numbers(line: str) -> list[float] | None:
    try:
        return [float(_FORTRAN_EXPONENT.sub("e", word)) for word in _split(line)]
    except ValueError:
        return None


def _lines(path: Path) -> list[str]:
    """The lines of a text file, stripped."""
    try:
        text = read_given(path, errors="replace")
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be read ({error.strerror or error})") from error
    return [line.strip() for line in text.splitlines()]


def header_of(path: Path) -> list[str]:
    """The lines of a text file that hold no row of numbers, without the signs of comments."""
    return [line.lstrip("#% ") for line in _lines(path) if line and _numbers(line) is None]


_LAYOUTS = "Lee & Moser .dat, MKM chan*.means and its kin, Hoyas & Jimenez .prof, and profiles.csv of sluice-post"


def parse_table(
    path: Path, abscissae: tuple[str, ...] = _Y_PLUS, layouts: str = _LAYOUTS
) -> tuple[list[str], list[str], Array]:
    """Header lines, column headings and the table of a text file.

    The headings are the last header line with one of the names in `abscissae`.
    """
    header: list[str] = []
    rows: list[list[float]] = []
    for number, line in enumerate(_lines(path), start=1):
        if not line:
            continue
        numbers = None if line[0] in "#%" else _numbers(line)
        if numbers is not None:
            rows.append(numbers)
        elif line[0] in "#%" or not rows:
            header.append(line.lstrip("#% "))
        else:
            raise InputOutputError(f"{path}: line {number}: neither numbers nor a comment: '{line[:60]}'")
    if not rows:
        raise InputOutputError(f"{path}: holds no rows of numbers")
    lines = [_split(line)[: len(rows[0])] for line in header]
    headings = next((words for words in reversed(lines) if any(name in words for name in abscissae)), [])
    if not headings:
        raise InputOutputError(
            f"{path}: no line of column headings with one of {', '.join(abscissae)}; known layouts are {layouts}"
        )
    if len({len(row) for row in rows}) > 1:
        raise InputOutputError(f"{path}: the rows differ in their number of values")
    return header, headings, np.array(rows)


def _re_tau(header: list[str], headings: list[str], table: Array, plus: Array) -> tuple[float, bool]:
    """Re_tau from y+ over y/h, which holds where a nominal value in the header does not; else the header.

    The second value is False if neither exists and the last y+ has to do.
    """
    for name in _Y_OUTER:
        if name in headings and (outer := table[-1, headings.index(name)]) > 0:
            return float(plus[-1] / outer), True
    if found := re.search(r"Re_?tau\s*=\s*([0-9]+(\.[0-9]*)?)", "\n".join(header)):
        return float(found.group(1)), True
    return float(plus[-1]), False


def _read(path: Path, columns: dict[str, tuple[str, Convert]]) -> Reference:
    """The columns of a file that have one of these headings."""
    header, headings, table = parse_table(path)
    plus = table[:, next(headings.index(name) for name in _Y_PLUS if name in headings)]
    re_tau, exact = _re_tau(header, headings, table, plus)
    keep = np.concatenate([[True], np.diff(plus) > 0])  # the wall is tabulated twice in some files
    z_plus, values = {}, {}
    for column, heading in enumerate(headings):
        if heading in columns:
            name, convert = columns[heading]
            converted = convert(table[:, column], re_tau)
            good = keep & np.isfinite(converted)
            if np.count_nonzero(good) >= 3:
                z_plus[name], values[name] = plus[good], converted[good]
    if not values:
        raise InputOutputError(
            f"{path}: none of its columns ({', '.join(headings)}) is a profile that sluice-post computes"
        )
    return Reference(path.name, re_tau, exact, z_plus, values, kind_of(path, header), _citation(header))


def read_reference(path: Path) -> Reference:
    """Reads one file of published profiles, in any of the known layouts."""
    return _read(path, _COLUMNS)


def holds_budget(path: Path) -> bool:
    """Whether a file of published data holds the terms of a budget, not profiles."""
    return "dissipation" in {_BUDGET_COLUMNS[name][0] for name in parse_table(path)[1] if name in _BUDGET_COLUMNS}


def read_budget_reference(path: Path) -> tuple[str, Reference]:
    """Reads a published budget: of which stress, which the name of the file says, and its terms."""
    own = re.fullmatch(rf"{layout.BUDGET_NAME.format('(' + '|'.join(STRESSES) + ')')}\.csv", path.name)
    theirs = re.search(r"[._](k|uu|vv|ww|uv)(bal$|_prof\.|$)", path.name)
    if own:
        stress = own.group(1)
    elif theirs and ".std." not in path.name:
        stress = _STRESS_OF_FILE[theirs.group(1)]
    else:
        raise InputOutputError(
            f"{path}: the name of the file does not say which budget it holds; known names are those of Lee & Moser "
            "(*_RSTE_uu_prof.dat), MKM (chan180.uubal), Hoyas & Jimenez (Re180.bal.uu), and budget_uu.csv"
        )
    return stress, _read(path, _BUDGET_COLUMNS)


def merged(references: list[Reference]) -> Reference:
    """Several files of one simulation as one; the first file that has a quantity provides it."""
    z_plus: dict[str, Array] = {}
    values: dict[str, Array] = {}
    for reference in references:
        for name in reference.values:
            z_plus.setdefault(name, reference.z_plus[name])
            values.setdefault(name, reference.values[name])
    label = ", ".join(reference.label for reference in references)
    best = next((r for r in references if r.re_tau_exact), references[0])
    citation = next((one.citation for one in references if one.citation), "")
    return Reference(label, best.re_tau, best.re_tau_exact, z_plus, values, best.kind, citation)


def read_references(files: Sequence[Path]) -> tuple[Reference | None, dict[str, Reference]]:
    """Published profiles, if there are any, and published budgets by the name of the stress."""
    budgets = [path for path in files if holds_budget(path)]
    profiles = [read_reference(path) for path in files if path not in budgets]
    return merged(profiles) if profiles else None, dict(read_budget_reference(path) for path in budgets)
