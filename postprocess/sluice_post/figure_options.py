"""Options of all commands of ``sluice-post`` that write figures, and the commands that only draw.

What draws is imported inside: other commands do not need it.
"""

from __future__ import annotations

import argparse
import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypeAlias

FORMATS = ("png", "pdf", "svg")
WIDTHS = {"one": 86 / 25.4, "two": 178 / 25.4}  # of a column and of two in a journal, in inches
DEFAULT_PANELS = ("mean_velocity", "fluctuations", "shear_stress", "budget:k")
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

COMMANDS = ("report", "profiles", "compare", "budgets", "spectra", "densities", "phases", "probes", "study", "bench",
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
    """Adds the commands that only draw, and these options to all that write figures."""
    overlay = "draw several runs into one figure, also of different flows, with published data"
    example = "sluice-post overlay out/a out/b --label coarse fine --panel mean_velocity stresses budget:k -o runs.pdf"
    _add_overlay(_add_command(commands, "overlay", overlay, example))
    _add_movie(
        _add_command(commands, "movie", "write a movie of a slice", "sluice-post movie out --slice z0.1 -o u.mp4")
    )
    for name in COMMANDS:
        add_figure_options(commands.choices[name])


def figures_asked(arguments: argparse.Namespace) -> AbstractContextManager[None]:
    """Within it, figures are written as the command line asks for."""
    formats = tuple(dict.fromkeys(getattr(arguments, "figure_formats", ())))
    width = getattr(arguments, "figure_width", None)
    if not formats and width is None:
        return nullcontext()
    from sluice_post.style import Output, written_as

    return written_as(Output(formats, width))


def overlay(arguments: argparse.Namespace) -> None:
    """Draws several runs into one figure."""
    from sluice_post.overlay import write_overlay

    write_overlay(arguments)


def movie(arguments: argparse.Namespace) -> None:
    """Writes a movie of a slice."""
    from sluice_post.movie import movie_of

    movie_of(arguments)


ACTIONS = {"overlay": overlay, "movie": movie}


def _add_command(commands: Commands, name: str, text: str, example: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_overlay(parser: argparse.ArgumentParser) -> None:
    """The options of ``overlay``."""
    parser.add_argument("directories", metavar="DIR", type=Path, nargs="+", help="output directories of runs")
    parser.add_argument("--label", nargs="+", metavar="TEXT", help="a name for each DIR; default: that of the folder")
    parser.add_argument(
        "--panel",
        "--quantity",
        dest="panels",
        nargs="+",
        default=list(DEFAULT_PANELS),
        metavar="NAME[:ARGUMENT...]",
        help="panels of run.plot, such as mean_velocity, stresses, budget:uu, spectrum:uu:y, scalar:temperature:mean; "
        f"default: {' '.join(DEFAULT_PANELS)}",
    )
    parser.add_argument(
        "--reference",
        type=Path,
        nargs="+",
        action="append",
        metavar="FILE",
        help="published profiles, budgets and spectra of one simulation; repeated for others",
    )
    parser.add_argument("--from", dest="begin", type=float, metavar="T", help="first time to use")
    parser.add_argument("--to", dest="end", type=float, metavar="T", help="last time to use")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="figure: .pdf, .svg or .png")


def _add_movie(parser: argparse.ArgumentParser) -> None:
    """The options of ``movie``."""
    parser.add_argument("directory", metavar="DIR", type=Path, help="output directory of a run")
    parser.add_argument("--slice", required=True, metavar="LABEL", help="slice of the run, such as z0.1")
    parser.add_argument("--field", default="u", metavar="NAME", help="field of the slice; default: u")
    parser.add_argument("--from", dest="begin", type=float, metavar="T", help="first time to use")
    parser.add_argument("--to", dest="end", type=float, metavar="T", help="last time to use")
    parser.add_argument("--frames", type=int, default=1_000_000, metavar="N", help="at most so many; default: all")
    parser.add_argument("--rate", type=int, default=10, metavar="N", help="frames a second; default: 10")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="movie: .mp4 (needs ffmpeg) or .gif"
    )
