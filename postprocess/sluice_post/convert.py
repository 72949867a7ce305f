"""The command ``sluice-post convert``: files of other layouts. Imports are inside, as in commands.py."""

from __future__ import annotations

import argparse
from pathlib import Path

from sluice_post import export, layout
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import profiles_csv, wall_profiles, with_intervals
from sluice_post.statistics import Blocks


def _convert_densities(
    arguments: argparse.Namespace, parameters: FlowParameters, statistics: Blocks, folder: Path
) -> None:
    """Writes densities.h5 as CSV, if it is there and the flow fluctuates."""
    from sluice_post.densities import load_densities
    from sluice_post.density_report import write_tables
    from sluice_post.errors import NoBlocksError
    from sluice_post.evaluated_densities import evaluate_densities

    laminar = wall_profiles(statistics.means(), parameters).laminar
    if laminar or not (arguments.directory / layout.DENSITIES_FILE).is_file():
        return
    try:
        loaded = load_densities(arguments.directory, statistics, arguments.begin, arguments.end)
    except NoBlocksError as error:
        print(f"no densities: {error}")
        return
    for path in write_tables(evaluate_densities(loaded, parameters, side=arguments.side), folder):
        print(path)


def convert(arguments: argparse.Namespace) -> None:
    """Writes the files of another layout."""
    from sluice_post.run import load_statistics
    from sluice_post.scalar_numbers import evaluate_scalars
    from sluice_post.scalar_report import write_tables

    folder = arguments.output or arguments.directory
    parameters, blocks = load_statistics(arguments.directory, arguments.begin, arguments.end)
    side = arguments.side
    profiles = with_intervals(wall_profiles(blocks.means(), parameters, side), blocks)
    if arguments.format == "csv":
        export.write_text(folder / layout.PROFILES_CSV, profiles_csv(profiles))
        print(folder / layout.PROFILES_CSV)
        found, _ = evaluate_scalars(blocks, parameters, side)
        for path in write_tables(found, folder):
            print(path)
        _convert_densities(arguments, parameters, blocks, folder)
        return

    from sluice_post import lee_moser
    from sluice_post.errors import NoBlocksError
    from sluice_post.spectra import load_spectra

    files = lee_moser.profile_texts(profiles, parameters)
    fluctuates = not profiles.laminar
    if blocks.has_budgets and fluctuates and not parameters.controlled:
        files |= lee_moser.budget_texts(blocks, parameters, side)
    for name, text in files.items():
        export.write_text(folder / name, text)
        print(folder / name)
    if fluctuates and (arguments.directory / layout.SPECTRA_FILE).is_file():
        try:
            spectra = load_spectra(arguments.directory, blocks, arguments.begin, arguments.end)
        except NoBlocksError as error:
            print(f"no spectra: {error}")
        else:
            for path in lee_moser.write_spectra(folder, spectra, parameters, side):
                print(path)
