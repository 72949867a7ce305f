"""The command ``sluice-post``."""

from __future__ import annotations

import argparse
import functools
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sluice_post import __version__, commands
from sluice_post.cli_options import (
    add_command,
    add_directory,
    add_export,
    add_fields,
    add_folder,
    add_heights,
    add_side,
    add_times,
    add_watch,
    parse_count,
)
from sluice_post.convert import convert as convert_files
from sluice_post.errors import InputOutputError, PostError, UsageError
from sluice_post.figure_options import ACTIONS, add_to_commands, figures_asked
from sluice_post.modes_command import add_modes, write_modes


class _Parser(argparse.ArgumentParser):
    """A parser that fails if its help cannot be printed: argparse itself then ends with exit code 0."""

    def _print_message(self, message: str, file: Any = None) -> None:
        print(message, end="", file=file or sys.stderr, flush=True)


@functools.cache
def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser: argparse.ArgumentParser = _Parser(
        prog="sluice-post",
        description="Statistics, figures and reports from the output directory of a Sluice run.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sluice-post {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    report = add_command(
        subparsers,
        "report",
        "write report.html, figures and tables of profiles into DIR",
        "sluice-post report retau180",
    )
    add_directory(report)
    add_side(report)
    report.add_argument(
        "--reference",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="published profiles, budgets and spectra to lay over the run's",
    )

    add_watch(subparsers)

    profiles = add_command(
        subparsers,
        "profiles",
        "print the profiles in wall units as CSV",
        "sluice-post profiles retau180 --from 60 -o p.csv",
    )
    add_directory(profiles)
    add_side(profiles)
    profiles.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE")
    profiles.add_argument("--scalar", metavar="NAME", help="the profiles of this scalar in place of those of the flow")
    profiles.add_argument(
        "--figures", type=Path, metavar="FOLDER", help="also draw the scalars, or the one of --scalar, to FOLDER"
    )

    compare = add_command(
        subparsers,
        "compare",
        "compare with published profiles and budgets: deviations, key figures, and a figure",
        "sluice-post compare retau180 --reference LM_Channel_0180_*_prof.dat",
    )
    add_directory(compare)
    add_side(compare)
    compare.add_argument(
        "--reference", type=Path, nargs="+", required=True, metavar="FILE", help="downloaded files of one simulation"
    )
    compare.add_argument("--quantity", nargs="+", metavar="NAME", help="for example U u_rms minus_uw; default: all")
    compare.add_argument("-o", "--output", type=Path, metavar="FILE", help="figure; default DIR/figures/compare.png")
    compare.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers as JSON")

    convert = add_command(
        subparsers,
        "convert",
        "write profiles, budgets and spectra in the layout of Lee & Moser, or profiles and densities as CSV",
        "sluice-post convert retau180 --format lee-moser",
    )
    add_directory(convert)
    add_side(convert)
    convert.add_argument("--format", required=True, choices=("lee-moser", "csv"))
    add_folder(convert)

    budgets = add_command(
        subparsers,
        "budgets",
        "terms of the budgets of k, uu, vv, ww and uw, and of scalars, with intervals: tables and figures",
        "sluice-post budgets retau180 --reference chan180.kbal chan180.uubal",
    )
    add_directory(budgets)
    add_side(budgets)
    budgets.add_argument(
        "--reference", type=Path, nargs="+", metavar="FILE", help="downloaded budgets of one simulation"
    )
    add_folder(budgets)

    control = add_command(
        subparsers,
        "control",
        "what walls that control a flow save: drag, power of the walls and net saving, beside a run without control",
        "sluice-post control out/oscillating --reference out/rest --from 180",
    )
    add_directory(control)
    control.add_argument(
        "--reference", type=Path, metavar="DIR", required=True, help="output directory of the run without control"
    )

    spectra = add_command(
        subparsers,
        "spectra",
        "spectra along x and y, also premultiplied, two-point correlations, integral lengths: tables and figures",
        "sluice-post spectra retau180 --at 5 15 30 centre",
    )
    add_directory(spectra)
    add_side(spectra)
    add_heights(spectra, "default: those of the files of --reference, else 5 15 30 100 centre")
    spectra.add_argument(
        "--reference", type=Path, nargs="+", metavar="FILE", help="downloaded spectra of one simulation"
    )
    add_folder(spectra)

    densities = add_command(
        subparsers,
        "densities",
        "probability densities of velocity, pressure and wall shear, quadrants of uw: tables and figures",
        "sluice-post densities retau180 --at 5 15 30 centre",
    )
    add_directory(densities)
    add_side(densities)
    add_heights(densities, "default: 5 15 30 100 centre. The nearest planes are shown")
    add_folder(densities)

    phases = add_command(
        subparsers,
        "phases",
        "averages by phase of a flow that is driven periodically: profiles, wall shear stress, first harmonic",
        "sluice-post phases pulsating",
    )
    add_directory(phases)
    add_folder(phases)

    probes = add_command(
        subparsers,
        "probes",
        "frequency spectra of probes, and convection velocities from lines along x: tables and figures",
        "sluice-post probes retau180 --probe line",
    )
    add_directory(probes)
    probes.add_argument("--probe", nargs="+", metavar="NAME", help="probes to use; default: all")
    probes.add_argument(
        "--segment",
        type=float,
        metavar="T",
        help="time of a window; default: an eighth of the time. Longer ones resolve lower frequencies, with more noise",
    )
    probes.add_argument(
        "--xdmf",
        action="store_true",
        help="write DIR/probes/NAME.xdmf for each plane, with which ParaView opens its samples, and nothing else",
    )
    add_folder(probes)

    add_fields(subparsers)
    add_export(subparsers)
    add_modes(subparsers)

    study = add_command(
        subparsers,
        "study",
        "compare runs on several grids, of order 2 and 4: key figures, errors, cost",
        "sluice-post study study/*/ -o study/accuracy",
    )
    study.add_argument(
        "directories", metavar="DIR", type=Path, nargs="+", help="output directories of runs of one flow"
    )
    add_times(study)
    study.add_argument(
        "--reference",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="published profiles of one simulation, or the directory of a run; default: built-in key figures of the "
        "published simulation of this flow at this Reynolds number",
    )
    study.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="NAME",
        default=Path("study"),
        help="what the names of the files that are written begin with; default: study",
    )

    refine = add_command(
        subparsers,
        "refine",
        "error of the grid from runs of one order on two or three grids, and the total error",
        "sluice-post refine study/order4_384 study/order4_256 study/order4_192",
    )
    refine.add_argument(
        "directories", metavar="DIR", type=Path, nargs="+", help="output directories of two or three runs"
    )
    add_times(refine)

    merge = add_command(
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
        "--blocks", type=parse_count, metavar="N", help="blocks that are left, made of neighbours; default: all"
    )
    merge.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="folder for statistics.h5 and, if all DIR have them, spectra.h5 and densities.h5",
    )

    validation = add_command(
        subparsers,
        "validation",
        "write a page of the stored results of cases beside published simulations",
        "sluice-post validation cases -o docs/validation.md",
    )
    validation.add_argument(
        "cases", metavar="FOLDER", type=Path, help="holds NAME/results/statistics.h5 and, if there is one, spectra.h5"
    )
    validation.add_argument(
        "--reference",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="published profiles, budgets and spectra of channels and Couette flows; each figure takes those of its "
        "flow and Re_tau",
    )
    validation.add_argument(
        "-o", "--output", type=Path, metavar="FILE", required=True, help="page to write; its figures go to images/"
    )

    bench = add_command(
        subparsers,
        "bench",
        "tables and figures of what sluice bench step, transpose, fft or links wrote as JSON",
        "sluice-post bench fft_1.json fft_2.json fft_4.json -o fft",
    )
    bench.add_argument("files", metavar="FILE", type=Path, nargs="+", help="written by sluice bench ... --json FILE")
    bench.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="NAME",
        help="what the names of the files that are written begin with; default: the first FILE without its suffix",
    )
    bench.add_argument(
        "--forecast",
        type=_count,
        nargs="+",
        metavar="P",
        help="forecast transforms on P devices, from what was measured on fewer; needs --network",
    )
    bench.add_argument("--devices-per-host", type=_count, default=8, metavar="N", help="of the forecast; default: 8")
    bench.add_argument(
        "--network",
        type=_positive_number,
        nargs=2,
        metavar=("GB/S", "US"),
        help="bandwidth between devices of two hosts, and time of a message in microseconds",
    )
    add_to_commands(subparsers)
    return parser


