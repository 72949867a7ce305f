"""What each command of ``sluice-post`` does. Imports are inside, so that a command loads only what it needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sluice_post import export, layout
from sluice_post.bands import bands_of, profiles_csv
from sluice_post.flow import flow_of
from sluice_post.flow_words import unknown_flow_note
from sluice_post.profiles import wall_profiles
from sluice_post.reference import read_budget_reference, read_references


def report(arguments: argparse.Namespace) -> None:
    """Writes report.html, figures and tables, and prints the summary."""
    from sluice_post.report import write_report
    from sluice_post.results import evaluate, summary_text
    from sluice_post.run import load_run
    from sluice_post.spectra_reference import heights_of, holds_spectra, read_all_spectra

    published_spectra = read_all_spectra([path for path in arguments.reference or [] if holds_spectra(path)])
    files = [path for path in arguments.reference or [] if not holds_spectra(path)]
    reference, published_budgets = read_references(files)
    run = load_run(arguments.directory, arguments.begin, arguments.end, arguments.side)
    results = evaluate(run, heights_of(published_spectra), arguments.side)
    path = write_report(results, reference, published_budgets, published_spectra)
    print(summary_text(results))
    print(f"report: {path}")


def profiles(arguments: argparse.Namespace) -> None:
    """Prints or writes the profiles of the flow or of a scalar as CSV; draws those of scalars."""
    from sluice_post import scalar_report
    from sluice_post.report_entries import draw_entries
    from sluice_post.run import load_statistics

    parameters, blocks = load_statistics(arguments.directory, arguments.begin, arguments.end)
    if arguments.scalar is None and arguments.figures is None:
        scalars = []
    else:
        scalars = scalar_report.chosen(blocks, parameters, arguments.directory, arguments.scalar, arguments.side)
    if arguments.figures is not None:
        draw_entries(scalar_report.entries_of(scalars, None), arguments.figures)
    if arguments.scalar is not None:
        text = scalar_report.csv_of_one(scalars)
    else:
        profiles = wall_profiles(blocks.means(), parameters, arguments.side)
        text = profiles_csv(profiles, bands_of(blocks, parameters, arguments.side))
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        export.write_text(arguments.output, text)


def compare(arguments: argparse.Namespace) -> None:
    """Prints deviations from published data, writes them as JSON, and draws the profiles."""
    from sluice_post import comparison
    from sluice_post.compare_profiles import comparison_figure
    from sluice_post.run import load_statistics
    from sluice_post.style import figure_style, save_figure

    reference, budgets = read_references(arguments.reference)
    parameters, blocks = load_statistics(arguments.directory, arguments.begin, arguments.end)
    found = comparison.compare_run(
        arguments.directory, parameters, blocks, reference, budgets, arguments.quantity, arguments.side
    )
    print(comparison.text(found))
    if arguments.json is not None:
        export.write_text(arguments.json, comparison.json_text(found))
    if reference is None:
        return
    path = arguments.output or arguments.directory / layout.FIGURE_FOLDER / "compare.png"
    names = [row.quantity for row in found.deviations]
    with figure_style():
        bands = bands_of(blocks, parameters, arguments.side)
        written = save_figure(comparison_figure(found.profiles, bands, reference, names), path)
    print(f"\nfigure: {', '.join(map(str, written))}")


def budgets(arguments: argparse.Namespace) -> None:
    """Prints and writes the terms of the budgets."""
    from sluice_post import budget_tables, compare_budgets, scalar_report
    from sluice_post import budgets as budgets_of_run
    from sluice_post.report import budget_entries
    from sluice_post.report_entries import draw_entries
    from sluice_post.run import load_statistics
    from sluice_post.scalar_budgets import evaluate_scalar_budgets
    from sluice_post.scalar_numbers import evaluate_scalars

    references = dict(read_budget_reference(path) for path in arguments.reference or [])
    parameters, blocks = load_statistics(arguments.directory, arguments.begin, arguments.end)
    budgets_of_run.require_budgets(blocks, parameters, arguments.directory)
    evaluated = budgets_of_run.evaluate_budgets(blocks, parameters, arguments.side)
    scalars, _ = evaluate_scalars(blocks, parameters, arguments.side)
    of_scalars = evaluate_scalar_budgets(blocks, parameters, scalars)
    print(budget_tables.table_text(evaluated))
    for of_scalar in of_scalars:
        print(f"\n{budget_tables.scalar_table_text(of_scalar)}")
    if references:
        deviations = compare_budgets.budget_deviations(blocks, parameters, references, arguments.side)
        print(f"\n{compare_budgets.table_text(deviations)}")
        if note := unknown_flow_note(flow_of(parameters)):
            print(f"\n{note}")
    print()
    folder = arguments.output or arguments.directory
    drawn = draw_entries(budget_entries(evaluated, references), folder / layout.FIGURE_FOLDER)
    for stress, entry in zip(budgets_of_run.STRESSES, drawn, strict=True):
        table = folder / f"{layout.BUDGET_NAME.format(stress)}.csv"
        export.write_text(table, budget_tables.csv_text(evaluated, stress))
        print(f"table: {table}, figure: {entry.written}")
    tables = scalar_report.write_budget_tables(of_scalars, folder)
    drawn = draw_entries(scalar_report.budget_entries(of_scalars), folder / layout.FIGURE_FOLDER)
    for table, entry in zip(tables, drawn, strict=True):
        print(f"table: {table}, figure: {entry.written}")


def phases(arguments: argparse.Namespace) -> None:
    """Prints and writes averages by phase."""
    from sluice_post.phase_report import table_text, write_phases
    from sluice_post.phases import evaluate_phases, load_phases

    directory = arguments.directory
    found = evaluate_phases(*load_phases(directory, arguments.begin, arguments.end))
    print(f"{table_text(found)}\n")
    for path in write_phases(found, arguments.output or directory):
        print(f"{'figure' if path.suffix != '.csv' else 'table'}: {path}")


def control(arguments: argparse.Namespace) -> None:
    """Prints what control by the walls saves."""
    from sluice_post.control import powers_of, savings, table_text

    begin, end = arguments.begin, arguments.end
    found = savings(powers_of(arguments.directory, begin, end), powers_of(arguments.reference, begin, end))
    print(table_text(found))


def spectra(arguments: argparse.Namespace) -> None:
    """Prints and writes spectra and two-point correlations."""
    from sluice_post.companions import require_turbulence
    from sluice_post.report import write_spectra
    from sluice_post.run import load_statistics
    from sluice_post.scalar_numbers import evaluate_scalars
    from sluice_post.scalar_report import write_spectra as write_scalar_spectra
    from sluice_post.scalar_spectra import evaluate_scalar_spectra
    from sluice_post.spectra import evaluate_spectra, load_spectra
    from sluice_post.spectra_reference import heights_of, not_shown, read_all_spectra
    from sluice_post.spectra_tables import table_text

    published = read_all_spectra(arguments.reference or [])
    directory, begin, end = arguments.directory, arguments.begin, arguments.end
    parameters, statistics = load_statistics(directory, begin, end)
    blocks = load_spectra(directory, statistics, begin, end)
    require_turbulence(wall_profiles(blocks.means(), parameters), directory, "spectra of fluctuations")
    evaluated = evaluate_spectra(blocks, parameters, arguments.at or heights_of(published), arguments.side)
    print(table_text(evaluated))
    if published and (note := unknown_flow_note(flow_of(parameters))):
        print(note)
    if left_out := not_shown(published, evaluated.heights):
        print(f"not at the chosen heights, so not shown: {', '.join(left_out)}")
    print()
    scalars, _ = evaluate_scalars(statistics, parameters, arguments.side)
    of_scalars = evaluate_scalar_spectra(evaluated, parameters, scalars)
    folder = arguments.output or directory
    for path in write_spectra(evaluated, folder, published) + write_scalar_spectra(of_scalars, folder):
        print(f"{'figure' if path.suffix != '.csv' else 'table'}: {path}")


def densities(arguments: argparse.Namespace) -> None:
    """Prints and writes densities, wall shear and quadrants."""
    from sluice_post.companions import require_turbulence
    from sluice_post.densities import load_densities
    from sluice_post.density_report import write_densities
    from sluice_post.density_tables import table_text
    from sluice_post.evaluated_densities import evaluate_densities
    from sluice_post.run import load_statistics

    directory, begin, end = arguments.directory, arguments.begin, arguments.end
    parameters, statistics = load_statistics(directory, begin, end)
    loaded = load_densities(directory, statistics, begin, end)
    require_turbulence(wall_profiles(statistics.means(), parameters), directory, "densities of fluctuations")
    evaluated = evaluate_densities(loaded, parameters, arguments.at, arguments.side)
    print(f"{table_text(evaluated)}\n")
    for path in write_densities(evaluated, arguments.output or directory):
        print(f"{'figure' if path.suffix != '.csv' else 'table'}: {path}")


def _planes_as_xdmf(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    """Writes the XDMF files of those probes that are planes."""
    from sluice_post.errors import UsageError
    from sluice_post.probe_xdmf import write_xdmf

    if arguments.output is not None or arguments.segment is not None:
        raise UsageError("--xdmf writes beside the probe, without spectra: leave -o and --segment out")
    written = 0
    for name in names:
        found = write_xdmf(arguments.directory, name, arguments.begin, arguments.end)
        if found is not None:
            path, samples = found
            print(f"probe {name}: {samples} samples, for ParaView: {path}")
            written += 1
        elif arguments.probe:
            raise UsageError(f"the probe {name} is not a plane: ParaView opens planes")
    if written == 0:
        raise UsageError(f"{arguments.directory}: none of the probes is a plane")


def probes(arguments: argparse.Namespace) -> None:
    """Prints and writes frequency spectra and convection velocities."""
    from sluice_post import probe_figures, probe_tables
    from sluice_post import probes as sampled
    from sluice_post.convection import convection, has_whole_line
    from sluice_post.errors import UsageError
    from sluice_post.probe_parts import find_probes
    from sluice_post.run import check_directory
    from sluice_post.style import figure_style, save_figure

    directory = check_directory(arguments.directory)
    names = arguments.probe or find_probes(directory)
    if not names:
        raise UsageError(f"{directory}: there are no probes; ask for them by output.probes in the case")
    if arguments.xdmf:
        _planes_as_xdmf(arguments, names)
        return
    folder: Path = arguments.output or directory
    for name in names:
        probe, difference = sampled.read_probe(directory, name, arguments.begin, arguments.end).equal_steps()
        print(
            f"probe {name}: {probe.time.size} samples from {probe.time[0]:g} to {probe.time[-1]:g}, "
            f"every {probe.time[1] - probe.time[0]:.4g}"
        )
        if difference > 0:
            print(f"interpolated to equal intervals, which differ by up to {100 * difference:.2g} %")
        if probe.grid_velocity != 0:
            print(f"the points move at {probe.grid_velocity:g} along x: frequencies are those that they see")
        spectra = [sampled.frequency_spectrum(probe, field, arguments.segment) for field in probe.fields]
        found = [
            convection(probe, field, height)
            for field in probe.fields
            if has_whole_line(probe, field)
            for height in range(probe.axis(field, "z").size)
        ]
        print(probe_tables.table_text(spectra, found))
        tables = {"spectra": probe_tables.spectra_csv(spectra)}
        if found:
            tables["convection"] = probe_tables.convection_csv(found)
        for kind, text in tables.items():
            path = folder / f"probe_{name}_{kind}.csv"
            export.write_text(path, text)
            print(f"table: {path}")
        with figure_style():
            figures = {"spectra": probe_figures.spectra_figure(spectra)}
            if found:
                figures["convection"] = probe_figures.convection_figure(found)
            for kind, figure in figures.items():
                for path in save_figure(figure, folder / "figures" / f"probe_{name}_{kind}.png"):
                    print(f"figure: {path}")


def fields(arguments: argparse.Namespace) -> None:
    """Writes quantities at cell centres from a checkpoint."""
    from sluice_post.errors import UsageError
    from sluice_post.fields_file import Choice, write_fields

    ranges = {}
    for axis in "xyz":
        if (bounds := getattr(arguments, axis)) is not None:
            low, high = bounds
            if not low <= high:
                raise UsageError(f"--{axis} {low:g} {high:g}: the first is not below the second")
            ranges[axis] = (low, high)
    if arguments.output is not None and arguments.output.suffix != ".h5":
        raise UsageError(f"-o {arguments.output}: the name of the file must end in .h5")
    chosen = list(dict.fromkeys(arguments.fields))
    choice = Choice(chosen, arguments.precision, tuple(arguments.stride), ranges, arguments.compress)
    path, (nz, ny, nx) = write_fields(arguments.checkpoint, choice, arguments.output)
    print(f"{nx} x {ny} x {nz} cells: {path}, for ParaView: {path.with_suffix('.xdmf')}")


def export_run(arguments: argparse.Namespace) -> None:
    """Writes the results in the CF conventions."""
    from sluice_post.errors import require_installed

    extra = "zarr" if arguments.zarr else "xarray"
    require_installed(extra, "h5netcdf", "dask", *(["zarr"] if arguments.zarr else []))
    from sluice_post.evaluated_run import Selection
    from sluice_post.exported_run import NetCdf, Zarr, write_run
    from sluice_post.opened_run import OpenedRun

    heights = None if arguments.at is None else tuple(arguments.at)
    chosen = Selection(arguments.begin, arguments.end, arguments.side, heights)
    run = OpenedRun(arguments.directory, chosen)
    path: Path = arguments.zarr or arguments.netcdf
    kind = Zarr if arguments.zarr else NetCdf
    groups, left_out = write_run(run, path, kind, arguments.only, arguments.overwrite)
    for sentence in left_out:
        print(f"left out: {sentence}")
    print(f"{len(groups)} groups: {path}")


def watch(arguments: argparse.Namespace) -> None:
    """Serves a live page of a running case."""
    from sluice_post.errors import require_installed

    require_installed("watch", "bokeh")
    from sluice_post.watch.serve import serve

    reference, _ = read_references(arguments.reference or [])
    serve(arguments.directory, arguments.port, arguments.browser, reference)


def study(arguments: argparse.Namespace) -> None:
    """Writes tables and figures of several runs."""
    from sluice_post import study, study_figures, study_tables
    from sluice_post.style import figure_style, save_figure

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
            figure = study_figures.error_figure(runs, reference, cost)
            for path in save_figure(figure, base.with_name(f"{base.name}_{cost}.png")):
                print(f"figure: {path}")


def refine(arguments: argparse.Namespace) -> None:
    """Prints the error of the grid."""
    from sluice_post import refine, study

    print(refine.table_text(study.read_study(arguments.directories, arguments.begin, arguments.end)))


def merge(arguments: argparse.Namespace) -> None:
    """Merges blocks."""
    from sluice_post import merge as merging

    for path, count in merging.merge(arguments.directories, arguments.output, arguments.blocks).items():
        print(f"{count} blocks: {path}")


def validation(arguments: argparse.Namespace) -> None:
    """Writes the page of stored results beside published simulations, and its figures."""
    from sluice_post import validation as pages
    from sluice_post.style import figure_style, save_figure

    output: Path = arguments.output
    files = pages.read_files(arguments.reference or [])
    sections = []
    for directory in pages.find_results(arguments.cases):
        results = pages.read_results(directory)
        images = {}
        with figure_style():
            drawn = pages.figures_of_case(results, files)
            for name, (title, figure) in drawn.items():
                image = layout.VALIDATION_IMAGE.format(case=directory.parent.name, figure=name)
                save_figure(figure, output.parent / "images" / image)
                images[f"images/{image}"] = title
        sections.append(pages.section(directory, results, images))
    export.write_text(output, "\n\n".join([pages.INTRODUCTION.rstrip(), *sections]) + "\n")
    print(f"{len(sections)} cases: {output}")


def bench(arguments: argparse.Namespace) -> None:
    """Writes tables and figures of measurements."""
    from sluice_post import bench, bench_figures, bench_scaling, bench_steps, fft_model, step_figures
    from sluice_post.errors import UsageError
    from sluice_post.style import figure_style, save_figure

    if (arguments.forecast is None) != (arguments.network is None):
        raise UsageError("--forecast and --network belong together")
    results = bench.read_results(arguments.files)
    rows = results.rows
    base: Path = arguments.output or arguments.files[0].with_suffix("")

    def path(ending: str) -> Path:
        return base.with_name(base.name + ending)

    if rows:
        print(bench.table_text(rows))
        if exponents := bench_scaling.exponents_text(rows):
            print(f"\n{exponents}")
        if comparison := fft_model.comparison_text(rows):
            print(f"\n{comparison}")
    if arguments.forecast is not None:
        gb_per_s, microseconds = arguments.network
        link = fft_model.Link(1e9 * gb_per_s, 1e-6 * microseconds)
        forecast = fft_model.forecast_text(rows, arguments.forecast, arguments.devices_per_host, link)
        print(f"\n{forecast or 'no forecast: that needs transforms on several ranks by a method that packs'}")
    if rows:
        export.write_text(path(".csv"), bench.csv_text(rows))
        print(f"\ntable: {path('.csv')}")
    if results.steps:
        print(bench_steps.table_text(results.steps))
        export.write_text(path("_phases.csv"), bench_steps.csv_text(results.steps))
        print(f"\ntable: {path('_phases.csv')}")
    with figure_style():
        figures = bench_figures.all_figures(rows) | step_figures.all_figures(results.steps)
        for name, figure in figures.items():
            for written in save_figure(figure, path(f"{name}.png")):
                print(f"figure: {written}")
