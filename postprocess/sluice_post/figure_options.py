"""Options of all commands of ``sluice-post`` that write figures: their formats and their width in print."""

from __future__ import annotations

import argparse
import re
from typing import TypeAlias

FORMATS = ("png", "pdf", "svg")
WIDTHS = {"one": 86 / 25.4, "two": 178 / 25.4}  # of a column and of two in a journal, in inches
DEFAULT_PANELS = ("mean_velocity", "fluctuations", "shear_stress", "budget:k")
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_DRAWING = ("report", "profiles", "compare", "budgets", "spectra", "densities", "phases", "probes", "study", "bench",
            "overlay")  # fmt: skip
_INCHES = {"mm": 1 / 25.4, "cm": 1 / 2.54, "in": 1.0}
_NARROWEST, _WIDEST = 1.5, 20.0  # inches


def parse_width(text: str) -> float:
    """Inches: of `one` column, of `two`, or of a length such as 86mm, 8.6cm and 3.4in."""
    if text in WIDTHS:
        return WIDTHS[text]
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)(mm|cm|in)", text)
    width = float(found[1]) * _INCHES[found[2]] if found else 0.0
    if not _NARROWEST <= width <= _WIDEST:
        raise argparse.ArgumentTypeError(f"'{text}' is neither one, two nor a length from 40mm to 500mm, such as 86mm")
    return width


def add_figure_options(parser: argparse.ArgumentParser) -> None:
    """--format and --width."""
    parser.add_argument(
        "--format",
        dest="figure_formats",
        nargs="+",
        choices=FORMATS,
        default=(),
        metavar="FORMAT",
        help=f"formats of the figures, any of {', '.join(FORMATS)}; with pdf or svg, in sizes for print; default: png",
    )
    parser.add_argument(
        "--width",
        dest="figure_width",
        type=parse_width,
        metavar="WIDTH",
        help="width of the figures in print: one (86 mm) or two columns (178 mm), or a length such as 86mm; default: "
        "one or two, whichever suits a figure",
    )


def add_to_commands(commands: Commands) -> None:
    """Adds these options to all commands that write figures."""
    for name in _DRAWING:
        add_figure_options(commands.choices[name])
