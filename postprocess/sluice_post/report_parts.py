"""What a report and the commands show of each kind of results: figures with their captions, and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from sluice_post import (
    budget_figures,
    budgets,
    density_figures,
    density_tables,
    derived_figures,
    export,
    figures,
    figures_run,
    joint_figures,
    layout,
    lee_moser,
    literature,
    phase_figures,
    scalar_figures,
    spectra_figures,
    spectra_tables,
)
from sluice_post.budgets import EvaluatedBudgets
from sluice_post.evaluated_densities import EvaluatedDensities
from sluice_post.movies import Scene
from sluice_post.parameters import FlowParameters
from sluice_post.phases import has_intervals
from sluice_post.profiles import WallProfiles, profiles_csv
from sluice_post.reference import References
from sluice_post.report_entries import Entry, Part
from sluice_post.results import Results
from sluice_post.scalar_numbers import EvaluatedScalar, csv_text, nusselt_meaning
from sluice_post.scalar_spectra import EvaluatedScalarSpectra
from sluice_post.slices import fluctuation, label_of
from sluice_post.spectra import AXES, EvaluatedSpectra
from sluice_post.spectra_figures import Published
from sluice_post.spectra_reference import not_shown
from sluice_post.style import single_panel
from sluice_post.timeseries import TimeSeries, re_tau_last_third

_BANDS = " Bands: 95 % confidence intervals."
_OF_MAPS = "In wall units. The cross is at the maximum; contours are at fractions of it."


def _panel(draw: Callable[..., object], shown: Any) -> Callable[[], Figure]:
    """What draws one panel as a figure of its own."""
    return lambda: single_panel(lambda axes: draw(axes, shown))


def _nothing() -> None:
    """In place of a figure that has nothing to show."""


# Of the shear stress, where the mean flow keeps its direction and where it turns.
_STRESS = (
    "Above: viscous, Reynolds and total shear stress over the wall stress, from the fluxes of the scheme itself at the "
    "faces, and the total that {}Below: the difference between the two totals."
)
_STRESS_OF_TURNING = {
    False: "the mean momentum balance of a steady flow requires (balance). ",
    True: "balances the Coriolis force in a steady mean flow (balance). Solid: along x; dashed: along y. ",
}


def profiles_part(results: Results, profiles: WallProfiles, parameters: FlowParameters) -> Part:
    """Profiles of the flow, and its averages in the layouts of others."""
    band = _BANDS if profiles.half_widths else ""
    law = "" if profiles.laminar else f"Law of the wall: {literature.LOG_LAW_SOURCE}."
    moving = [f"{letter}′" for letter in "uv" if results.remark_of(f"{letter}_peak")]
    moved = f" {' and '.join(moving)} include{'s' if len(moving) == 1 else ''} the motion of the wall."
    along_x, along_y = ("streamwise", "spanwise") if parameters.runs_along_x else ("along x", "along y")
    symmetric = "The skewness of v is 0 by symmetry: its values show the sampling error. "
    entries = [
        Entry("mean_velocity", "Mean velocity", law + band, _panel(figures.mean_velocity, profiles)),
        Entry("fluctuations", "Fluctuations", "Root-mean-square fluctuations." + (moved if moving else "") + band,
              _nothing if profiles.laminar else _panel(figures.fluctuations, profiles)),
        Entry("shear_stress", "Shear stress", _STRESS.format(_STRESS_OF_TURNING[profiles.turns]) + band,
              partial(figures.shear_stress_figure, profiles)),
        Entry("vorticity", "Vorticity", "Root-mean-square vorticity fluctuations." + band,
              _panel(figures.vorticity, profiles) if figures.has_vorticity(profiles) else _nothing),
        Entry("higher_moments", "Skewness and flatness",
              f"Skewness and flatness of u ({along_x}), v ({along_y}) and w (wall-normal, positive away from the "
              f"wall; on the faces). {symmetric if parameters.is_even_along_y else ''}Dashed: the Gaussian values 0 "
              f"and 3.{band}",
              partial(figures.higher_moments, profiles), wide=True),
    ]  # fmt: skip
    tables = {layout.PROFILES_CSV: profiles_csv(profiles)} | lee_moser.profile_texts(profiles, parameters)
    return Part(entries, tables, profiles.wall)


def run_part(results: Results) -> Part:
    """Pictures of slices, and the history of the run."""
    run, series, entries = results.run, results.run.series, []
    if run.streaks is not None:
        streaks, height = run.streaks, run.parameters.size[2] if run.parameters else 0.0
        plus, u_tau = None, None
        if run.profiles is not None:
            u_tau, plus = run.profiles.u_tau, run.profiles.u_tau / run.profiles.viscosity
        elif run.parameters is not None and results.last_third:
            u_tau = results.last_third[0].value * run.parameters.viscosity
            plus = u_tau / run.parameters.viscosity
        shown = partial(fluctuation, plus=plus, u_tau=u_tau)
        scene = Scene(run.directory, label_of(streaks.path), layout.SLICE_FIELD, streaks.time, shown)
        entries.append(Entry("streaks", "Streaks",
                             "Streamwise velocity less its plane mean, latest slice parallel to the wall.",
                             partial(figures_run.streak_picture, streaks, height, plus, u_tau),
                             wide=True, scene=scene))  # fmt: skip
    for plane in run.planes:
        entries.append(Entry(f"slice_{plane.label}", f"{plane.field} at {plane.normal} = {plane.at:.4g}",
                             "Latest slice, in the units of the case.", partial(figures_run.plane_picture, plane),
                             wide=True, scene=Scene(run.directory, plane.label, plane.field, plane.time)))  # fmt: skip
    if series is not None:
        start = float(run.blocks.time_begin[0]) if run.blocks is not None else None
        mark = " Dashed: where the averages of the statistics start." if start is not None else ""
        entries.append(Entry("history", "History of the run",
                             "In units of h and U, the unit of velocity of the case." + mark,
                             partial(figures_run.history, series, re_tau_last_third(series), start),
                             wide=True))  # fmt: skip
    return Part(entries)


_STORAGE = "the storage is the rate of change from the first to the last block of statistics."
_OF_FLOW = "Terms in wall units, dissipation negative. The imbalance is their sum; "
_OF_SCALARS = {
    "cc": "Of ΘΘ, which is twice that of ΘΘ/2, in units of c_τ²u_τ²/ν.",
    "uc": "Of uΘ, in units of c_τu_τ³/ν.",
    "wc": "Of wΘ, which is negative, in units of c_τu_τ³/ν.",
}


def budgets_part(evaluated: EvaluatedBudgets, references: References) -> Part:
    """Budgets of Reynolds stresses or of a scalar, a figure and a table for each; circles: published ones."""

    def file(budget: str) -> str:
        kind, of = (layout.SCALAR_BUDGET_NAME, [evaluated.name]) if evaluated.name else (layout.BUDGET_NAME, [])
        return kind.format(*of, budget)

    def entry(budget: str) -> Entry:
        about = f"{_OF_SCALARS[budget]} The imbalance is the sum of the terms; " if evaluated.title else _OF_FLOW
        band = _BANDS if evaluated.has_intervals else ""
        circles = f" Circles: {references[budget].label}." if budget in references else ""
        title = f"Budget of the {budget_figures.NAMES[budget]}" + (f": {evaluated.title}" if evaluated.title else "")
        draw = partial(budget_figures.budget_figure, evaluated, budget, references)
        return Entry(file(budget), title, about + _STORAGE + band + circles, draw, wide=budget in budget_figures.LARGE)

    tables = {f"{file(budget)}.csv": budgets.csv_text(data) for budget, data in evaluated.data.items()}
    return Part([entry(budget) for budget in evaluated.data], tables, evaluated.found.wall)


def derived_part(found: xr.Dataset, wall: str) -> Part:
    """Enstrophy, anisotropy and Kolmogorov's scales."""
    band = " Bands and bars: 95 % confidence intervals." if "stress_xi_ci95" in found else ""
    tensors = " and of their dissipation" if "dissipation_xi" in found else ""
    entries = [
        Entry("enstrophy", "Enstrophy",
              "Of the fluctuations. In homogeneous turbulence it is the dissipation in these units." + band,
              _panel(derived_figures.enstrophy, found) if "enstrophy_plus" in found else _nothing),
        Entry("invariant_map", "Anisotropy: Lumley's triangle",
              "Invariants of the anisotropy from the wall to the centre (Pope, Turbulent Flows, sec. 11.3.2)." + band,
              partial(derived_figures.invariant_map_figure, found), wide=True),
        Entry("anisotropy", "Anisotropy", f"Of the Reynolds stresses{tensors}." + band,
              partial(derived_figures.anisotropy_figure, found), wide=True),
        Entry("kolmogorov", "Kolmogorov's length", "And the size of the cells in it." + band,
              partial(derived_figures.kolmogorov_figure, found), wide=True),
    ]  # fmt: skip
    return Part(entries, {layout.DERIVED_CSV: budgets.csv_text(found)}, wall)


