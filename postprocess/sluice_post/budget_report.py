"""Budgets of Reynolds stresses and of scalars in a report and in the commands: entries of figures, tables."""

from __future__ import annotations

from pathlib import Path

from sluice_post import export, layout
from sluice_post.budget_figures import LARGE, NAMES, budget_figure
from sluice_post.budgets import EvaluatedBudgets, csv_text
from sluice_post.reference import References
from sluice_post.report_entries import Entry, of_wall

_STORAGE = "the storage is the rate of change from the first to the last block of statistics."
_CAPTION = f"Terms in wall units, dissipation negative. The imbalance is their sum; {_STORAGE}"
_OF_SCALARS = {
    "cc": "Of ΘΘ, which is twice that of ΘΘ/2, in units of c_τ²u_τ²/ν.",
    "uc": "Of uΘ, in units of c_τu_τ³/ν.",
    "wc": "Of wΘ, which is negative, in units of c_τu_τ³/ν.",
}


def _file(evaluated: EvaluatedBudgets, budget: str) -> str:
    """The name of the CSV file and of the figure of a budget, without their suffixes."""
    if evaluated.name:
        return layout.SCALAR_BUDGET_NAME.format(evaluated.name, budget)
    return layout.BUDGET_NAME.format(budget)


def entries_of(evaluated: EvaluatedBudgets, references: References) -> list[Entry]:
    """The figures of the budgets; circles: published ones."""

    def entry(budget: str) -> Entry:
        of_scalar = f": {evaluated.title}" if evaluated.title else ""
        caption = f"{_OF_SCALARS[budget]} The imbalance is the sum of the terms; {_STORAGE}" if of_scalar else _CAPTION
        caption += " Bands: 95 % confidence intervals." if evaluated.has_intervals else ""
        caption += f" Circles: {references[budget].label}." if budget in references else ""
        return Entry(
            _file(evaluated, budget),
            f"Budget of the {NAMES[budget]}{of_scalar}",
            caption,
            lambda: budget_figure(evaluated, budget, references),
            wide=budget in LARGE,
        )

    return of_wall([entry(budget) for budget in evaluated.data], evaluated.found.wall)


def write_tables(evaluated: EvaluatedBudgets, folder: Path) -> list[Path]:
    """A CSV file for each budget; their paths."""
    texts = {_file(evaluated, budget): csv_text(data) for budget, data in evaluated.data.items()}
    return export.write_tables(folder, texts)
