"""Averages by phase in a report, and the tables and figures that show them alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sluice_post import export, layout, phase_figures
from sluice_post.phases import PhaseAverages
from sluice_post.printed import with_interval
from sluice_post.report_entries import Entry, draw_entries
from sluice_post.style import single_panel


def entries_of(found: PhaseAverages) -> list[Entry]:
    """The figures of averages by phase."""
    band = " Bands: 95 % confidence intervals." if found.has_intervals else ""
    panels = (
        ("profiles", "Velocity by phase", "At phases of the period from time 0; dashed: the mean.",
         phase_figures.profiles),
        ("wall_shear", "Wall shear stress by phase", "On both walls.", phase_figures.wall_shear),
        ("bulk_velocity", "Bulk velocity by phase", "", phase_figures.bulk_velocity),
        ("amplitude", "First harmonic: amplitude", "", phase_figures.amplitude),
        ("lag", "First harmonic: phase of its maximum", "In periods.", phase_figures.lag),
        ("variances", "Variances of u and v", "Of the periodic part, and of the fluctuations about it.",
         phase_figures.variances),
    )  # fmt: skip
    return [
        Entry(
            f"phase_{name}",
            title,
            (caption + band).strip(),
            lambda panel=panel: single_panel(lambda axes: panel(axes, found)),  # type: ignore[misc]
        )
        for name, title, caption, panel in panels
    ]


def csv_texts(found: PhaseAverages) -> dict[str, str]:
    """The tables: by phase, by height, and by both; `NAME_ci95` is the half width of an interval."""

    def with_width(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
        return {name: values.ravel(), f"{name}_ci95": found.widths[name].ravel()}

    by_phase = {"phase": found.phase, "samples": found.samples.astype(float)}
    for name, values in found.line.items():
        by_phase |= with_width(name, values)
    by_height = {"z": found.z}
    for name, values in found.harmonic.items():
        by_height |= with_width(name, values)
    z, phase = np.broadcast_arrays(found.z[:, None], found.phase)
    by_both = {"z": z.ravel(), "phase": phase.ravel()}
    for name, values in found.centre.items():
        by_both |= with_width(name, values)
    tables = {layout.PHASES_CSV: by_phase, layout.PHASE_HARMONIC_CSV: by_height, layout.PHASE_PROFILES_CSV: by_both}
    return {name: export.csv_text(columns) for name, columns in tables.items()}


def table_text(found: PhaseAverages) -> str:
    """Bulk velocity and wall shear stress by phase as text; without intervals if there is a single block."""
    lines = [
        f"{found.phase.size} bins of the period {found.period:g}, {found.samples.min()} to {found.samples.max()} "
        "samples each" + ("; +- are 95 % intervals" if found.has_intervals else ""),
        "",
        f"{'phase':>7}  {'U_b':>22}  {'tau_w bottom':>24}  {'tau_w top':>24}",
    ]
    for n, phase in enumerate(found.phase):
        cells = [
            with_interval(float(found.line[name][n]), float(found.widths[name][n]), may_be_zero=True)
            for name in ("bulk_velocity", "shear_x_bottom", "shear_x_top")
        ]
        lines.append(f"{phase:7.4f}  {cells[0]:>22}  {cells[1]:>24}  {cells[2]:>24}")
    return "\n".join(lines)


def write_tables(found: PhaseAverages, folder: Path) -> list[Path]:
    """Writes the CSV files; returns their paths."""
    paths = []
    for name, text in csv_texts(found).items():
        paths.append(folder / name)
        export.write_text(paths[-1], text)
    return paths


def write_phases(found: PhaseAverages, folder: Path) -> list[Path]:
    """Writes tables and figures; returns their paths."""
    drawn = draw_entries(entries_of(found), folder / layout.FIGURE_FOLDER)
    return [*write_tables(found, folder), *(path for figure in drawn for path in figure.paths)]