def spectra_part(evaluated: EvaluatedSpectra, published: Published) -> Part:
    """Spectra and correlations along x and y at chosen heights and on the wall, and spectra in both directions."""
    found, band = evaluated.found, _BANDS if evaluated.has_intervals else ""
    left_out = not_shown(published, evaluated.heights)
    labels = dict.fromkeys(spectra.label for spectra in published if spectra.label not in left_out)
    extra = band + (f" Circles: {', '.join(labels)}." if labels else "")
    entries, tables = [], {}
    for axis in AXES:
        lines = layout.SPECTRA_NAME.format(axis), layout.CORRELATIONS_NAME.format(axis)
        entries += [
            Entry(layout.SPECTRA_MAP_NAME.format(axis), f"Premultiplied spectra along {axis}", _OF_MAPS,
                  partial(spectra_figures.map_figure, found, axis), wide=True),
            Entry(lines[0], f"Spectra along {axis}", "Spectral densities in wall units." + extra,
                  partial(spectra_figures.spectra_figure, evaluated, axis, published), wide=True),
            Entry(lines[1], f"Two-point correlations along {axis}", "Up to half the length of the box." + extra,
                  partial(spectra_figures.correlations_figure, evaluated, axis, published), wide=True),
        ]  # fmt: skip
        tables[f"{lines[0]}.csv"] = spectra_tables.spectra_csv(evaluated, axis)
        tables[f"{lines[1]}.csv"] = spectra_tables.correlations_csv(evaluated, axis)
        tables[f"{layout.WALL_SPECTRA_NAME.format(axis)}.csv"] = spectra_tables.wall_csv(evaluated, axis)
    entries.append(Entry(layout.WALL_SPECTRA_FIGURE, "Wall shear stress and wall pressure",
                         "Premultiplied spectra in wall units." + band,
                         partial(spectra_figures.wall_figure, evaluated), wide=True))  # fmt: skip
    for n, z_plus in enumerate(found.planes["uu"].z_plus if found.planes else ()):
        title = f"Premultiplied spectra along x and y at z+ = {z_plus:.3g}"
        draw = partial(spectra_figures.plane_figure, found, n)
        entries.append(Entry(layout.PLANE_SPECTRA_NAME.format(n + 1), title, _OF_MAPS, draw, wide=True))
    return Part(entries, tables, found.wall)


