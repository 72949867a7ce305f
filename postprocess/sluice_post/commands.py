"""The commands of ``sluice-post``: their options, and what each does.

Imports are inside, so that a command loads only what it needs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sluice_post import export, layout
from sluice_post.center_fields import CENTER_QUANTITIES
from sluice_post.cli_options import (
    COMMANDS,
    FIGURES,
    FOLDER,
    LATEX,
    POOLED,
    RUN,
    SIDE,
    TIMES,
    command,
    count,
    device_count,
    files,
    heights,
    one_of,
    option,
    output,
    port,
    positive_number,
)
from sluice_post.errors import UsageError, require_installed
from sluice_post.flow import flow_of
from sluice_post.flow_words import unknown_flow_note
from sluice_post.reference import read_budget_reference, read_references

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sluice_post.opened_run import OpenedRun

__all__ = ["COMMANDS"]
_PANELS = ("mean_velocity", "fluctuations", "shear_stress", "budget:k")  # of `overlay`, by default


def _run(arguments: argparse.Namespace) -> OpenedRun:
    """The run that a command is for; if it has the option --members, also an ensemble."""
    from sluice_post.opened_ensemble import OpenedEnsemble, open_results
    from sluice_post.opened_run import open_run

    side, heights = getattr(arguments, "side", None), getattr(arguments, "at", None)
    given = (arguments.directory, arguments.begin, arguments.end, side, heights)
    if not hasattr(arguments, "members"):
        return open_run(*given)
    opened = open_results(*given)
    if arguments.members is None:
        return opened
    if not isinstance(opened, OpenedEnsemble):
        raise UsageError(f"{arguments.directory}: is one run, without members; leave --members out")
    return opened.choose(*arguments.members)


def _print_paths(paths: Iterable[Path]) -> None:
    for path in paths:
        print(f"{'table' if path.suffix == '.csv' else 'figure'}: {path}")


def _write_table(path: Path, text: str) -> None:
    export.write_text(path, text)
    print(f"table: {path}")


def _save_figures(figures: Mapping[Path, Figure]) -> None:
    from sluice_post.style import save_figure

    for path, figure in figures.items():
        print(f"figure: {', '.join(map(str, save_figure(figure, path)))}")


@command(
    "report retau180",
    "write report.html, figures and tables of profiles into DIR",
    *POOLED,
    SIDE,
    files("--reference", "published profiles, budgets and spectra to lay over the run's"),
    LATEX,
    *FIGURES,
)
def _report(arguments: argparse.Namespace) -> None:
    from sluice_post import latex
    from sluice_post.ensemble_summary import run_of
    from sluice_post.opened_ensemble import OpenedEnsemble
    from sluice_post.report import write_report
    from sluice_post.results import evaluate, summary_text
    from sluice_post.run import load_run
    from sluice_post.spectra_reference import heights_of, holds_spectra, read_all_spectra

    given = arguments.reference or []
    published_spectra = read_all_spectra([path for path in given if holds_spectra(path)])
    reference, published_budgets = read_references([path for path in given if not holds_spectra(path)])
    opened = _run(arguments)
    if isinstance(opened, OpenedEnsemble):
        run = run_of(opened)
    else:
        run = load_run(arguments.directory, arguments.begin, arguments.end, arguments.side)
    results = evaluate(run, heights_of(published_spectra), arguments.side)
    table = latex.key_figure_table(results) if arguments.latex is not None else ""
    path = write_report(results, reference, published_budgets, published_spectra)
    print(f"{summary_text(results)}\nreport: {path}")
    if arguments.latex is not None:
        _write_table(arguments.latex, table)


@command(
    "watch retau180",
    "show a running case on a live page in the browser: state, time left, history, streaks, profiles",
    option("directory", "output directory of a run, which may not exist yet", metavar="DIR", type=Path),
    option("--port", "port on 127.0.0.1; default: a free one, which is printed", type=port, default=0, metavar="N"),
    option("--no-browser", "only print the address, open no browser", dest="browser", action="store_false"),
    files("--reference", "published profiles to plot over the run's"),
)
def _watch(arguments: argparse.Namespace) -> None:
    require_installed("watch", "bokeh")
    from sluice_post.watch.serve import serve

    reference, _ = read_references(arguments.reference or [])
    serve(arguments.directory, arguments.port, arguments.browser, reference)


@command(
    "profiles retau180 --from 60 -o p.csv",
    "print the profiles in wall units as CSV",
    *POOLED,
    SIDE,
    output("FILE", "write to FILE"),
    option("--scalar", "the profiles of this scalar in place of those of the flow", metavar="NAME"),
    option("--figures", "also draw the scalars, or the one of --scalar, to FOLDER", type=Path, metavar="FOLDER"),
    *FIGURES,
)
def _profiles(arguments: argparse.Namespace) -> None:
    from sluice_post.profiles import profiles_csv
    from sluice_post.report_parts import scalars_part
    from sluice_post.scalar_numbers import chosen_scalars, csv_of_one

    run, name = _run(arguments), arguments.scalar
    scalars = []
    if name is not None or arguments.figures is not None:
        scalars = chosen_scalars(run.blocks, run.parameters, run.directory, name, arguments.side)
    if arguments.figures is not None:
        scalars_part(scalars).draw(arguments.figures)
    text = csv_of_one(scalars) if name is not None else profiles_csv(run.wall_profiles)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        export.write_text(arguments.output, text)


@command(
    "ensemble out",
    "averages of each member of an ensemble, and of all of them with both kinds of intervals",
    *POOLED,
    SIDE,
)
def _ensemble(arguments: argparse.Namespace) -> None:
    from sluice_post.ensemble_summary import table_text
    from sluice_post.opened_ensemble import OpenedEnsemble

    opened = _run(arguments)
    if not isinstance(opened, OpenedEnsemble):
        raise UsageError(f"{arguments.directory}: is no ensemble: it has no {layout.ENSEMBLE_FILE}")
    print(table_text(opened))


@command(
    "compare retau180 --reference LM_Channel_0180_*_prof.dat",
    "compare with published profiles and budgets: deviations, key figures, and a figure",
    *POOLED,
    SIDE,
    files("--reference", "downloaded files of one simulation", required=True),
    option("--quantity", "for example U u_rms minus_uw; default: all", nargs="+", metavar="NAME"),
    output("FILE", "figure; default DIR/figures/compare.png"),
    option("--json", "also write the numbers as JSON", type=Path, metavar="FILE"),
    LATEX,
    *FIGURES,
)
def _compare(arguments: argparse.Namespace) -> None:
    from sluice_post import comparison, latex
    from sluice_post.deviations import comparison_figure
    from sluice_post.style import figure_style

    run = _run(arguments)
    found = run.compare(*arguments.reference, quantities=arguments.quantity)
    print(found)
    if arguments.json is not None:
        export.write_text(arguments.json, comparison.json_text(found))
    if arguments.latex is not None:
        print()
        _write_table(arguments.latex, latex.deviation_tables(found, run))
    if (reference := found.reference) is not None:
        path = arguments.output or arguments.directory / layout.FIGURE_FOLDER / "compare.png"
        print()
        with figure_style():
            names = [row.quantity for row in found.deviations]
            _save_figures({path: comparison_figure(run.wall_profiles, reference, names)})


@command(
    "convert retau180 --format lee-moser",
    "write profiles, budgets and spectra in the layout of Lee & Moser, or profiles and densities as CSV",
    *RUN,
    SIDE,
    option("--format", None, required=True, choices=("lee-moser", "csv")),
    FOLDER,
)
def _convert(arguments: argparse.Namespace) -> None:
    from sluice_post.convert import convert

    convert(arguments)


@command(
    "budgets retau180 --reference chan180.kbal chan180.uubal",
    "terms of the budgets of k, uu, vv, ww and uw, and of scalars, with intervals: tables and figures",
    *POOLED,
    SIDE,
    files("--reference", "downloaded budgets of one simulation"),
    FOLDER,
    *FIGURES,
)
def _budgets(arguments: argparse.Namespace) -> None:
    from sluice_post import deviations
    from sluice_post.budgets import table_text
    from sluice_post.report_parts import budgets_part

    references = dict(read_budget_reference(path) for path in arguments.reference or [])
    run = _run(arguments)
    found = [run.evaluated_budgets, *run.evaluated_scalar_budgets.values()]
    texts = [table_text(evaluated) for evaluated in found]
    if references:
        found_deviations = deviations.budget_deviations(run.blocks, run.parameters, references, arguments.side)
        texts.append(deviations.budget_table_text(found_deviations))
        texts += [note] if (note := unknown_flow_note(flow_of(run.parameters))) else []
    print("\n\n".join(texts) + "\n")
    folder = arguments.output or run.directory
    for evaluated in found:
        part = budgets_part(evaluated, references)
        drawn = part.draw(folder / layout.FIGURE_FOLDER)
        for path, entry in zip(part.write_tables(folder), drawn, strict=True):
            print(f"table: {path}, figure: {entry.written}")


@command(
    "overlay out/a out/b --label coarse fine --panel mean_velocity stresses budget:k -o runs.pdf",
    "draw several runs into one figure, also of different flows, with published data",
    option("directories", "output directories of runs", metavar="DIR", type=Path, nargs="+"),
    option("--label", "a name for each DIR; default: that of the folder", nargs="+", metavar="TEXT"),
    option(
        "--panel",
        "panels of run.plot, such as mean_velocity, stresses, budget:uu, spectrum:uu:y, scalar:temperature:mean; "
        f"default: {' '.join(_PANELS)}",
        dest="panels",
        nargs="+",
        default=list(_PANELS),
        metavar="NAME[:ARGUMENT...]",
    ),
    files(
        "--reference", "published profiles, budgets and spectra of one simulation; repeated for others", action="append"
    ),
    *TIMES,
    output("FILE", "figure: .pdf, .svg or .png", required=True),
    *FIGURES,
)
def _overlay(arguments: argparse.Namespace) -> None:
    from sluice_post.overlay import write_overlay

    write_overlay(arguments)


@command(
    "movie out --slice z0.1 -o u.mp4",
    "write a movie of a slice",
    *RUN,
    option("--slice", "slice of the run, such as z0.1", required=True, metavar="LABEL"),
    option("--field", "field of the slice; default: u", default="u", metavar="NAME"),
    option("--frames", "at most so many; default: all", type=count, default=1_000_000, metavar="N"),
    option("--rate", "frames a second; default: 10", type=count, default=10, metavar="N"),
    output("FILE", "movie: .mp4 (needs ffmpeg) or .gif", required=True),
)
def _movie(arguments: argparse.Namespace) -> None:
    from sluice_post.movie import write_movie

    write_movie(arguments)


@command(
    "control out/oscillating --reference out/rest --from 180",
    "what walls that control a flow save: drag, power of the walls and net saving, beside a run without control",
    *RUN,
    option("--reference", "output directory of the run without control", type=Path, metavar="DIR", required=True),
)
def _control(arguments: argparse.Namespace) -> None:
    from sluice_post.control import powers_of, savings, table_text

    with_control, without = (
        powers_of(directory, arguments.begin, arguments.end) for directory in (arguments.directory, arguments.reference)
    )
    print(table_text(savings(with_control, without)))


@command(
    "spectra retau180 --at 5 15 30 centre",
    "spectra along x and y, also premultiplied, two-point correlations, integral lengths: tables and figures",
    *POOLED,
    SIDE,
    heights("default: those of the files of --reference, else 5 15 30 100 centre"),
    files("--reference", "downloaded spectra of one simulation"),
    FOLDER,
    *FIGURES,
)
def _spectra(arguments: argparse.Namespace) -> None:
    from sluice_post.report_parts import plane_tables, scalar_spectra_part, spectra_part
    from sluice_post.spectra_reference import heights_of, not_shown, read_all_spectra
    from sluice_post.spectra_tables import table_text

    published = read_all_spectra(arguments.reference or [])
    arguments.at = arguments.at or heights_of(published)
    run = _run(arguments)
    evaluated = run.evaluated_spectra
    print(table_text(evaluated))
    if published and (note := unknown_flow_note(flow_of(run.parameters))):
        print(note)
    if left_out := not_shown(published, evaluated.heights):
        print(f"not at the chosen heights, so not shown: {', '.join(left_out)}")
    print()
    folder, of_scalars = arguments.output or run.directory, list(run.evaluated_scalar_spectra.values())
    part = spectra_part(evaluated, published)
    part.tables.update(plane_tables(evaluated))
    _print_paths(part.write(folder) + scalar_spectra_part(of_scalars).write(folder))


@command(
    "densities retau180 --at 5 15 30 centre",
    "probability densities of velocity, pressure and wall shear, quadrants of uw: tables and figures",
    *RUN,
    SIDE,
    heights("default: 5 15 30 100 centre. The nearest planes are shown"),
    FOLDER,
    *FIGURES,
)
def _densities(arguments: argparse.Namespace) -> None:
    from sluice_post.density_tables import table_text
    from sluice_post.report_parts import densities_part

    found = _run(arguments).evaluated_densities
    print(f"{table_text(found)}\n")
    _print_paths(densities_part(found).write(arguments.output or arguments.directory))


@command(
    "phases pulsating",
    "averages by phase of a flow that is driven periodically: profiles, wall shear stress, first harmonic",
    *POOLED,
    FOLDER,
    *FIGURES,
)
def _phases(arguments: argparse.Namespace) -> None:
    from sluice_post.phases import table_text
    from sluice_post.report_parts import phases_part

    found = _run(arguments).evaluated_phases
    print(f"{table_text(found)}\n")
    _print_paths(phases_part(found).write(arguments.output or arguments.directory))


def _planes_as_xdmf(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    from sluice_post.xdmf import write_probe_xdmf

    if arguments.output is not None or arguments.segment is not None:
        raise UsageError("--xdmf writes beside the probe, without spectra: leave -o and --segment out")
    written = 0
    for name in names:
        found = write_probe_xdmf(arguments.directory, name, arguments.begin, arguments.end)
        if found is not None:
            path, samples = found
            print(f"probe {name}: {samples} samples, for ParaView: {path}")
            written += 1
        elif arguments.probe:
            raise UsageError(f"the probe {name} is not a plane: ParaView opens planes")
    if written == 0:
        raise UsageError(f"{arguments.directory}: none of the probes is a plane")


@command(
    "probes retau180 --probe line",
    "frequency spectra of probes, and convection velocities from lines along x: tables and figures",
    *RUN,
    option("--probe", "probes to use; default: all", nargs="+", metavar="NAME"),
    option(
        "--segment",
        "time of a window; default: an eighth of the time. Longer ones resolve lower frequencies, with more noise",
        type=float,
        metavar="T",
    ),
    option(
        "--xdmf",
        "write DIR/probes/NAME.xdmf for each plane, with which ParaView opens its samples, and nothing else",
        action="store_true",
    ),
    FOLDER,
    *FIGURES,
)
def _probes(arguments: argparse.Namespace) -> None:
    from sluice_post import probe_figures
    from sluice_post import probes as sampled
    from sluice_post.convection import convection, has_whole_line
    from sluice_post.probe_parts import find_series
    from sluice_post.run import check_directory
    from sluice_post.style import figure_style

    directory = check_directory(arguments.directory)
    names = arguments.probe or find_series(directory, layout.PROBE_FOLDER)
    if not names:
        raise UsageError(f"{directory}: there are no probes; ask for them by output.probes in the case")
    if arguments.xdmf:
        _planes_as_xdmf(arguments, names)
        return
    folder: Path = arguments.output or directory
    for name in names:
        probe, difference = sampled.equal_steps(sampled.read_probe(directory, name, arguments.begin, arguments.end))
        time = probe.time.values
        print(f"probe {name}: {time.size} samples from {time[0]:g} to {time[-1]:g}, every {time[1] - time[0]:.4g}")
        if difference > 0:
            print(f"interpolated to equal intervals, which differ by up to {100 * difference:.2g} %")
        if probe.attrs["grid_velocity"] != 0:
            print(f"the points move at {probe.attrs['grid_velocity']:g} along x: frequencies are those that they see")
        fields = [str(field) for field in probe]
        spectra = [sampled.frequency_spectrum(probe, field, arguments.segment) for field in fields]
        lines = [field for field in fields if has_whole_line(probe, field)]
        found = [convection(probe, field, n) for field in lines for n in range(probe[field].shape[1])]
        print(sampled.table_text(spectra, found))
        tables = {"spectra": sampled.spectra_csv(spectra)}
        tables |= {"convection": sampled.convection_csv(found)} if found else {}
        for kind, text in tables.items():
            _write_table(folder / f"probe_{name}_{kind}.csv", text)
        with figure_style():
            figures = {"spectra": probe_figures.spectra_figure(spectra)}
            figures |= {"convection": probe_figures.convection_figure(found)} if found else {}
            _save_figures({folder / "figures" / f"probe_{name}_{kind}.png": figures[kind] for kind in figures})


@command(
    "fields out/checkpoints/step_0012000.h5 --fields fluctuation lambda2 --z 0 1 -o lambda2.h5",
    "write quantities at cell centres from a checkpoint, for ParaView and scripts",
    option("checkpoint", "checkpoint of a run, an HDF5 file", metavar="CHECKPOINT", type=Path),
    option(
        "--fields",
        f"any of {', '.join(CENTER_QUANTITIES)}, and scalars; default: velocity q",
        nargs="+",
        default=["velocity", "q"],
        metavar="NAME",
    ),
    option("--precision", "default: single", choices=("single", "double"), default="single"),
    option("--stride", "write every N-th cell along x, y and z", type=count, nargs=3, default=[1, 1, 1], metavar="N"),
    option(
        "--compress",
        "compress the file by gzip, 1 (fast) to 9 (small); default: not compressed",
        type=int,
        choices=range(1, 10),
        metavar="LEVEL",
    ),
    *(
        option(
            f"--{axis}",
            f"only cells whose centres are between these coordinates along {axis}",
            type=float,
            nargs=2,
            metavar=("LOW", "HIGH"),
        )
        for axis in "xyz"
    ),
    output("NAME.h5", "file to write, with NAME.xdmf beside it; default: fields_NNNNNNN.h5, the number of the step"),
)
def _fields(arguments: argparse.Namespace) -> None:
    from sluice_post.fields_file import Choice, write_fields

    ranges = {axis: tuple(bounds) for axis in "xyz" if (bounds := getattr(arguments, axis)) is not None}
    for axis, (low, high) in ranges.items():
        if not low <= high:
            raise UsageError(f"--{axis} {low:g} {high:g}: the first is not below the second")
    if arguments.output is not None and arguments.output.suffix != ".h5":
        raise UsageError(f"-o {arguments.output}: the name of the file must end in .h5")
    chosen = list(dict.fromkeys(arguments.fields))
    choice = Choice(chosen, arguments.precision, tuple(arguments.stride), ranges, arguments.compress)
    path, (nz, ny, nx) = write_fields(arguments.checkpoint, choice, arguments.output)
    print(f"{nx} x {ny} x {nz} cells: {path}, for ParaView: {path.with_suffix('.xdmf')}")


@command(
    "export out --netcdf out.nc --only profiles budgets slices",
    "write the results of a run in the CF conventions, as one NetCDF file or one Zarr folder",
    *RUN,
    SIDE,
    heights("default: 5 15 30 100 centre; of spectra and densities"),
    one_of(
        option("--netcdf", "NetCDF-4 file to write", type=Path, metavar="FILE"),
        option("--zarr", "Zarr folder to write", type=Path, metavar="FOLDER"),
        required=True,
    ),
    option(
        "--only",
        f"any of {', '.join(layout.EXPORTED)}; default: all that the run has",
        nargs="+",
        choices=tuple(layout.EXPORTED),
        metavar="NAME",
    ),
    option("--overwrite", "replace what an earlier export wrote", action="store_true"),
)
def _export(arguments: argparse.Namespace) -> None:
    require_installed("zarr" if arguments.zarr else "xarray", "h5netcdf", "dask", *(["zarr"] * bool(arguments.zarr)))
    from sluice_post.exported_run import NetCdf, Zarr, write_run

    path: Path = arguments.zarr or arguments.netcdf
    kind = Zarr if arguments.zarr else NetCdf
    groups, left_out = write_run(_run(arguments), path, kind, arguments.only, arguments.overwrite)
    for sentence in left_out:
        print(f"left out: {sentence}")
    print(f"{len(groups)} groups: {path}")


@command(
    "publish retau180 -o deposit --author 'Ada Lovelace' --orcid 0000-0002-1825-0097",
    "write a folder for a data deposit: results, metadata, licence, checksums",
    *RUN,
    SIDE,
    option("--output", "folder to make", type=Path, metavar="FOLDER", required=True),
    option("--author", "'Given names Family name' of each", nargs="+", default=[], metavar="NAME"),
    option("--orcid", "of each author, in the same order", nargs="+", default=[], metavar="ID"),
    option("--title", "of the data; default: the title of the case", metavar="TEXT"),
    option("--doi", "of the deposit, for example 10.5281/zenodo.1234567", metavar="DOI"),
    option("--licence", "default: CC-BY-4.0", choices=tuple(layout.LICENCES), default="CC-BY-4.0"),
)
def _publish(arguments: argparse.Namespace) -> None:
    require_installed("xarray", "h5netcdf", "dask")
    from sluice_post.publish import publish_run

    publish_run(_run(arguments), arguments)


@command(
    "modes out --slice y1.571 --spod --block 256 --rank 8 --homogeneous x",
    "write POD or SPOD modes of a stored slice as NetCDF",
    *RUN,
    option("--slice", "number or label of the slice; an error lists them; default: the only one", metavar="N|NAME"),
    one_of(
        option("--pod", "proper orthogonal decomposition; the default", action="store_true"),
        option("--spod", "spectral POD: modes of each frequency", action="store_true"),
    ),
    option("--rank", "modes that are kept at any time; default: 10", type=count, default=10, metavar="R"),
    option("--fields", "velocities, or one other field; default: all stored velocities", nargs="+", metavar="NAME"),
    option(
        "--homogeneous",
        "x, y: decompose each wavenumber along these directions for itself",
        nargs="+",
        choices=("x", "y"),
        default=(),
        metavar="AXIS",
    ),
    option("--keep-mean", "do not remove the mean of the samples", action="store_true"),
    option("--block", "samples of a block of SPOD; default: 256", type=count, metavar="N"),
    option("--overlap", "of which as many begin the next; default: half", type=int, metavar="N"),
    option("--window", "of SPOD, as in scipy.signal.get_window; default: hann", metavar="NAME"),
    output("FILE", "NetCDF file; default: DIR/pod_LABEL.nc or DIR/spod_LABEL.nc"),
)
def _modes(arguments: argparse.Namespace) -> None:
    from sluice_post.modes_command import write_modes

    write_modes(arguments)


@command(
    "study study/*/ -o study/accuracy",
    "compare runs on several grids, of order 2 and 4: key figures, errors, cost",
    files("directories", "output directories of runs of one flow", metavar="DIR"),
    *TIMES,
    files(
        "--reference",
        "published profiles of one simulation, or the directory of a run; default: built-in key "
        "figures of the published simulation of this flow at this Reynolds number",
    ),
    output("NAME", "what the names of the files that are written begin with; default: study", default=Path("study")),
    LATEX,
    *FIGURES,
)
def _study(arguments: argparse.Namespace) -> None:
    from sluice_post import latex, opened_study, study, study_tables
    from sluice_post.style import figure_style

    runs = study.read_study(arguments.directories, arguments.begin, arguments.end, arguments.reference)
    reference = study.find_reference(arguments.reference, runs, arguments.begin, arguments.end)
    text = study_tables.table_text(runs, reference)
    print(f"{text}\n")
    base: Path = arguments.output
    _write_table(base.with_name(f"{base.name}.md"), f"{text}\n")
    _write_table(base.with_name(f"{base.name}.csv"), study_tables.csv_text(runs, reference))
    if arguments.latex is not None:
        _write_table(arguments.latex, latex.study_tables(runs, reference))
    with figure_style():
        for cost in study.costs_of(runs):
            figure = opened_study.error_figure(runs, reference, cost)
            _save_figures({base.with_name(f"{base.name}_{cost}.png"): figure})


@command(
    "refine study/order4_384 study/order4_256 study/order4_192",
    "error of the grid from runs of one order on two or three grids, and the total error",
    files("directories", "output directories of two or three runs", metavar="DIR"),
    *TIMES,
)
def _refine(arguments: argparse.Namespace) -> None:
    from sluice_post import refine, study

    print(refine.table_text(study.read_study(arguments.directories, arguments.begin, arguments.end)))


@command(
    "merge out/retau180 --blocks 16 -o cases/retau180/results",
    "merge the blocks of a run, or of its parts, into small files",
    files("directories", "output directory of a run, or of its parts in the order of time", metavar="DIR"),
    option("--blocks", "blocks that are left, made of neighbours; default: all", type=count, metavar="N"),
    output("FOLDER", "folder for statistics.h5 and, if all DIR have them, spectra.h5 and densities.h5", required=True),
)
def _merge(arguments: argparse.Namespace) -> None:
    from sluice_post.merge import merge

    for path, blocks in merge(arguments.directories, arguments.output, arguments.blocks).items():
        print(f"{blocks} blocks: {path}")


@command(
    "validation cases -o docs/validation.md",
    "write a page of the stored results of cases beside published simulations",
    option("cases", "holds NAME/results/statistics.h5 and, if there is one, spectra.h5", metavar="FOLDER", type=Path),
    files(
        "--reference",
        "published profiles, budgets and spectra of channels and Couette flows; each figure takes "
        "those of its flow and Re_tau",
    ),
    output("FILE", "page to write; its figures go to images/", required=True),
)
def _validation(arguments: argparse.Namespace) -> None:
    from sluice_post import validation as pages
    from sluice_post.style import figure_style, save_figure

    page: Path = arguments.output
    published = pages.read_files(arguments.reference or [])
    sections = [pages.INTRODUCTION.rstrip()]
    for directory in pages.find_results(arguments.cases):
        results = pages.read_results(directory)
        images = {}
        with figure_style():
            for name, (title, figure) in pages.figures_of_case(results, published).items():
                image = layout.VALIDATION_IMAGE.format(case=directory.parent.name, figure=name)
                save_figure(figure, page.parent / "images" / image)
                images[f"images/{image}"] = title
        sections.append(pages.section(directory, results, images))
    export.write_text(page, "\n\n".join(sections) + "\n")
    print(f"{len(sections) - 1} cases: {page}")


@command(
    "bench fft_1.json fft_2.json fft_4.json -o fft",
    "tables and figures of what sluice bench step, transpose, fft, links or checkpoint wrote as JSON",
    files("files", "written by sluice bench ... --json FILE"),
    output(
        "NAME", "what the names of the files that are written begin with; default: the first FILE without its suffix"
    ),
    option(
        "--forecast",
        "forecast transforms on P devices, from what was measured on fewer; needs --network",
        type=device_count,
        nargs="+",
        metavar="P",
    ),
    option("--devices-per-host", "of the forecast; default: 8", type=device_count, default=8, metavar="N"),
    option(
        "--network",
        "bandwidth between devices of two hosts, and time of a message in microseconds",
        type=positive_number,
        nargs=2,
        metavar=("GB/S", "US"),
    ),
    *FIGURES,
)
def _bench(arguments: argparse.Namespace) -> None:
    from sluice_post import bench, bench_figures, bench_scaling, fft_model
    from sluice_post.style import figure_style

    if (arguments.forecast is None) != (arguments.network is None):
        raise UsageError("--forecast and --network belong together")
    results = bench.read_results(arguments.files)
    rows, steps = results.rows, results.steps
    base: Path = arguments.output or arguments.files[0].with_suffix("")

    def path(ending: str) -> Path:
        return base.with_name(base.name + ending)

    if not rows.empty:
        texts = (bench.table_text(rows), bench_scaling.exponents_text(rows), fft_model.comparison_text(rows))
        print("\n\n".join(filter(None, texts)))
    if arguments.forecast is not None:
        gb_per_s, microseconds = arguments.network
        link = fft_model.Link(1e9 * gb_per_s, 1e-6 * microseconds)
        forecast = fft_model.forecast_text(rows, arguments.forecast, arguments.devices_per_host, link)
        print(f"\n{forecast or 'no forecast: that needs transforms on several ranks by a method that packs'}")
    if not rows.empty:
        print()
        _write_table(path(".csv"), bench.csv_text(rows))
    if not steps.empty:
        print(f"{bench.steps_table_text(steps)}\n")
        _write_table(path("_phases.csv"), bench.steps_csv_text(steps))
    with figure_style():
        figures = bench_figures.all_figures(results)
        _save_figures({path(f"{name}.png"): figure for name, figure in figures.items()})
