"""What docs/stability.md promises of Python: the names and arguments of version 1.0 are still there.

stable_names_1.0.txt lists them. With SLUICE_UPDATE_STABLE=1 new names are added to it; none is ever removed.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sluice
import sluice_post
from sluice_post.cli import build_parser
from sluice_post.evaluated_run import EvaluatedRun
from sluice_post.opened_run import OpenedRun
from sluice_post.opened_study import Study
from sluice_post.plots import RunPlots

# Of a run that is opened, what postprocess/README.md documents; its other members serve figures and reports.
OF_RUNS = {
    "at_heights", "between", "blocks", "budgets", "checkpoints", "compare", "densities", "derived", "fields",
    "key_figures", "phases", "plot", "probes", "profiles", "scalar_budgets", "scalar_spectra", "scalars", "seen_from",
    "series", "slices", "spectra", "table", "time_series",
}  # fmt: skip
STORED = Path(__file__).parent / "stable_names_1.0.txt"


def arguments(name: str, function: Any) -> Iterator[str]:
    """The arguments of a function by their names; those of compiled functions are not known."""
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    yield from (f"{name}({argument})" for argument in found if argument not in ("self", "args", "kwargs"))


def names(path: str, thing: Any) -> Iterator[str]:
    """A function with its arguments, or a class with its public members and theirs."""
    yield path
    if inspect.isclass(thing):
        for member in (member for member in dir(thing) if not member.startswith("_")):
            yield f"{path}.{member}"
            if inspect.isroutine(getattr(thing, member)):
                yield from arguments(f"{path}.{member}", getattr(thing, member))
    elif inspect.isroutine(thing):
        yield from arguments(path, thing)


def options() -> Iterator[str]:
    """The commands of sluice-post and their options."""
    subparsers = next(a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    for command, parser in subparsers.choices.items():
        yield f"sluice-post {command}"
        yield from (f"sluice-post {command} {option}" for a in parser._actions for option in a.option_strings)


def test_names_of_version_1_are_still_there() -> None:
    present = set(options())
    for package in (sluice, sluice_post):
        for name in package.__all__:
            present |= set(names(f"{package.__name__}.{name}", getattr(package, name)))
    for thing in (OpenedRun, Study, RunPlots):
        present |= set(names(f"sluice_post: {thing.__name__}", thing))
    internal = {name for name in vars(OpenedRun) | vars(EvaluatedRun) if name not in OF_RUNS}
    present = {name for name in present if not re.match(rf"sluice_post: OpenedRun\.({'|'.join(internal)})\b", name)}
    stored = set(STORED.read_text().splitlines())
    if os.environ.get("SLUICE_UPDATE_STABLE"):
        STORED.write_text("".join(f"{name}\n" for name in sorted(stored | present)))
    assert sorted(stored - present) == []
    assert len(stored) > 300
