"""The command ``sluice-post``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from math import inf, nan
from pathlib import Path
from typing import TypeAlias

from sluice_post import __version__, export, layout
from sluice_post.bands import bands_of
from sluice_post.errors import PostError, UsageError
from sluice_post.profiles import SIDES, wall_profiles
from sluice_post.reference import Reference, holds_budget, merged, read_budget_reference, read_reference


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


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="sluice-post",
        description="Statistics, figures and reports from the output directory of a Sluice run.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sluice-post {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    report = _command(
        commands,
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
        commands,
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
        commands,
        "compare",
        "compare with published profiles: deviations, and a figure",
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

    convert = _command(
        commands,
        "convert",
        "write the profiles in another layout",
        "sluice-post convert retau180 --format lee-moser",
    )
    _add_directory(convert)
    convert.add_argument("--format", required=True, choices=("lee-moser", "csv"))
    convert.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="folder to write to; default: DIR"
    )

    budgets = _command(
        commands,
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
        commands,
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

    study = _command(
        commands,
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
        commands,
        "refine",
        "error of the grid from runs of one order on two or three grids, and the total error",
        "sluice-post refine study/order4_384 study/order4_256 study/order4_192",
    )
    refine.add_argument(
        "directories", metavar="DIR", type=Path, nargs="+", help="output directories of two or three runs"
    )
    _add_times(refine)

    bench = _command(
        commands,
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


def _reference(paths: Sequence[Path] | None) -> Reference | None:
    return merged([read_reference(path) for path in paths]) if paths else None


def _report(arguments: argparse.Namespace) -> None:
    from sluice_post.report import write_report
    from sluice_post.results import evaluate, summary_text
    from sluice_post.run import load_run
    from sluice_post.spectra_reference import heights_of, holds_spectra, read_published_spectra

    published_spectra = [
        read_published_spectra(path) for path in arguments.reference or [] if holds_spectra(path)
    ]
    files = [path for path in arguments.reference or [] if not holds_spectra(path)]
    reference = _reference([path for path in files if not holds_budget(path)])
    published_budgets = dict(read_budget_reference(path) for path in files if holds_budget(path))
    run = load_run(arguments.directory, arguments.begin, arguments.end)
    results = evaluate(run, heights_of(published_spectra))
    path = write_report(results, reference, published_budgets, published_spectra)
    print(summary_text(results))
    print(f"report: {path}")


def _profiles(arguments: argparse.Namespace) -> None:
    from sluice_post.run import load_statistics

    parameters, blocks = load_statistics(arguments.directory, arguments.begin, arguments.end)
    profiles = wall_profiles(blocks.means(), parameters, arguments.side)
    text = export.csv_text(profiles, bands_of(blocks, parameters, arguments.side))
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        export.write_text(arguments.output, text)


def _compare(arguments: argparse.Namespace) -> None:
    from sluice_post import compare
    from sluice_post.run import load_statistics
    from sluice_post.style import figure_style, save_png

    reference = _reference(arguments.reference)
    assert reference is not None
    parameters, blocks = load_statistics(arguments.directory, arguments.begin, arguments.end)
    profiles = wall_profiles(blocks.means(), parameters)
    names = compare.common_quantities(profiles, reference, arguments.quantity)
    rows = compare.deviations(blocks, parameters, reference, names)
    print(compare.table_text(rows, profiles, reference))
    path = arguments.output or arguments.directory / layout.FIGURE_FOLDER / "compare.png"
    with figure_style():
        bands = bands_of(blocks, parameters)
        save_png(compare.comparison_figure(profiles, bands, reference, names), path)
    print(f"\nfigure: {path}")


def _convert(arguments: argparse.Namespace) -> None:
    from sluice_post.run import load_statistics

    parameters, blocks = load_statistics(arguments.directory, arguments.begin, arguments.end)
    profiles, bands = wall_profiles(blocks.means(), parameters), bands_of(blocks, parameters)
    if arguments.format == "csv":
        files = {layout.PROFILES_CSV: export.csv_text(profiles, bands)}
    else:
        files = export.lee_moser_texts(profiles, parameters, bands)
    folder = arguments.output or arguments.directory
    for name, text in files.items():
        export.write_text(folder / name, text)
        print(folder / name)


def _budgets(arguments: argparse.Namespace) -> None:
    from sluice_post import budget_figures
    from sluice_post import budgets as budgets_of_run
    from sluice_post.run import load_statistics
    from sluice_post.style import figure_style, save_png

    references = dict(read_budget_reference(path) for path in arguments.reference or [])
    parameters, blocks = load_statistics(arguments.directory, arguments.begin, arguments.end)
    budgets_of_run.require_budgets(blocks, parameters, arguments.directory)
    evaluated = budgets_of_run.evaluate_budgets(blocks, parameters, arguments.side)
    print(budgets_of_run.table_text(evaluated))
    if references:
        print(f"\n{budget_figures.comparison_text(evaluated, references)}")
    print()
    folder = arguments.output or arguments.directory
    with figure_style():
        for stress in budgets_of_run.STRESSES:
            name = layout.BUDGET_NAME.format(stress)
            table, figure = folder / f"{name}.csv", folder / layout.FIGURE_FOLDER / f"{name}.png"
            export.write_text(table, budgets_of_run.csv_text(evaluated, stress))
            save_png(budget_figures.budget_figure(evaluated, stress, references), figure)
            print(f"table: {table}, figure: {figure}")


def _spectra(arguments: argparse.Namespace) -> None:
    from sluice_post.report import write_spectra
    from sluice_post.run import load_statistics
    from sluice_post.spectra import evaluate_spectra, load_spectra, require_turbulence
    from sluice_post.spectra_reference import heights_of, not_shown, read_published_spectra
    from sluice_post.spectra_tables import table_text

    published = [read_published_spectra(path) for path in arguments.reference or []]
    directory, begin, end = arguments.directory, arguments.begin, arguments.end
    parameters, statistics = load_statistics(directory, begin, end)
    blocks = load_spectra(directory, statistics, begin, end)
    require_turbulence(blocks, parameters, directory)
    evaluated = evaluate_spectra(blocks, parameters, arguments.at or heights_of(published), arguments.side)
    print(table_text(evaluated))
    if left_out := not_shown(published, evaluated.heights):
        print(f"not at the chosen heights, so not shown: {', '.join(spectra.label for spectra in left_out)}")
    print()
    for path in write_spectra(evaluated, arguments.output or directory, published):
        print(f"{'figure' if path.suffix == '.png' else 'table'}: {path}")


def _study(arguments: argparse.Namespace) -> None:
    from sluice_post import study, study_figures, study_tables
    from sluice_post.style import figure_style, save_png

    runs = study.read_study(arguments.directories, arguments.begin, arguments.end, arguments.reference)
    reference = study.find_reference(arguments.reference, runs, arguments.begin, arguments.end)
    text = study_tables.table_text(runs, reference)
    print(text)
    base: Path = arguments.output
    for ending, content in ((".md", f"{text}\n"), (".csv", study_tables.csv_text(runs, reference))):
        path = base.with_name(base.name + ending)
        export.write_text(path, content)
        print(f"{'' if ending == '.csv' else chr(10)}table: {path}")
    with figure_style():
        for cost in study.costs_of(runs):
            path = base.with_name(f"{base.name}_{cost}.png")
            save_png(study_figures.error_figure(runs, reference, cost), path)
            print(f"figure: {path}")


def _refine(arguments: argparse.Namespace) -> None:
    from sluice_post import refine, study

    print(refine.table_text(study.read_study(arguments.directories, arguments.begin, arguments.end)))


def _bench(arguments: argparse.Namespace) -> None:
    from sluice_post import bench, bench_figures
    from sluice_post.style import figure_style, save_png

    rows = bench.read_rows(arguments.files)
    base: Path = arguments.output or arguments.files[0].with_suffix("")

    def path(ending: str) -> Path:
        return base.with_name(base.name + ending)

    print(bench.table_text(rows))
    export.write_text(path(".csv"), bench.csv_text(rows))
    print(f"\ntable: {path('.csv')}")
    experiments: dict[str, list[bench.Row]] = {}
    for row in rows:
        experiments.setdefault(row.experiment, []).append(row)
    with figure_style():
        figures = {
            "" if len(experiments) == 1 else f"_{number}": bench_figures.bars_figure(of_experiment)
            for number, of_experiment in enumerate(experiments.values(), 1)
        }
        for name, figure in (
            ("_scaling", bench_figures.scaling_figure(rows)),
            ("_weak_scaling", bench_figures.weak_scaling_figure(rows)),
            ("_decompositions", bench_figures.decomposition_figure(rows)),
            ("_pieces", bench_figures.pieces_figure(rows)),
        ):
            if figure is not None:
                figures[name] = figure
        for name, figure in figures.items():
            save_png(figure, path(f"{name}.png"))
            print(f"figure: {path(f'{name}.png')}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code: 0, 2 (usage) or 4 (input/output)."""
    parsed = build_parser().parse_args(arguments)
    commands = {
        "report": _report,
        "profiles": _profiles,
        "compare": _compare,
        "convert": _convert,
        "budgets": _budgets,
        "spectra": _spectra,
        "study": _study,
        "refine": _refine,
        "bench": _bench,
    }
    try:
        begin, end = getattr(parsed, "begin", None), getattr(parsed, "end", None)
        if begin is not None and end is not None and end <= begin:
            raise UsageError(f"--to {end:g} is not after --from {begin:g}")
        commands[parsed.command](parsed)
        sys.stdout.flush()
    except PostError as error:
        print(f"sluice-post: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of a pipe has gone, as `| head` does: not an error. Keep Python quiet at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
