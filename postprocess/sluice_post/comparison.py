"""A run beside one published simulation: key figures, profiles and budgets; as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from sluice_post import deviations
from sluice_post.budgets import require_budgets
from sluice_post.deviations import BudgetDeviations, Deviation
from sluice_post.evaluated_run import EvaluatedRun
from sluice_post.flow import flow_of, held_reynolds
from sluice_post.flow_words import unknown_flow_note
from sluice_post.key_figures import Figure, percent_difference, published_of
from sluice_post.literature import Published, require
from sluice_post.printed import with_interval
from sluice_post.profiles import WallProfiles
from sluice_post.reference import Reference, read_references


@dataclass(frozen=True)
class KeyDifference:
    """A key figure beside the published one; the difference in %, with the half width of its 95 % interval."""

    figure: Figure
    published: float
    percent: float
    half_width: float


def key_differences(figures: Sequence[Figure], published: Published) -> list[KeyDifference]:
    """The key figures that both have."""
    return [
        KeyDifference(figure, expected, *percent_difference(figure, expected))
        for figure in figures
        if (expected := published.values.get(figure.key)) is not None
    ]


@dataclass(frozen=True)
class Comparison:
    """What a run and the published files have in common; `reference` holds the profiles, if any were given."""

    profiles: WallProfiles
    reference: Reference | None
    key_figures: list[KeyDifference]
    deviations: list[Deviation]
    budgets: list[BudgetDeviations]
    note: str = ""  # where the flow of the run is not a plain one, which files do not tell of themselves

    def __str__(self) -> str:
        """Tables for the terminal."""
        parts = [self.note] if self.note else []
        if self.reference is not None:
            parts.append(deviations.table_text(self.deviations, self.profiles, self.reference))
        if self.key_figures:
            width = max(26, *(len(row.figure.text_label) + 2 for row in self.key_figures))
            lines = [f"{'key figure':<{width}}{'run':>28}{'published':>11}{'deviation, %':>24}"]
            for row in self.key_figures:
                figure = row.figure
                percent = with_interval(row.percent, row.half_width, sign="+", may_be_zero=True, scale=100)
                lines.append(
                    f"{figure.text_label:<{width}}{with_interval(figure.value, figure.half_width):>28}"
                    f"{row.published:>11.5g}{percent:>24}"
                )
            parts.append("\n".join(lines))
        if self.budgets:
            parts.append(deviations.budget_table_text(self.budgets))
        return "\n\n".join(parts)


def compare_with(run: EvaluatedRun, files: Sequence[Path], asked: Sequence[str] | None = None) -> Comparison:
    """Compares a run with the published profiles and budgets in files; without any, with known key figures.

    `asked`: the quantities among the profiles.
    """
    blocks, parameters, side = run.blocks, run.parameters, run.selection.side
    reference, budgets = read_references(files)
    if budgets:
        require_budgets(blocks, parameters, run.directory)
    profiles, figures, flow = run.wall_profiles, run.table, flow_of(parameters)
    names = deviations.common_quantities(profiles, reference, asked) if reference is not None else []
    if files:
        published = published_of(reference or next(iter(budgets.values())), flow, budgets.get("k"))
    else:
        measured = {figure.key: figure.value for figure in figures}
        published = require(flow, held_reynolds(parameters, measured), measured["re_tau"])
    return Comparison(
        profiles,
        reference,
        key_differences(figures, published),
        deviations.deviations(blocks, parameters, reference, names, side) if reference is not None else [],
        deviations.budget_deviations(blocks, parameters, budgets, side) if budgets else [],
        unknown_flow_note(flow) if files else "",
    )


def _plain(value: Any) -> Any:
    """With null for numbers that are not known."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return None if isinstance(value, float) and not isfinite(value) else value


def _by_name(deviations: Sequence[Deviation]) -> dict[str, Any]:
    rows = [asdict(row) for row in deviations if row.points > 0]
    return {row.pop("quantity"): row for row in rows}


def json_text(found: Comparison) -> str:
    """The comparison as JSON: deviations in %, half widths of 95 % intervals, null for what is not known."""
    content: dict[str, Any] = {"re_tau": found.profiles.re_tau, "wall": found.profiles.wall or None}
    if found.note:
        content["note"] = found.note
    if found.reference is not None:
        content["reference"] = {"label": found.reference.label, "re_tau": found.reference.re_tau}
    content["key_figures"] = {
        row.figure.key: {
            "value": row.figure.value,
            "half_width": row.figure.half_width,
            "published": row.published,
            "deviation": row.percent,
            "deviation_half_width": row.half_width,
        }
        for row in found.key_figures
    }
    content["profiles"] = _by_name(found.deviations)
    content["budgets"] = {
        budget.stress: {
            "reference": {"label": budget.reference.label, "re_tau": budget.reference.re_tau},
            "terms": _by_name(budget.terms),
        }
        for budget in found.budgets
    }
    return json.dumps(_plain(content), indent=2) + "\n"
