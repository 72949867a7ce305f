"""Averages by phase in a report, and the tables and figures that show them alone."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from sluice_post import export, layout, phase_figures
from sluice_post.phases import has_intervals
from sluice_post.printed import with_interval
from sluice_post.report_entries import Entry, draw_entries
from sluice_post.style import single_panel

_PANELS = {
    "profiles": ("Velocity by phase", "At phases of the period from time 0; dashed: the mean."),
    "wall_shear": ("Wall shear stress by phase", "On both walls."),
    "bulk_velocity": ("Bulk velocity by phase", ""),
    "amplitude": ("First harmonic: amplitude", ""),
    "lag": ("First harmonic: phase of its maximum", "In periods."),
    "variances": ("Variances of u and v", "Of the periodic part, and of the fluctuations about it."),
}
_TABLES = {layout.PHASES_CSV: ("phase",), layout.PHASE_HARMONIC_CSV: ("z",), layout.PHASE_PROFILES_CSV: ("z", "phase")}


def entries_of(found: xr.Dataset) -> list[Entry]:
    """The figures of averages by phase."""
    band = " Bands: 95 % confidence intervals." if has_intervals(found) else ""

    def entry(name: str, title: str, caption: str) -> Entry:
        panel = getattr(phase_figures, name)
        return Entry(
            f"phase_{name}", title, (caption + band).strip(), lambda: single_panel(lambda axes: panel(axes, found))
        )

    return [entry(name, title, caption) for name, (title, caption) in _PANELS.items()]


def table_text(found: xr.Dataset) -> str:
    """Bulk velocity and wall shear stress by phase as text; without intervals if there is a single block."""
    samples = found.samples
    lines = [
        f"{found.phase.size} bins of the period {found.period:g}, {samples.min():d} to {samples.max():d} "
        "samples each" + ("; +- are 95 % intervals" if has_intervals(found) else ""),
        "",
        f"{'phase':>7}  {'U_b':>22}  {'tau_w bottom':>24}  {'tau_w top':>24}",
    ]
    unknown = xr.full_like(found.phase, float("nan"))
    for n, phase in enumerate(found.phase):
        cells = [
            with_interval(float(found[name][n]), float(found.get(f"{name}_ci95", unknown)[n]), may_be_zero=True)
            for name in ("bulk_velocity", "shear_x_bottom", "shear_x_top")
        ]
        lines.append(f"{phase:7.4f}  {cells[0]:>22}  {cells[1]:>24}  {cells[2]:>24}")
    return "\n".join(lines)


def write_tables(found: xr.Dataset, folder: Path) -> list[Path]:
    """Writes the CSV files, by phase, by height, and by both; returns their paths."""
    for file, dims in _TABLES.items():
        names = [name for name, values in found.data_vars.items() if values.dims == dims]
        export.write_text(folder / file, export.csv_text(found[names]))
    return [folder / file for file in _TABLES]


def write_phases(found: xr.Dataset, folder: Path) -> list[Path]:
    """Writes tables and figures; returns their paths."""
    drawn = draw_entries(entries_of(found), folder / layout.FIGURE_FOLDER)
    return [*write_tables(found, folder), *(path for figure in drawn for path in figure.paths)]
