"""The report of a run: figures, tables of profiles and one self-contained HTML page."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import xarray as xr

from sluice_post import (
    budget_report,
    budgets,
    density_report,
    derived_figures,
    deviations,
    export,
    figures,
    figures_run,
    layout,
    lee_moser,
    literature,
    phase_report,
    scalar_report,
    spectra_figures,
    spectra_tables,
)
from sluice_post.flow_words import unknown_flow_note
from sluice_post.html import report_page
from sluice_post.movies import Scene
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles, profiles_csv
from sluice_post.reference import Reference, References
from sluice_post.report_entries import Entry, draw_entries, of_wall
from sluice_post.results import Results
from sluice_post.slices import fluctuation, label_of
from sluice_post.spectra import AXES, EvaluatedSpectra
from sluice_post.spectra_figures import Published
from sluice_post.spectra_reference import not_shown
from sluice_post.style import single_panel
from sluice_post.timeseries import re_tau_last_third

_STRESS_CAPTION = (
    "Above: viscous, Reynolds and total shear stress over the wall stress, from the fluxes of the scheme "
    "itself at the faces, and the total that the mean momentum balance of a steady flow requires (balance). Below: "
    "the difference between the two totals."
)


_SKEWNESS_OF_V = "The skewness of v is 0 by symmetry: its values show the sampling error. "
_TWO_STRESSES_CAPTION = (
    "Above: viscous, Reynolds and total shear stress over the wall stress, from the fluxes of the scheme itself at the "
    "faces, and the total that balances the Coriolis force in a steady mean flow (balance). Solid: along x; dashed: "
    "along y. "
    "Below: the difference between the two totals."
)


def _fluctuations_caption(results: Results) -> str:
    moving = [letter for letter in "uv" if results.remark_of(f"{letter}_peak")]
    remark = f" {' and '.join(f'{letter}′' for letter in moving)} include{'s' if len(moving) == 1 else ''}"
    return "Root-mean-square fluctuations." + (f"{remark} the motion of the wall." if moving else "")


def _profile_entries(profiles: WallProfiles, results: Results, parameters: FlowParameters) -> list[Entry]:
    band = " Bands: 95 % confidence intervals." if profiles.half_widths else ""
    skewness_of_v = _SKEWNESS_OF_V if parameters.is_even_along_y else ""
    along = ("streamwise", "spanwise") if parameters.runs_along_x else ("along x", "along y")
    law = f"Law of the wall: {literature.LOG_LAW_SOURCE}."
    entries = [
        Entry("mean_velocity", "Mean velocity", (law if not profiles.laminar else "") + band,
              lambda: single_panel(lambda axes: figures.mean_velocity(axes, profiles))),
        Entry("fluctuations", "Fluctuations", _fluctuations_caption(results) + band,
              lambda: None if profiles.laminar
              else single_panel(lambda axes: figures.fluctuations(axes, profiles))),
        Entry("shear_stress", "Shear stress", (_TWO_STRESSES_CAPTION if profiles.turns else _STRESS_CAPTION) + band,
              lambda: figures.shear_stress_figure(profiles)),
        Entry("vorticity", "Vorticity", "Root-mean-square vorticity fluctuations." + band,
              lambda: single_panel(lambda axes: figures.vorticity(axes, profiles))
              if figures.has_vorticity(profiles) else None),
        Entry("higher_moments", "Skewness and flatness",
              f"Skewness and flatness of u ({along[0]}), v ({along[1]}) and w (wall-normal, positive away "
              "from the wall; on the faces). " + skewness_of_v + "Dashed: the Gaussian values 0 and 3." + band,
              lambda: figures.higher_moments(profiles), wide=True),
    ]  # fmt: skip
    return of_wall(entries, profiles.wall)


def _run_entries(results: Results) -> list[Entry]:
    run, entries = results.run, []
    if run.streaks is not None:
        streaks, profiles = run.streaks, run.profiles
        height = run.parameters.size[2] if run.parameters else 0.0
        plus = profiles.u_tau / profiles.viscosity if profiles else None
        u_tau = profiles.u_tau if profiles else None
        if profiles is None and run.parameters is not None and results.last_third:
            u_tau = results.last_third[0].value * run.parameters.viscosity
            plus = u_tau / run.parameters.viscosity
        caption = "Streamwise velocity less its plane mean, latest slice parallel to the wall."
        entries.append(
            Entry(
                "streaks",
                "Streaks",
                caption,
                lambda: figures_run.streak_picture(streaks, height, plus, u_tau),
                wide=True,
                scene=Scene(
                    run.directory,
                    label_of(streaks.path),
                    layout.SLICE_FIELD,
                    streaks.time,
                    lambda u: fluctuation(u, plus, u_tau),
                ),
            )
        )
    for plane in run.planes:
        entries.append(
            Entry(
                f"slice_{plane.label}",
                f"{plane.field} at {plane.normal} = {plane.at:.4g}",
                "Latest slice, in the units of the case.",
                partial(figures_run.plane_picture, plane),
                wide=True,
                scene=Scene(run.directory, plane.label, plane.field, plane.time),
            )
        )
    if run.series is not None:
        series, mean = run.series, re_tau_last_third(run.series)
        start = float(run.blocks.time_begin[0]) if run.blocks is not None else None
        mark = " Dashed: where the averages of the statistics start." if start is not None else ""
        entries.append(Entry("history", "History of the run",
                             "In units of h and U, the unit of velocity of the case." + mark,
                             lambda: figures_run.history(series, mean, start), wide=True))  # fmt: skip
    return entries


def _derived_entries(found: xr.Dataset) -> list[Entry]:
    band = " Bands and bars: 95 % confidence intervals." if "stress_xi_ci95" in found else ""
    tensors = " and of their dissipation" if "dissipation_xi" in found else ""
    return [
        Entry("enstrophy", "Enstrophy",
              "Of the fluctuations. In homogeneous turbulence it is the dissipation in these units." + band,
              lambda: single_panel(lambda axes: derived_figures.enstrophy(axes, found))
              if "enstrophy_plus" in found else None),
        Entry("invariant_map", "Anisotropy: Lumley's triangle",
              "Invariants of the anisotropy from the wall to the centre (Pope, Turbulent Flows, sec. 11.3.2)." + band,
              lambda: derived_figures.invariant_map_figure(found), wide=True),
        Entry("anisotropy", "Anisotropy", f"Of the Reynolds stresses{tensors}." + band,
              lambda: derived_figures.anisotropy_figure(found), wide=True),
        Entry("kolmogorov", "Kolmogorov's length", "And the size of the cells in it." + band,
              lambda: derived_figures.kolmogorov_figure(found), wide=True),
    ]  # fmt: skip


def _spectra_entries(evaluated: EvaluatedSpectra, published: Published) -> list[Entry]:
    extra = " Bands: 95 % confidence intervals." if evaluated.has_intervals else ""
    left_out = not_shown(published, evaluated.heights)
    shown = list(dict.fromkeys(spectra.label for spectra in published if spectra.label not in left_out))
    if shown:
        extra += f" Circles: {', '.join(shown)}."

    def entries(axis: str) -> list[Entry]:
        along = f"along {axis}"
        return [
            Entry(layout.SPECTRA_MAP_NAME.format(axis), f"Premultiplied spectra {along}",
                  "In wall units. The cross is at the maximum; contours are at fractions of it.",
                  lambda: spectra_figures.map_figure(evaluated.found, axis), wide=True),
            Entry(layout.SPECTRA_NAME.format(axis), f"Spectra {along}", "Spectral densities in wall units." + extra,
                  lambda: spectra_figures.spectra_figure(evaluated, axis, published), wide=True),
            Entry(layout.CORRELATIONS_NAME.format(axis), f"Two-point correlations {along}",
                  "Up to half the length of the box." + extra,
                  lambda: spectra_figures.correlations_figure(evaluated, axis, published), wide=True),
        ]  # fmt: skip

    on_wall = Entry(layout.WALL_SPECTRA_FIGURE, "Wall shear stress and wall pressure",
                    "Premultiplied spectra in wall units." + extra,
                    lambda: spectra_figures.wall_figure(evaluated), wide=True)  # fmt: skip
    found = [*(entry for axis in AXES for entry in entries(axis)), on_wall, *_plane_entries(evaluated)]
    return of_wall(found, evaluated.found.wall)


def _plane_entries(evaluated: EvaluatedSpectra) -> list[Entry]:
    found = evaluated.found

    def entry(height: int) -> Entry:
        z_plus = found.planes["uu"].z_plus[height]
        return Entry(layout.PLANE_SPECTRA_NAME.format(height + 1),
                     f"Premultiplied spectra along x and y at z+ = {z_plus:.3g}",
                     "In wall units. The cross is at the maximum; contours are at fractions of it.",
                     lambda: spectra_figures.plane_figure(found, height), wide=True)  # fmt: skip

    return [entry(height) for height in range(len(found.planes["uu"].z_plus))] if found.planes else []


def write_spectra(evaluated: EvaluatedSpectra, folder: Path, published: Published) -> list[Path]:
    """Writes the tables and figures of spectra and correlations; returns their paths."""
    texts = _spectra_tables(evaluated)
    if evaluated.found.planes:
        for points, quantities in (("centres", ("uu", "vv", "pp")), ("faces", ("ww", "minus_uw"))):
            texts[layout.PLANE_SPECTRA_NAME.format(points)] = spectra_tables.plane_spectra_csv(evaluated, quantities)
    drawn = draw_entries(_spectra_entries(evaluated, published), folder / layout.FIGURE_FOLDER)
    return [*export.write_tables(folder, texts), *(path for figure in drawn for path in figure.paths)]


def _spectra_tables(evaluated: EvaluatedSpectra) -> dict[str, str]:
    texts = {}
    for axis in AXES:
        texts[layout.SPECTRA_NAME.format(axis)] = spectra_tables.spectra_csv(evaluated, axis)
        texts[layout.CORRELATIONS_NAME.format(axis)] = spectra_tables.correlations_csv(evaluated, axis)
        texts[layout.WALL_SPECTRA_NAME.format(axis)] = spectra_tables.wall_csv(evaluated, axis)
    return texts


def _comparison_entry(results: Results, reference: Reference) -> tuple[Entry, str] | None:
    run, profiles = results.run, results.run.profiles
    if profiles is None or run.blocks is None or run.parameters is None:
        return None
    names = deviations.common_quantities(profiles, reference, None)
    rows = deviations.deviations(run.blocks, run.parameters, reference, names, results.side)
    text = deviations.table_text(rows, profiles, reference)
    entry = Entry("compare", "Comparison", f"Against {reference.label}.",
                  lambda: deviations.comparison_figure(profiles, reference, names),
                  wide=True)  # fmt: skip
    return entry, text


def _data_files(results: Results) -> None:
    run = results.run
    if run.profiles is None or run.parameters is None:
        return
    for evaluated in ([results.budgets] if results.budgets else []) + results.scalar_budgets:
        budget_report.write_tables(evaluated, run.directory)
    if results.derived is not None:
        export.write_text(run.directory / layout.DERIVED_CSV, budgets.csv_text(results.derived))
    if results.spectra is not None:
        export.write_tables(run.directory, _spectra_tables(results.spectra))
    if results.densities is not None:
        density_report.write_tables(results.densities, run.directory)
    if results.phases is not None:
        phase_report.write_tables(results.phases, run.directory)
    scalar_report.write_tables(results.scalars, run.directory)
    scalar_report.write_spectra_tables(results.scalar_spectra, run.directory)
    export.write_text(run.directory / layout.PROFILES_CSV, profiles_csv(run.profiles))
    for name, text in lee_moser.profile_texts(run.profiles, run.parameters).items():
        export.write_text(run.directory / name, text)


def write_report(
    results: Results,
    reference: Reference | None = None,
    published_budgets: References | None = None,
    published_spectra: Published = (),
) -> Path:
    """Writes report.html, the figures, and tables of all that they show into the run directory."""
    run, published_budgets = results.run, published_budgets or {}
    entries, comparisons = [], []
    if run.profiles is not None and run.parameters is not None:
        entries += _profile_entries(run.profiles, results, run.parameters)
    if results.budgets is not None:
        entries += budget_report.entries_of(results.budgets, published_budgets)
        if published_budgets and run.blocks is not None and run.parameters is not None:
            of_budgets = deviations.budget_deviations(run.blocks, run.parameters, published_budgets, results.side)
            comparisons.append(deviations.budget_table_text(of_budgets))
    if results.derived is not None:
        entries += of_wall(_derived_entries(results.derived), run.profiles.wall if run.profiles else "")
    if results.spectra is not None:
        entries += _spectra_entries(results.spectra, published_spectra)
    if results.densities is not None:
        entries += density_report.entries_of(results.densities)
    if results.phases is not None:
        entries += phase_report.entries_of(results.phases)
    entries += scalar_report.entries_of(results.scalars, run.series)
    entries += [entry for of_scalar in results.scalar_budgets for entry in budget_report.entries_of(of_scalar, {})]
    entries += scalar_report.spectra_entries(results.scalar_spectra)
    entries += _run_entries(results)
    if reference is not None and (found := _comparison_entry(results, reference)) is not None:
        entry, comparison = found
        entries.append(entry)
        comparisons.insert(0, comparison)
    note = unknown_flow_note(results.flow)
    if note and (reference is not None or published_budgets or published_spectra):
        comparisons.insert(0, note)
    problems: list[str] = []
    drawn = draw_entries(entries, run.directory / layout.FIGURE_FOLDER, problems)
    run.missing.extend(f"{problem}." for problem in problems if f"{problem}." not in run.missing)
    _data_files(results)
    path = run.directory / layout.REPORT_FILE
    export.write_text(path, report_page(results, [figure.embedded for figure in drawn], "\n\n".join(comparisons)))
    return path
