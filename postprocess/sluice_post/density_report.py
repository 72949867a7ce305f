"""Densities in a report, and the files that show them alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from sluice_post import density_figures, density_tables, export, joint_figures, layout
from sluice_post.evaluated_densities import EvaluatedDensities
from sluice_post.report_entries import Entry, draw_entries, of_wall


def entries_of(evaluated: EvaluatedDensities) -> list[Entry]:
    """The figures of densities, quadrants and wall shear."""
    band = " Bands: 95 % confidence intervals." if evaluated.has_intervals else ""
    cut_off = (
        "Open symbols: values beyond the bins, which count in the end bins, would change the moment by more than its "
        "interval (estimated)."
    )

    def entry(
        name: str, draw: Callable[[EvaluatedDensities], Figure | None], title: str, caption: str, wide: bool = True
    ) -> Entry:
        return Entry(name, title, caption, lambda: draw(evaluated), wide)

    entries = [
        entry("densities", density_figures.densities_figure, "Densities of velocity and pressure",
              "Of the fluctuations over their standard deviation, at the planes nearest to these heights." + band),
        entry("density_moments", density_figures.moments_figure, "Skewness and flatness of the densities",
              "Of velocity and pressure, w positive away from the wall. Dashed: the Gaussian values 0 and 3. "
              + cut_off + band),
        entry("wall_shear", density_figures.wall_shear_figure, "Densities of the wall shear",
              "Over the mean of its streamwise component." + band),
        entry("density_map", density_figures.map_figure, "Density of u over the height",
              "Relative to the wall. Nothing is shown beyond the bins, about 8 standard deviations from the mean.",
              wide=False),
        entry("wall_shear_joint", joint_figures.shear_joint_figure,
              "Joint density of both components of the wall shear", "", wide=False),
        entry("quadrants", density_figures.quadrants_figure, "Quadrants of the shear stress",
              "Contributions in wall units, and fractions of time." + band),
        entry("joint_uw", joint_figures.joint_figure, "Joint densities of u and w",
              "At the heights of output.densities.heights."),
        entry("covariance_uw", joint_figures.covariance_figure, "Covariance integrands",
              "Their integral over each quadrant is what it contributes to the shear stress."),
        entry("quadrants_outside_holes", density_figures.holes_figure, "Quadrants outside hyperbolic holes",
              "Outside |u'w'| = H u_rms w_rms, in wall units." + band),
    ]  # fmt: skip
    return of_wall(entries, evaluated.found.wall)


def write_tables(evaluated: EvaluatedDensities, folder: Path) -> list[Path]:
    """Writes the CSV files; returns their paths."""
    return export.write_tables(folder, density_tables.csv_texts(evaluated))


def write_densities(evaluated: EvaluatedDensities, folder: Path) -> list[Path]:
    """Writes tables and figures; returns their paths."""
    drawn = draw_entries(entries_of(evaluated), folder / layout.FIGURE_FOLDER)
    return [*write_tables(evaluated, folder), *(path for figure in drawn for path in figure.paths)]