def _count(text: str) -> int:
    """An integer from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of devices")
    return value


def _positive_number(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _settle_output() -> None:
    """Writes what was printed, or drops it if that fails, so that Python does not fail once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code: 0, 2 (usage) or 4 (input/output)."""
    actions = {
        "report": commands.report,
        "watch": commands.watch,
        "profiles": commands.profiles,
        "compare": commands.compare,
        "convert": convert_files,
        "budgets": commands.budgets,
        "control": commands.control,
        "phases": commands.phases,
        "spectra": commands.spectra,
        "densities": commands.densities,
        "probes": commands.probes,
        "fields": commands.fields,
        "export": commands.export_run,
        "modes": write_modes,
        "study": commands.study,
        "refine": commands.refine,
        "merge": commands.merge,
        "validation": commands.validation,
        "bench": commands.bench,
        **ACTIONS,
    }
    try:
        parsed = build_parser().parse_args(arguments)
        begin, end = getattr(parsed, "begin", None), getattr(parsed, "end", None)
        if begin is not None and end is not None and end <= begin:
            raise UsageError(f"--to {end:g} is not after --from {begin:g}")
        with figures_asked(parsed):
            actions[parsed.command](parsed)
        sys.stdout.flush()
    except PostError as error:
        print(f"sluice-post: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        _settle_output()  # the reader of a pipe has gone, as `| head` does: not an error
    except OSError as error:
        _settle_output()
        reason = error.strerror or error
        where = f"{error.filename}: " if error.filename is not None else ""
        print(f"sluice-post: {where}{reason}", file=sys.stderr)
        return InputOutputError.exit_code
    return 0
