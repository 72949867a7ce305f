"""Tables of budgets: CSV files, and largest values and integrals for the terminal."""

from __future__ import annotations

from math import nan

import numpy as np

from sluice_post import export
from sluice_post.arrays import Array
from sluice_post.budgets import IMBALANCE, EvaluatedBudgets, EvaluatedTerms, integrals_of, numbers_of
from sluice_post.printed import with_interval
from sluice_post.scalar_budgets import EvaluatedScalarBudgets
from sluice_post.wall_view import with_wall


def columns_of(evaluated: EvaluatedTerms, name: str) -> dict[str, Array]:
    """A budget as columns in wall units; `<term>_ci95` is the half width of an interval."""
    found = evaluated.found
    budget, bands = found.budgets[name], evaluated.bands.get(name, {})
    columns = {"z_over_h": budget.z, "z_plus": found.z_plus(name)}
    for term, values in budget.terms.items():
        columns[term] = values
        if term in bands:
            columns[f"{term}_ci95"] = bands[term]
    if name in evaluated.storage:
        columns["storage"] = evaluated.storage[name]
    return columns


def csv_text(evaluated: EvaluatedBudgets, stress: str) -> str:
    """A budget as a CSV file."""
    columns = columns_of(evaluated, stress)
    if stress == "k":
        columns |= evaluated.found.kolmogorov_columns()
    return export.csv_text(columns)


def table_rows(evaluated: EvaluatedTerms) -> list[str]:
    """Largest magnitudes of the terms of each budget, with a heading."""
    lines = [f"{'budget':<8}{'term':<22}{'largest':>26}{'at z+':>10}"]
    for name, budget in evaluated.found.budgets.items():
        rows = dict(budget.terms)
        if name in evaluated.storage:
            rows["storage (estimate)"] = evaluated.storage[name]
        for term, values in rows.items():
            if (name, term) in evaluated.zero_by_symmetry:
                lines.append(f"{name:<8}{term:<22}  zero by symmetry")
                continue
            at = int(np.argmax(np.abs(values)))
            bands = evaluated.bands.get(name, {})
            width = float(bands[term][at]) if term in bands else nan
            number = with_interval(float(values[at]), width, sign="+", may_be_zero=True, scale=1)
            z_plus = evaluated.found.z_plus(name)[at]
            lines.append(f"{name:<8}{term.replace('_', ' '):<22}{number:>26}{z_plus:>10.2f}")
    return lines


def integral_rows(evaluated: EvaluatedTerms, name: str, unit: str) -> list[str]:
    """The integral of the production; dissipation and imbalance in % of it."""
    found, bands = evaluated.found, evaluated.number_bands
    values = integrals_of(found, name)
    production = with_interval(values["production"], bands.get("production", nan))
    lines = [f"{name} from the wall to the {found.far_end}: production {production} {unit}, and in % of it:"]
    for term in ("dissipation", IMBALANCE):
        number = with_interval(values[term], bands.get(term, nan), sign="+", may_be_zero=True, scale=100)
        lines.append(f"  {term} {number}")
    if name in evaluated.storage:
        share = 100 * found.integral(evaluated.storage[name]) / values["production"]
        lines[-1] += f", of which storage (estimate from the first and the last block) {share:+.2g}"
    return lines


def table_text(evaluated: EvaluatedBudgets) -> str:
    """Largest magnitudes of each budget as a table for the terminal."""
    values, bands, wall = numbers_of(evaluated.found), evaluated.number_bands, evaluated.found.wall
    number = {name: with_interval(value, bands.get(name, nan)) for name, value in values.items()}
    units = with_wall("wall units", wall)
    lines = [f"{units}: u_tau = {number['u_tau']}, u_tau^4/nu = {number['unit']}", ""]
    lines += [*table_rows(evaluated), "", *integral_rows(evaluated, "k", "u_tau^3")]
    sizes = ", ".join(f"{d}/eta {number[f'{d}_over_eta']}" for d in ("dx", "dy", "dz"))
    lines += ["", f"Kolmogorov length: smallest eta+ {number['eta_plus']}; largest {sizes}"]
    return "\n".join(lines)


def scalar_csv_text(evaluated: EvaluatedScalarBudgets, name: str) -> str:
    """A budget of a scalar as a CSV file."""
    return export.csv_text(columns_of(evaluated, name))


def scalar_table_text(evaluated: EvaluatedScalarBudgets) -> str:
    """Largest magnitudes of each budget of a scalar."""
    found = evaluated.found
    units = {"c_tau": found.c_tau, "u_tau": found.u_tau}
    number = {name: with_interval(value, evaluated.number_bands.get(name, nan)) for name, value in units.items()}
    about = f"scalar {evaluated.title}, wall units: c_tau = {number['c_tau']}, u_tau = {number['u_tau']}"
    return "\n".join([about, "", *table_rows(evaluated), "", *integral_rows(evaluated, "cc", "c_tau^2 u_tau")])