def plane_tables(evaluated: EvaluatedSpectra) -> dict[str, str]:
    """Tables of the spectra in both directions, which are too long for a report."""
    kinds = {"centres": ("uu", "vv", "pp"), "faces": ("ww", "minus_uw")} if evaluated.found.planes else {}
    return {
        f"{layout.PLANE_SPECTRA_NAME.format(points)}.csv": spectra_tables.plane_spectra_csv(evaluated, quantities)
        for points, quantities in kinds.items()
    }


def densities_part(evaluated: EvaluatedDensities) -> Part:
    """Densities, quadrants and wall shear."""
    band = _BANDS if evaluated.has_intervals else ""
    cut_off = (
        "Open symbols: values beyond the bins, which count in the end bins, would change the moment by more than its "
        "interval (estimated)."
    )
    of_moments = "Of velocity and pressure, w positive away from the wall. Dashed: the Gaussian values 0 and 3. "
    rows: list[tuple[str, Callable[[EvaluatedDensities], Figure | None], str, str]] = [
        ("densities", density_figures.densities_figure, "Densities of velocity and pressure",
         "Of the fluctuations over their standard deviation, at the planes nearest to these heights." + band),
        ("density_moments", density_figures.moments_figure, "Skewness and flatness of the densities",
         of_moments + cut_off + band),
        ("wall_shear", density_figures.wall_shear_figure, "Densities of the wall shear",
         "Over the mean of its streamwise component." + band),
        ("density_map", density_figures.map_figure, "Density of u over the height",
         "Relative to the wall. Nothing is shown beyond the bins, about 8 standard deviations from the mean."),
        ("wall_shear_joint", joint_figures.shear_joint_figure, "Joint density of both components of the wall shear",
         ""),
        ("quadrants", density_figures.quadrants_figure, "Quadrants of the shear stress",
         "Contributions in wall units, and fractions of time." + band),
        ("joint_uw", joint_figures.joint_figure, "Joint densities of u and w",
         "At the heights of output.densities.heights."),
        ("covariance_uw", joint_figures.covariance_figure, "Covariance integrands",
         "Their integral over each quadrant is what it contributes to the shear stress."),
        ("quadrants_outside_holes", density_figures.holes_figure, "Quadrants outside hyperbolic holes",
         "Outside |u'w'| = H u_rms w_rms, in wall units." + band),
    ]  # fmt: skip
    narrow = ("density_map", "wall_shear_joint")
    entries = [
        Entry(name, title, caption, partial(draw, evaluated), wide=name not in narrow)
        for name, draw, title, caption in rows
    ]
    return Part(entries, density_tables.csv_texts(evaluated), evaluated.found.view.wall)


