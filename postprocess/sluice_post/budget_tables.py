"""Tables of budgets: CSV files, and largest values and integrals for the terminal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sluice_post.budgets import IMBALANCE, EvaluatedBudgets, EvaluatedTerms
from sluice_post.export import columns_text
from sluice_post.profiles import with_wall
from sluice_post.scalar_budgets import EvaluatedScalarBudgets

Array = NDArray[np.float64]


def columns_of(evaluated: EvaluatedTerms, name: str) -> dict[str, Array]:
    """A budget as columns in wall units; `<term>_ci95` is the half width of an interval."""
    found = evaluated.found
    budget, bands = found.budgets[name], evaluated.bands.get(name, {})
    columns = {"z_over_h": budget.z / found.height, "z_plus": found.z_plus(name)}
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
    return columns_text(columns)


def table_rows(evaluated: EvaluatedTerms) -> list[str]:
    """Largest magnitudes of the terms of each budget, with a heading."""
    lines = [f"{'budget':<8}{'term':<22}{'largest':>12}{'+-':>10}{'at z+':>10}"]
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
            width = f"{bands[term][at]:>10.1e}" if term in bands else f"{'':>10}"
            z_plus = evaluated.found.z_plus(name)[at]
            lines.append(f"{name:<8}{term.replace('_', ' '):<22}{values[at]:>+12.5f}{width}{z_plus:>10.2f}")
    return lines


def integral_rows(evaluated: EvaluatedTerms, name: str, unit: str) -> list[str]:
    """The terms of a budget at the centres from the wall to h, over the production there."""
    found, terms = evaluated.found, evaluated.found.budgets[name].terms
    production = found.integral(terms["production"])
    lines = [f"{name} from the wall to h: production {production:.4g} {unit}, and in % of it:"]
    lines.append(f"  dissipation {100 * found.integral(terms['dissipation']) / production:+.2f}")
    lines.append(f"  imbalance {100 * found.integral(terms[IMBALANCE]) / production:+.2f}")
    if name in evaluated.storage:
        share = 100 * found.integral(evaluated.storage[name]) / production
        lines[-1] += f", of which storage (estimate) {share:+.2f}"
    return lines


def table_text(evaluated: EvaluatedBudgets) -> str:
    """Largest magnitudes of each budget as a table for the terminal."""
    found = evaluated.found
    lines = [
        f"{with_wall('wall units', found.wall)}: u_tau = {found.u_tau:.6g}, u_tau^4/nu = {found.unit:.6g}",
        "",
    ]
    lines += [*table_rows(evaluated), "", *integral_rows(evaluated, "k", "u_tau^3")]
    columns = found.kolmogorov_columns()
    sizes = ", ".join(f"{d}/eta {np.max(columns[f'{d}_over_eta']):.2f}" for d in ("dx", "dy", "dz"))
    lines += ["", f"Kolmogorov length: smallest eta+ {np.min(columns['eta_plus']):.2f}; largest {sizes}"]
    return "\n".join(lines)


def scalar_csv_text(evaluated: EvaluatedScalarBudgets, name: str) -> str:
    """A budget of a scalar as a CSV file."""
    return columns_text(columns_of(evaluated, name))


def scalar_table_text(evaluated: EvaluatedScalarBudgets) -> str:
    """Largest magnitudes of each budget of a scalar."""
    found = evaluated.found
    about = f"scalar {evaluated.title}, wall units: c_tau = {found.c_tau:.6g}, u_tau = {found.u_tau:.6g}"
    return "\n".join(
        [about, "", *table_rows(evaluated), "", *integral_rows(evaluated, "cc", "c_tau^2 u_tau")]
    )
