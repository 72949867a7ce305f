"""Published profiles that a user has downloaded, read into Sluice's names and wall units.

Layouts: Lee & Moser (.dat; v wall-normal, w spanwise), Moser, Kim & Mansour (chan*.means, .reystress, .skew,
.flat, .velp, .vortvar), del Alamo & Jimenez and Hoyas & Jimenez (.prof; rms values), tables whose first line
names components such as uu_12, and the CSV files of this program. Budgets: Lee & Moser (*_RSTE_*_prof.dat), Moser, Kim
& Mansour (chan*.kbal, .uubal, ...), Hoyas & Jimenez (.bal.kbal, .bal.uu, ...), and this program's budget_*.csv.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

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


def kind_of(path: Path, header: Sequence[str]) -> str:
    """The kind of flow that the name or the header of a file tells; all other published files are of channels."""
    text = " ".join([path.name, *header]).lower()
    if "couette" in text:
        return COUETTE
    return OPEN_CHANNEL if re.search("open[ _-]?channel", text) else CHANNEL


def _same(values: Array, re_tau: float) -> Array:
    return values


def _negative(values: Array, re_tau: float) -> Array:
    return -values


def _root(values: Array, re_tau: float) -> Array:
    return np.sqrt(np.maximum(values, 0.0))


def _outer_gradient(values: Array, re_tau: float) -> Array:
    return values / re_tau


# Column heading -> profile and what makes it one in wall units. Their y is wall-normal, so v is our w.
_LEE_MOSER: dict[str, tuple[str, Convert]] = {
    "U": ("U", _same),
    "dU/dy": ("dUdz", _same),
    "P": ("P", _same),
    "u'u'": ("u_rms", _root),
    "v'v'": ("w_rms", _root),
    "w'w'": ("v_rms", _root),
    "u'v'": ("minus_uw", _negative),
    "k": ("k", _same),
}
_MKM: dict[str, tuple[str, Convert]] = {
    "Umean": ("U", _same),
    "dUmean/dy": ("dUdz", _outer_gradient),
    "Pmean": ("P", _same),
    "R_uu": ("u_rms", _root),
    "R_vv": ("w_rms", _root),
    "R_ww": ("v_rms", _root),
    "R_uv": ("minus_uw", _negative),
    "R_pp": ("p_rms", _root),
    "S(u)": ("skew_u", _same),
    "S(v)": ("skew_w", _same),
    "F(u)": ("flat_u", _same),
    "F(v)": ("flat_w", _same),
    "F(w)": ("flat_v", _same),
    "W_xx": ("omega_x_rms", _root),
    "W_yy": ("omega_z_rms", _root),
    "W_zz": ("omega_y_rms", _root),
}
_HOYAS_JIMENEZ: dict[str, tuple[str, Convert]] = {
    "U+": ("U", _same),
    "u'+": ("u_rms", _same),
    "v'+": ("w_rms", _same),
    "w'+": ("v_rms", _same),
    "-Om_z+": ("dUdz", _same),
    "om_x'+": ("omega_x_rms", _same),
    "om_y'+": ("omega_z_rms", _same),
    "om_z'+": ("omega_y_rms", _same),
    "uv'+": ("minus_uw", _negative),
    "p'": ("p_rms", _same),  # the whole pressure; pr'+ and ps'+ are its rapid and slow parts
}
_TENSOR: dict[str, tuple[str, Convert]] = {
    "u_1": ("U", _same),
    "grad_u_12": ("dUdz", _same),
    "uu_11": ("u_rms", _root),
    "uu_22": ("w_rms", _root),
    "uu_33": ("v_rms", _root),
    "uu_12": ("minus_uw", _negative),
    "tke": ("k", _same),
}
_OWN: dict[str, tuple[str, Convert]] = {
    column: (name, _same) for column, name in CSV_COLUMNS.items() if not column.endswith("residual")
}
_COLUMNS = {**_LEE_MOSER, **_MKM, **_HOYAS_JIMENEZ, **_TENSOR, **_OWN}

_BUDGET_COLUMNS: dict[str, tuple[str, Convert]] = {
    # Lee & Moser, dissipation positive
    "Production": ("production", _same),
    "Turbulent_Transport": ("turbulent_transport", _same),
    "Pressure_Transport": ("pressure_transport", _same),
    "Pressure_Strain": ("pressure_strain", _same),
    "Viscous_Transport": ("viscous_diffusion", _same),
    "Viscous_Dissipation": ("dissipation", _negative),
    "Balance": (IMBALANCE, _same),
    # Moser, Kim & Mansour; Hoyas & Jimenez
    "produc": ("production", _same),
    "t-diff": ("turbulent_transport", _same),
    "p-diff": ("pressure_transport", _same),
    "p-strain": ("pressure_strain", _same),
    "v-diff": ("viscous_diffusion", _same),
    "dissip": ("dissipation", _same),
    "bal": (IMBALANCE, _same),
    **{name: (name, _same) for name in (*TERMS, *FORCES, IMBALANCE)},
}
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


_LAYOUTS_OF_PROFILES = (
    "Lee & Moser .dat, MKM chan*.means and its kin, Hoyas & Jimenez .prof, and profiles.csv of sluice-post"
)


def parse_table(
    path: Path, abscissae: tuple[str, ...] = _Y_PLUS, layouts: str = _LAYOUTS_OF_PROFILES
) -> tuple[list[str], list[str], Array]:
    """Header lines, column headings and the table of a text file.

    The headings are the last header line with one of the names in `abscissae`.
    """
    header: list[str] = []
    rows: list[list[float]] = []
    for number, stripped in enumerate(_lines(path), start=1):
        if not stripped:
            continue
        if stripped[0] in "#%":
            header.append(stripped.lstrip("#% "))
            continue
        numbers = _numbers(stripped)
        if numbers is not None:
            rows.append(numbers)
        elif rows:
            raise InputOutputError(f"{path}: line {number}: neither numbers nor a comment: '{stripped[:60]}'")
        else:
            header.append(stripped)
    if not rows:
        raise InputOutputError(f"{path}: holds no rows of numbers")
    headings = next((words for words in map(_split, reversed(header)) if any(name in words for name in abscissae)), [])
    if not headings:
        raise InputOutputError(
            f"{path}: no line of column headings with one of {', '.join(abscissae)}; known layouts are {layouts}"
        )
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise InputOutputError(f"{path}: the rows differ in their number of values")
    return header, headings[:width], np.array(rows)


def _re_tau(header: list[str], headings: list[str], table: Array) -> tuple[float, bool]:
    """Re_tau from y+ over y/h, which holds where a nominal value in the header does not; else the header.

    The second value is False if neither exists and the last y+ has to do.
    """
    plus = table[:, next(headings.index(name) for name in _Y_PLUS if name in headings)]
    for name in _Y_OUTER:
        if name in headings:
            outer = table[:, headings.index(name)]
            if outer[-1] > 0:
                return float(plus[-1] / outer[-1]), True
    for line in header:
        found = re.search(r"Re_?tau\s*=\s*([0-9]+(\.[0-9]*)?)", line)
        if found:
            return float(found.group(1)), True
    return float(plus[-1]), False


def _read(path: Path, columns: dict[str, tuple[str, Convert]]) -> Reference:
    """The columns of a file that have one of these headings."""
    header, headings, table = parse_table(path)
    re_tau, exact = _re_tau(header, headings, table)
    plus = table[:, next(headings.index(name) for name in _Y_PLUS if name in headings)]
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
    return Reference(path.name, re_tau, exact, z_plus, values, kind_of(path, header))


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
    return Reference(label, best.re_tau, best.re_tau_exact, z_plus, values, best.kind)


def read_references(files: Sequence[Path]) -> tuple[Reference | None, dict[str, Reference]]:
    """Published profiles, if there are any, and published budgets by the name of the stress."""
    budgets = [path for path in files if holds_budget(path)]
    profiles = [read_reference(path) for path in files if path not in budgets]
    return merged(profiles) if profiles else None, dict(read_budget_reference(path) for path in budgets)