_PHASE_FIGURES = {
    "profiles": ("Velocity by phase", "At phases of the period from time 0; dashed: the mean."),
    "wall_shear": ("Wall shear stress by phase", "On both walls."),
    "bulk_velocity": ("Bulk velocity by phase", ""),
    "amplitude": ("First harmonic: amplitude", ""),
    "lag": ("First harmonic: phase of its maximum", "In periods."),
    "variances": ("Variances of u and v", "Of the periodic part, and of the fluctuations about it."),
}
_PHASE_TABLES = {
    layout.PHASES_CSV: ("phase",),
    layout.PHASE_HARMONIC_CSV: ("z",),
    layout.PHASE_PROFILES_CSV: ("z", "phase"),
}


def phases_part(found: xr.Dataset) -> Part:
    """Averages by phase; their tables by phase, by height, and by both."""
    band = _BANDS if has_intervals(found) else ""
    entries = [
        Entry(f"phase_{name}", title, (caption + band).strip(), _panel(getattr(phase_figures, name), found))
        for name, (title, caption) in _PHASE_FIGURES.items()
    ]
    tables = {
        file: export.csv_text(found[[name for name, values in found.data_vars.items() if values.dims == dims]])
        for file, dims in _PHASE_TABLES.items()
    }
    return Part(entries, tables)


_THETA = "Θ = (c_w − c)/c_τ, c_τ = q_w/u_τ, where q_w is the flux into the fluid and c_w the mean at the wall."
# Of the figures of a scalar: the ending of the file's name, the title, the caption and the panel.
_SCALAR_FIGURES = (
    ("mean", "Mean scalar", _THETA + " {}.", scalar_figures.mean),
    ("flux", "Wall-normal flux",
     "Turbulent, conductive and total flux over the wall flux, from the fluxes of the scheme itself, and the line that "
     "the fluxes of both walls and the source ask for.", scalar_figures.fluxes),
    ("rms", "Fluctuations", "Root mean square over |c_τ|.", scalar_figures.fluctuations),
    ("prandtl", "Turbulent Prandtl number", "Pr_t = ν_t/κ_t from the fluxes and gradients on the faces.",
     scalar_figures.turbulent_prandtl),
    ("correlation", "Correlation coefficients", "Of Θ with u and w; −w, so that both are positive.",
     scalar_figures.correlations),
)  # fmt: skip


def scalars_part(scalars: Sequence[EvaluatedScalar], series: TimeSeries | None = None) -> Part:
    """Profiles of scalars as seen from each wall that shows them; their history if the time series is given."""
    entries = []
    for found in scalars:
        file, band = layout.SCALAR_NAME.format(found.name), _BANDS if "C_ci95" in found.data else ""
        meaning = nusselt_meaning(found.profiles.scalar)
        entries += [
            Entry(f"{file}_{ending}", f"{title}: {found.title}", caption.format(meaning) + band, _panel(draw, found))
            for ending, title, caption, draw in _SCALAR_FIGURES[: 2 if found.profiles.constant else None]
        ]
    if series is not None:
        for name in dict.fromkeys(found.profiles.scalar.name for found in scalars):
            entries.append(Entry(f"{layout.SCALAR_NAME.format(name)}_history", f"History: {name}",
                                 "Volume mean, and fluxes into the fluid at both walls, in the units of the case.",
                                 partial(figures_run.scalar_history_figure, series, name), wide=True))  # fmt: skip
    return Part(entries, {f"{layout.SCALAR_NAME.format(found.name)}.csv": csv_text(found) for found in scalars})


def scalar_spectra_part(spectra: Sequence[EvaluatedScalarSpectra]) -> Part:
    """Spectra of scalars, their tables along x and along y."""
    about, entries = "Of Θ, and of its flux −w'Θ', in wall units.", []
    tables: dict[str, str] = {}
    for found in spectra:
        file = partial(layout.SCALAR_SPECTRA_NAME.format, found.name)
        entries += [
            Entry(file("map"), f"Premultiplied spectra: {found.title}",
                  f"{about} The cross is at the maximum; contours are at fractions of it.",
                  partial(spectra_figures.scalar_map_figure, found.found), wide=True),
            Entry(file("lines"), f"Premultiplied spectra at chosen heights: {found.title}",
                  about + (_BANDS if found.has_intervals else ""),
                  partial(spectra_figures.scalar_spectra_figure, found), wide=True),
        ]  # fmt: skip
        tables |= {f"{file(axis)}.csv": spectra_tables.spectra_csv(found, axis) for axis in AXES}
    return Part(entries, tables)
