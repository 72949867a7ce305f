"""The command ``sluice-post``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from math import inf, nan
from pathlib import Path
from typing import TypeAlias

from sluice_post import __version__, commands
from sluice_post.errors import PostError, UsageError
from sluice_post.profiles import SIDES


def _add_directory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", type=Path, help="output directory of a run")
    _add_times(parser)


def _add_times(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="begin", type=float, metavar="T", help="first time to use")
    parser.add_argument("--to", dest="end", type=float, metavar="T", help="last time to use")


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _command(commands: Commands, name: str, text: str, example: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _height(text: str) -> float:
    """z+, or inf for the centre."""
    try:
        height = inf if text == "centre" else float(text)
    except ValueError:
        height = nan
    if not height > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a height z+ > 0 nor `centre`")
    return height


def _count(text: str) -> int:
    """A number of at least 1."""
    count = int(text) if text.isdecimal() else 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return count


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="sluice-post",
        description="Statistics, figures and reports from the output directory of a Sluice run.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sluice-post {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    report = _command(
        subparsers,
        "report",
        "write report.html, figures and tables of profiles into DIR",
        "sluice-post report retau180",
    )
    _add_directory(report)
    report.add_argument(
        "--reference",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="published profiles, budgets and spectra to lay over the run's",
    )

    profiles = _command(
        subparsers,
        "profiles",
        "print the profiles in wall units as CSV",
        "sluice-post profiles retau180 --from 60 -o p.csv",
    )
    _add_directory(profiles)
    profiles.add_argument(
        "--side", choices=SIDES, help="halves to use; default: both where the flow is symmetric"
    )
    profiles.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE")

    compare = _command(
        subparsers,
        "compare",
        "compare with published profiles and budgets: deviations, key figures, and a figure",
        "sluice-post compare retau180 --reference LM_Channel_0180_*_prof.dat",
    )
    _add_directory(compare)
    compare.add_argument(
        "--reference",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="downloaded files of one simulation",
    )
    compare.add_argument(
        "--quantity", nargs="+", metavar="NAME", help="for example U u_rms minus_uw; default: all"
    )
    compare.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="figure; default DIR/figures/compare.png"
    )
    compare.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers as JSON")

    convert = _command(
        subparsers,
        "convert",
        "write profiles, budgets and spectra in the layout of Lee & Moser, or profiles as CSV",
        "sluice-post convert retau180 --format lee-moser",
    )
    _add_directory(convert)
    convert.add_argument("--format", required=True, choices=("lee-moser", "csv"))
    convert.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="folder to write to; default: DIR"
    )

    budgets = _command(
        subparsers,
        "budgets",
        "terms of the budgets of k, uu, vv, ww and uw: tables and figures",
        "sluice-post budgets retau180 --reference chan180.kbal chan180.uubal",
    )
    _add_directory(budgets)
    budgets.add_argument(
        "--side", choices=SIDES, help="halves to use; default: both where the flow is symmetric"
    )
    budgets.add_argument(
        "--reference", type=Path, nargs="+", metavar="FILE", help="downloaded budgets of one simulation"
    )
    budgets.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="folder to write to; default: DIR"
    )

    spectra = _command(
        subparsers,
        "spectra",
        "spectra along x and y, two-point correlations, integral lengths: tables and figures",
        "sluice-post spectra retau180 --at 5 15 30 centre",
    )
    _add_directory(spectra)
    spectra.add_argument(
        "--side", choices=SIDES, help="halves to use; default: both where the flow is symmetric"
    )
    spectra.add_argument(
        "--at",
        type=_height,
        nargs="+",
        metavar="Z+",
        help="heights in wall units, or `centre`; default: those of the files of --reference, else 5 15 30 100 centre",
    )
    spectra.add_argument(
        "--reference", type=Path, nargs="+", metavar="FILE", help="downloaded spectra of one simulation"
    )
    spectra.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="folder to write to; default: DIR"
    )

    probes = _command(
        subparsers,
        "probes",
        "frequency spectra of probes, and convection velocities from lines along x: tables and figures",
        "sluice-post probes retau180 --probe line",
    )
    _add_directory(probes)
    probes.add_argument("--probe", nargs="+", metavar="NAME", help="probes to use; default: all")
    probes.add_argument(
        "--segment",
        type=float,
        metavar="T",
        help="time of a window; default: an eighth of the time. Longer ones resolve lower frequencies, with more noise",
    )
    probes.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="folder to write to; default: DIR"
    )

    study = _command(
        subparsers,
        "study",
        "compare runs on several grids, of order 2 and 4: key figures, errors, cost",
        "sluice-post study study/*/ -o study/accuracy",
    )
    study.add_argument(
        "directories", metavar="DIR", type=Path, nargs="+", help="output directories of runs of one flow"
    )
    _add_times(study)
    study.add_argument(
        "--reference",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="published profiles of one simulation, or the directory of a run; default: built-in key figures of the "
        "published simulation at this Reynolds number",
    )
    study.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="NAME",
        default=Path("study"),
        help="what the names of the files that are written begin with; default: study",
    )

    refine = _command(
        subparsers,
        "refine",
        "error of the grid from runs of one order on two or three grids, and the total error",
        "sluice-post refine study/order4_384 study/order4_256 study/order4_192",
    )
    refine.add_argument(
        "directories", metavar="DIR", type=Path, nargs="+", help="output directories of two or three runs"
    )
    _add_times(refine)

    merge = _command(
        subparsers,
        "merge",
        "merge the blocks of a run, or of its parts, into small files",
        "sluice-post merge out/retau180 --blocks 16 -o cases/retau180/results",
    )
    merge.add_argument(
        "directories",
        metavar="DIR",
        type=Path,
        nargs="+",
        help="output directory of a run, or of its parts in the order of time",
    )
    merge.add_argument(
        "--blocks", type=_count, metavar="N", help="blocks that are left, made of neighbours; default: all"
    )
    merge.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="folder for statistics.h5 and, if all DIR have one, spectra.h5",
    )

    validation = _command(
        subparsers,
        "validation",
        "write a page of the stored results of cases beside published simulations",
        "sluice-post validation cases -o docs/validation.md",
    )
    validation.add_argument(
        "cases",
        metavar="FOLDER",
        type=Path,
        help="holds NAME/results/statistics.h5 and, if there is one, spectra.h5",
    )
    validation.add_argument(
        "--reference",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="published profiles, budgets and spectra of any simulations; each figure takes those at its Re_tau",
    )
    validation.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        required=True,
        help="page to write; its figures go to images/",
    )

    bench = _command(
        subparsers,
        "bench",
        "tables and figures of what sluice bench transpose, fft or links wrote as JSON",
        "sluice-post bench fft_1.json fft_2.json fft_4.json -o fft",
    )
    bench.add_argument(
        "files", metavar="FILE", type=Path, nargs="+", help="written by sluice bench ... --json FILE"
    )
    bench.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="NAME",
        help="what the names of the files that are written begin with; default: the first FILE without its suffix",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code: 0, 2 (usage) or 4 (input/output)."""
    parsed = build_parser().parse_args(arguments)
    actions = {
        "report": commands.report,
        "profiles": commands.profiles,
        "compare": commands.compare,
        "convert": commands.convert,
        "budgets": commands.budgets,
        "spectra": commands.spectra,
        "probes": commands.probes,
        "study": commands.study,
        "refine": commands.refine,
        "merge": commands.merge,
        "validation": commands.validation,
        "bench": commands.bench,
    }
    try:
        begin, end = getattr(parsed, "begin", None), getattr(parsed, "end", None)
        if begin is not None and end is not None and end <= begin:
            raise UsageError(f"--to {end:g} is not after --from {begin:g}")
        actions[parsed.command](parsed)
        sys.stdout.flush()
    except PostError as error:
        print(f"sluice-post: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of a pipe has gone, as `| head` does: not an error. Keep Python quiet at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
