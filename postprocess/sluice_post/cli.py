"""The command ``sluice-post``."""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sluice_post import __version__
from sluice_post.commands import COMMANDS
from sluice_post.errors import InputOutputError, PostError, UsageError


class _Parser(argparse.ArgumentParser):
    """A parser that fails if its help cannot be printed: argparse itself then ends with exit code 0."""

    def _print_message(self, message: str, file: Any = None) -> None:
        print(message, end="", file=file or sys.stderr, flush=True)


@functools.cache
def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    about = "Statistics, figures and reports from the output directory of a Sluice run."
    parser: argparse.ArgumentParser = _Parser(prog="sluice-post", description=about, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"sluice-post {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (text, example, options, _) in COMMANDS.items():
        of_command = subparsers.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=f"example:\n  sluice-post {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        for add_option in options:
            add_option(of_command)
    return parser


def _settle_output() -> None:
    """Writes what was printed, or drops it if that fails, so that Python does not fail once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _figures_asked(arguments: argparse.Namespace) -> AbstractContextManager[None]:
    """Within it, figures are written as the command line asks for."""
    formats = tuple(dict.fromkeys(getattr(arguments, "figure_formats", ())))
    width = getattr(arguments, "figure_width", None)
    if not formats and width is None:
        return nullcontext()
    from sluice_post.style import Output, written_as

    return written_as(Output(formats, width))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code: 0, 2 (usage) or 4 (input/output)."""
    try:
        parsed = build_parser().parse_args(arguments)
        begin, end = getattr(parsed, "begin", None), getattr(parsed, "end", None)
        if begin is not None and end is not None and end <= begin:
            raise UsageError(f"--to {end:g} is not after --from {begin:g}")
        with _figures_asked(parsed):
            COMMANDS[parsed.command].action(parsed)
        sys.stdout.flush()
    except PostError as error:
        print(f"sluice-post: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        _settle_output()  # the reader of a pipe has gone, as `| head` does: not an error
    except OSError as error:
        _settle_output()
        where = f"{error.filename}: " if error.filename is not None else ""
        print(f"sluice-post: {where}{error.strerror or error}", file=sys.stderr)
        return InputOutputError.exit_code
    return 0
