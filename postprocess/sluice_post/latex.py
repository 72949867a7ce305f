"""Tables for a paper: key figures, deviations and grid studies as LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from sluice_post.comparison import Comparison
from sluice_post.deviations import QUANTITIES, Deviation
from sluice_post.errors import UsageError
from sluice_post.key_figures import MAY_BE_ZERO, Figure
from sluice_post.opened_run import OpenedRun
from sluice_post.printed import in_math, with_interval
from sluice_post.results import Results
from sluice_post.study import Reference, StudyRun, error_of
from sluice_post.study_tables import HEADINGS, PLACES
from sluice_post.wall_view import with_wall

_SPECIAL = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''"}
)


def escaped(text: str) -> str:
    """Text such as a title, on one line, with LaTeX's special characters as what they are."""
    return " ".join(text.split()).translate(_SPECIAL)


def tabular(comments: Sequence[str], headings: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> str:
    """A table: comments above it, then lines of headings and rows, all of LaTeX and equally long."""
    above, below = ([rf"{' & '.join(row)} \\" for row in part] for part in (headings, rows))
    lines = [f"% {' '.join(comment.split())}" for comment in comments]
    lines += [rf"\begin{{tabular}}{{{'l' * len(headings[0])}}}", r"\toprule", *above]
    lines += [r"\midrule", *below, r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _source(name: str, begin: float, end: float) -> str:
    return f"{name}, t = {begin:g} to {end:g}; half widths of 95 % intervals"


def _figure(figure: Figure) -> str:
    may_be_zero = figure.key in MAY_BE_ZERO
    return in_math(with_interval(figure.value, figure.half_width, may_be_zero=may_be_zero, scale=float(may_be_zero)))


def _known(published: dict[str, float], key: str, half_width: float | None = None) -> str:
    return in_math(with_interval(published[key], half_width)) if key in published else "---"


def _percent(value: float, half_width: float, sign: str = "+") -> str:
    return in_math(with_interval(value, half_width, sign=sign, may_be_zero=True, scale=100))


def key_figure_table(results: Results) -> str:
    """The key figures of a run, beside those of the published simulation of its flow, if there is one."""
    run, published = results.run, results.published
    if run.blocks is None or not results.table:
        raise UsageError(f"{run.directory}: has no key figures for a table: {' '.join(run.missing)}")
    comments = [_source(run.name, *run.blocks.times)]
    lines = [["", "this run"]]
    lines += [[one.latex_label + results.remark_of(one.key), _figure(one)] for one in results.table]
    if published is not None:
        comments.append(f"published: {published.source}")
        lines[0].append(rf"{escaped(published.name)}, $Re_\tau = {published.re_tau:g}$")
        for line, one in zip(lines[1:], results.table, strict=True):
            line.append(_known(published.values, one.key))
    return tabular(comments, lines[:1], lines[1:])


def _deviations(comments: Sequence[str], what: str, rows: Sequence[tuple[str, Deviation]]) -> str:
    lines = [[what, r"largest deviation, \%", "at $z^+$", r"rms, \%"]]
    for name, row in rows:
        if row.points > 0:
            largest, rms = _percent(row.largest, row.largest_half_width), _percent(row.rms, row.rms_half_width, "")
            lines.append([name, largest, f"${row.at_z_plus:.2f}$", rms])
    return tabular(comments, lines[:1], lines[1:])


def deviation_tables(found: Comparison, run: OpenedRun) -> str:
    """Deviations of a run from published profiles, key figures and budgets: a table for each."""
    name = run.parameters.title or run.directory.resolve().name
    source = _source(with_wall(name, found.profiles.wall), *run.blocks.times)
    tables = []
    if found.reference is not None:
        comments = [source, f"in % of the largest value of {found.reference.label}"]
        tables.append(_deviations(comments, "profile", [(QUANTITIES[row.quantity], row) for row in found.deviations]))
    if found.key_figures:
        cells = [
            [row.figure.latex_label, _figure(row.figure), in_math(with_interval(row.published, None)),
             _percent(row.percent, row.half_width)]
            for row in found.key_figures
        ]  # fmt: skip
        tables.append(tabular([source], [["", "this run", "published", r"deviation, \%"]], cells))
    for budget in found.budgets:
        stress = "k" if budget.stress == "k" else rf"\langle {budget.stress[0]}'{budget.stress[1]}'\rangle"
        comments = [source, f"in % of the largest value of all terms of {budget.reference.label}"]
        terms = [(row.quantity.replace("_", " "), row) for row in budget.terms]
        tables.append(_deviations(comments, f"budget of ${stress}$", terms))
    return "\n".join(tables)


def study_tables(runs: Sequence[StudyRun], reference: Reference) -> str:
    """Key figures of the runs of a study and of its reference, and their errors."""
    published, known, widths = reference.published, reference.published.values, reference.half_widths
    keys = [key for name in HEADINGS for key in (name, PLACES.get(name, "")) if all(key in run.figures for run in runs)]
    comments = [_source(run.directory.resolve().name, *run.times) for run in runs]
    cells = [f"${run.cells}$".replace("x", r"\times") for run in runs]
    heads = [["order", *(f"${run.order}$" for run in runs)], ["cells", *cells]]
    values, errors = [], []
    for key in keys:
        name = runs[0].figures[key].latex_label
        values.append([name, *(_figure(run.figures[key]) for run in runs), _known(known, key, widths.get(key))])
        if key in known and key in HEADINGS:
            errors.append([name, *(_percent(*error_of(run, reference, key)) for run in runs)])
    beside = [[*heads[0], escaped(published.name)], [*heads[1], ""]]
    of_errors = tabular([*comments, f"errors in % against {published.source}"], heads, errors)
    return f"{tabular(comments, beside, values)}\n{of_errors}"
