"""The command ``sluice-post convert``: files of other layouts."""

from __future__ import annotations

import argparse

from sluice_post import export, layout, lee_moser
from sluice_post.densities import load_densities
from sluice_post.errors import NoBlocksError
from sluice_post.evaluated_densities import evaluate_densities
from sluice_post.profiles import profiles_csv, wall_profiles, with_intervals
from sluice_post.report_parts import densities_part, scalars_part
from sluice_post.run import load_statistics
from sluice_post.scalar_numbers import evaluate_scalars
from sluice_post.spectra import load_spectra


def convert(arguments: argparse.Namespace) -> None:
    """Writes the files of another layout: of the profiles, then of densities or spectra, if the flow fluctuates."""
    directory, side, times = arguments.directory, arguments.side, (arguments.begin, arguments.end)
    folder = arguments.output or directory
    parameters, blocks = load_statistics(directory, *times)
    profiles = with_intervals(wall_profiles(blocks.means(), parameters, side), blocks)
    of_csv = arguments.format == "csv"
    if of_csv:
        texts = {layout.PROFILES_CSV: profiles_csv(profiles)}
    else:
        texts = lee_moser.profile_texts(profiles, parameters)
        if blocks.has_budgets and not (profiles.laminar or parameters.controlled):
            texts |= lee_moser.budget_texts(blocks, parameters, side)
    for name, text in texts.items():
        export.write_text(folder / name, text)
    told: list[object] = [folder / name for name in texts]
    if of_csv:
        told += scalars_part(evaluate_scalars(blocks, parameters, side)[0]).write_tables(folder)
    file = layout.DENSITIES_FILE if of_csv else layout.SPECTRA_FILE
    has_more = not profiles.laminar and (directory / file).is_file()
    try:
        if has_more and of_csv:
            evaluated = evaluate_densities(load_densities(directory, blocks, *times), parameters, side=side)
            told += densities_part(evaluated).write_tables(folder)
        elif has_more:
            told += lee_moser.write_spectra(folder, load_spectra(directory, blocks, *times), parameters, side)
    except NoBlocksError as error:
        told.append(f"no {file.removesuffix('.h5')}: {error}")
    print(*told, sep="\n")
