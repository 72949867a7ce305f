"""Scalars in a report and in the commands: entries of figures, tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sluice_post import export, figures_run, layout, scalar_figures, spectra_figures, spectra_tables
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.parameters import FlowParameters
from sluice_post.report_entries import Entry, draw_entries
from sluice_post.scalar_numbers import EvaluatedScalar, csv_text, evaluate_scalars, nusselt_meaning
from sluice_post.scalar_spectra import EvaluatedScalarSpectra
from sluice_post.spectra import AXES
from sluice_post.statistics import Blocks
from sluice_post.style import single_panel
from sluice_post.timeseries import TimeSeries

_BANDS = " Bands: 95 % confidence intervals."
_THETA = "Θ = (c_w − c)/c_τ, c_τ = q_w/u_τ, where q_w is the flux into the fluid and c_w the mean at the wall."
_FLUX = (
    "Turbulent, conductive and total flux over the wall flux, from the fluxes of the scheme itself, and the line that "
    "the fluxes of both walls and the source ask for."
)
_PRANDTL = "Pr_t = ν_t/κ_t from the fluxes and gradients on the faces."


def _entries_of_one(found: EvaluatedScalar) -> list[Entry]:
    band = _BANDS if "C_ci95" in found.data else ""
    mean = f"{_THETA} {nusselt_meaning(found.profiles.scalar)}."
    panels = [("mean", "Mean scalar", mean, "mean"), ("flux", "Wall-normal flux", _FLUX, "fluxes")]
    if not found.profiles.constant:
        signs = "Of Θ with u and w; −w, so that both are positive."
        panels += [
            ("rms", "Fluctuations", "Root mean square over |c_τ|.", "fluctuations"),
            ("prandtl", "Turbulent Prandtl number", _PRANDTL, "turbulent_prandtl"),
            ("correlation", "Correlation coefficients", signs, "correlations"),
        ]

    def entry(ending: str, heading: str, caption: str, panel: str) -> Entry:
        file = f"{layout.SCALAR_NAME.format(found.name)}_{ending}"
        draw = scalar_figures.PANELS[panel]
        return Entry(file, f"{heading}: {found.title}", caption + band, lambda: single_panel(lambda a: draw(a, found)))

    return [entry(*panel) for panel in panels]


def entries_of(scalars: Sequence[EvaluatedScalar], series: TimeSeries | None) -> list[Entry]:
    """The figures of all scalars; their history if the time series is given."""
    entries = [entry for found in scalars for entry in _entries_of_one(found)]
    for name in dict.fromkeys(found.profiles.scalar.name for found in scalars):
        if series is not None:
            caption = "Volume mean, and fluxes into the fluid at both walls, in the units of the case."
            draw = partial(figures_run.scalar_history_figure, series, name)
            file = f"{layout.SCALAR_NAME.format(name)}_history"
            entries.append(Entry(file, f"History: {name}", caption, draw, wide=True))
    return entries


def spectra_entries(spectra: Sequence[EvaluatedScalarSpectra]) -> list[Entry]:
    """The figures of the spectra of scalars."""

    def entries(evaluated: EvaluatedScalarSpectra) -> list[Entry]:
        about = "Of Θ, and of its flux −w'Θ', in wall units."
        band = _BANDS if evaluated.has_intervals else ""
        return [
            Entry(layout.SCALAR_SPECTRA_NAME.format(evaluated.name, "map"),
                  f"Premultiplied spectra: {evaluated.title}",
                  f"{about} The cross is at the maximum; contours are at fractions of it.",
                  lambda: spectra_figures.scalar_map_figure(evaluated.found), wide=True),
            Entry(layout.SCALAR_SPECTRA_NAME.format(evaluated.name, "lines"),
                  f"Premultiplied spectra at chosen heights: {evaluated.title}", about + band,
                  lambda: spectra_figures.scalar_spectra_figure(evaluated), wide=True),
        ]  # fmt: skip

    return [entry for evaluated in spectra for entry in entries(evaluated)]


def write_tables(scalars: Sequence[EvaluatedScalar], folder: Path) -> list[Path]:
    """A CSV file of profiles for each scalar and wall; their paths."""
    return export.write_tables(folder, {layout.SCALAR_NAME.format(found.name): csv_text(found) for found in scalars})


def write_spectra_tables(spectra: Sequence[EvaluatedScalarSpectra], folder: Path) -> list[Path]:
    """A CSV file of spectra along x and one of those along y for each scalar; their paths."""
    texts = {
        layout.SCALAR_SPECTRA_NAME.format(evaluated.name, axis): spectra_tables.spectra_csv(evaluated, axis)
        for evaluated in spectra
        for axis in AXES
    }
    return export.write_tables(folder, texts)


def write_spectra(spectra: Sequence[EvaluatedScalarSpectra], folder: Path) -> list[Path]:
    """Tables and figures; their paths."""
    drawn = draw_entries(spectra_entries(spectra), folder / layout.FIGURE_FOLDER)
    return [*write_spectra_tables(spectra, folder), *(path for figure in drawn for path in figure.paths)]


def chosen(
    blocks: Blocks, parameters: FlowParameters, directory: Path, name: str | None, side: str | None
) -> list[EvaluatedScalar]:
    """The scalars of a run, or the one of this name; an error if there is none."""
    scalars, problems = evaluate_scalars(blocks, parameters, side)
    found = [scalar for scalar in scalars if name in (None, scalar.profiles.scalar.name)]
    if not found and problems:
        raise InputOutputError(f"{directory}: {'; '.join(problems)}")
    if not found:
        names = dict.fromkeys(scalar.profiles.scalar.name for scalar in scalars)
        raise UsageError(
            f"{directory}: its statistics have no scalar{'' if name is None else f' {name}'}; "
            f"they have {', '.join(names) or 'none'}"
        )
    return found


def csv_of_one(scalars: Sequence[EvaluatedScalar]) -> str:
    """The table of a scalar that is seen from one wall."""
    if len(scalars) > 1:
        name = scalars[0].profiles.scalar.name
        raise UsageError(f"{name} differs between the two halves: choose one with --side bottom or --side top")
    return csv_text(scalars[0])
