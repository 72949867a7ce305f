"""Deviations of the budgets of a run from published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sluice_post.arrays import Array
from sluice_post.budget_terms import STRESSES
from sluice_post.budgets import wall_budgets
from sluice_post.compare_profiles import HEADING, Deviation, percent_of, row_text, summarized, with_rms
from sluice_post.parameters import FlowParameters
from sluice_post.reference import Reference
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import half_widths95
from sluice_post.wall_view import with_wall

References: TypeAlias = "Mapping[str, Reference]"  # by the name of the stress


@dataclass(frozen=True)
class BudgetDeviations:
    """Deviations of all terms that a published budget has, in % of its largest value; with intervals of the run."""

    stress: str
    re_tau: float
    wall: str  # of which the wall units are, where there is a choice
    reference: Reference
    terms: list[Deviation]


def budget_deviations(
    blocks: Blocks, parameters: FlowParameters, references: References, side: str | None = None
) -> list[BudgetDeviations]:
    """Deviations from the published budgets, in the order of STRESSES."""

    def percents(means: Means) -> dict[str, Array]:
        found, values = wall_budgets(means, parameters, side), {}
        for stress, published in references.items():
            scale = max(float(np.max(np.abs(column))) for column in published.values.values())
            for term, of_run in found.budgets[stress].terms.items():
                if term in published.values:
                    percent = percent_of(found.z_plus(stress), of_run, published, term, scale)
                    values[f"{stress} {term}"] = with_rms(percent)
        return values

    found, percent = wall_budgets(blocks.means(), parameters, side), percents(blocks.means())
    widths, deviations = half_widths95(percents, blocks), []
    for stress in STRESSES:
        if stress in references:
            rows = [
                summarized(term, found.z_plus(stress), percent[key], widths[key])
                for term in found.budgets[stress].terms
                if (key := f"{stress} {term}") in percent
            ]
            deviations.append(BudgetDeviations(stress, found.re_tau, found.wall, references[stress], rows))
    return deviations


def table_text(deviations: Sequence[BudgetDeviations]) -> str:
    """The comparison as tables for the terminal, one for each budget."""
    tables = []
    for budget in deviations:
        reference = budget.reference
        about = "" if reference.re_tau_exact else "about "
        lines = [
            f"budget of {budget.stress}, reference: {reference.label}",
            f"{with_wall('Re_tau', budget.wall)}: run {budget.re_tau:.2f}, reference {about}{reference.re_tau:.2f}",
            "deviation in % of the largest reference value of all terms; +-: 95 % interval of the run",
            f"{'term':<22}{HEADING}",
        ]
        lines += [f"{row.quantity.replace('_', ' '):<22}{row_text(row)}" for row in budget.terms if row.points > 0]
        tables.append("\n".join(lines))
    return "\n\n".join(tables)
