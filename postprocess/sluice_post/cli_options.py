"""How the commands of ``sluice-post`` are declared: next to what they do, in commands.py."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import Any, NamedTuple

from sluice_post.wall_view import SIDES

FORMATS = ("png", "pdf", "svg")  # of figures
WIDTHS = {"one": 86 / 25.4, "two": 178 / 25.4}  # of a column and of two in a journal, in inches
_INCHES = {"mm": 1 / 25.4, "cm": 1 / 2.54, "in": 1.0}
_NARROWEST, _WIDEST = 1.5, 20.0  # inches

Action = Callable[[argparse.Namespace], None]
Option = Callable[[Any], object]  # adds itself to a parser or to a group of one


class Command(NamedTuple):
    """A command: its help, an example, its options and what it does."""

    text: str
    example: str
    options: tuple[Option, ...]
    action: Action


COMMANDS: dict[str, Command] = {}  # in the order of the help


def command(example: str, text: str, *options: Option) -> Callable[[Action], Action]:
    """Declares a command, which the function below does; its name is the first word of the example."""

    def declare(action: Action) -> Action:
        COMMANDS[example.split()[0]] = Command(text, example, options, action)
        return action

    return declare


def option(name: str, text: str | None, **settings: Any) -> Option:
    """An option, or an argument, with its help and the settings of ArgumentParser.add_argument."""
    names = ("-o", name) if name == "--output" else (name,)
    return lambda parser: parser.add_argument(*names, help=text, **settings)


def files(name: str, text: str, **settings: Any) -> Option:
    """An option with one or more files."""
    return option(name, text, **{"type": Path, "nargs": "+", "metavar": "FILE"} | settings)


def output(metavar: str, text: str, **settings: Any) -> Option:
    """Where to write."""
    return option("--output", text, type=Path, metavar=metavar, **settings)


def one_of(*options: Option, required: bool = False) -> Option:
    """Options that exclude each other."""

    def add(parser: argparse.ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group(required=required)
        for of_group in options:
            of_group(group)

    return add


def number(convert: Callable[[str], Any], accepts: Callable[[Any], bool], fault: str) -> Callable[[str], Any]:
    """The type of an option that takes some numbers; `fault` says what another text is not."""

    def parse(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = nan
        if not accepts(value):
            raise argparse.ArgumentTypeError(f"'{text}' {fault}")
        return value

    return parse


count = number(int, lambda value: value >= 1, "is not a number of at least 1")
device_count = number(int, lambda value: value >= 1, "is not a number of devices")
positive_number = number(float, lambda value: 0 < value < inf, "is not a positive number")
port = number(int, lambda value: 0 <= value < 65536, "is not a port, a number from 0 to 65535")
_height = number(
    lambda text: inf if text == "centre" else float(text),
    lambda value: value > 0,
    "is neither a height z+ > 0 nor `centre`",
)


def parse_width(text: str) -> float:
    """Inches: of `one` column, of `two`, or of a length such as 86mm, 8.6cm and 3.4in."""
    if text in WIDTHS:
        return WIDTHS[text]
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)(mm|cm|in)", text)
    width = float(found[1]) * _INCHES[found[2]] if found else 0.0
    if not _NARROWEST <= width <= _WIDEST:
        raise argparse.ArgumentTypeError(f"'{text}' is neither one, two nor a length from 40mm to 500mm, such as 86mm")
    return width


def heights(default: str) -> Option:
    """Heights in wall units; what the default is, for the help."""
    return option("--at", f"heights in wall units, or `centre`; {default}", type=_height, nargs="+", metavar="Z+")


TIMES = (
    option("--from", "first time to use", dest="begin", type=float, metavar="T"),
    option("--to", "last time to use", dest="end", type=float, metavar="T"),
)
RUN = (option("directory", "output directory of a run", metavar="DIR", type=Path), *TIMES)
MEMBERS = option(
    "--members",
    "of an ensemble: names of members, or KEY=VALUE for all that have this value of the case; default: all",
    nargs="+",
    metavar="NAME",
)
POOLED = (*RUN, MEMBERS)  # a run, or an ensemble
SIDE = option(
    "--side",
    "wall from which the flow is seen; both: the mean of two symmetric halves; default: both if the halves are "
    "symmetric, else bottom",
    choices=SIDES,
)
LATEX = option("--latex", "also write the table to FILE, as LaTeX for the package booktabs", type=Path, metavar="FILE")
FOLDER = output("FOLDER", "folder to write to; default: DIR")
FIGURES = (
    option(
        "--format",
        f"formats of the figures, any of {', '.join(FORMATS)}; with pdf or svg, in sizes for print; default: png",
        dest="figure_formats",
        nargs="+",
        choices=FORMATS,
        default=(),
        metavar="FORMAT",
    ),
    option(
        "--width",
        "width of the figures in print: one (86 mm) or two columns (178 mm), or a length such as 86mm; default: "
        "one or two, whichever suits a figure",
        dest="figure_width",
        type=parse_width,
        metavar="WIDTH",
    ),
)
