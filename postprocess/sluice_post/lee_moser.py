"""Files in the layout of Lee & Moser (2015): mean and fluctuations, budgets, spectra; each with its standard errors.

Their y is wall-normal and v its velocity, z is spanwise and w its velocity: their vv is our ww, their uv our uw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array, interpolate
from sluice_post.budget_terms import IMBALANCE, STRESSES, Terms
from sluice_post.budgets import WallBudgets, wall_budgets
from sluice_post.child_process import being_written, in_child
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles
from sluice_post.spectra import AXES, WallSpectra, wall_spectra
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import standard_errors_of
from sluice_post.wall_view import SeenFromWall, with_wall

# Numbers of lines as in their files: some programs skip the header by its length, or read nu and u_tau at their lines.
_LINE_OF_GRID = 33
_MEAN_HEADER, _FLUCTUATION_HEADER, _BUDGET_HEADER = 72, 75, 74


@dataclass(frozen=True)
class _Table:
    """What one file holds: y/delta, y+ and the columns with these headings; its header has `header_lines` lines."""

    name: str
    description: str
    header_lines: int
    remarks: Sequence[str]
    headings: Sequence[str]
    columns: Sequence[Array]


def _text(table: _Table, found: SeenFromWall, parameters: FlowParameters) -> str:
    names = ("y/delta", "y^+", *table.headings)
    nx, ny, nz = parameters.cells
    lx, ly, _ = parameters.size
    header = [
        f"Filename : {table.name}",
        "",
        f"Description : {table.description}",
        "",
        f"Total number of data points  : {len(table.columns[0])}",
        "",
        f"Simulation : {with_wall(parameters.title or parameters.flow_type, found.wall)}",
        f"Code       : Sluice {parameters.version} {parameters.git_revision}".rstrip(),
        "",
        "Here y is the wall-normal direction and v its velocity, z the spanwise one and w its velocity.",
    ]
    header += [""] * (_LINE_OF_GRID - 1 - len(header))
    header += [
        f" Grid (streamwise)       nx = {nx}",
        f" Grid (wall-normal)      ny = {nz}",
        f" Grid (spanwise)         nz = {ny}",
        f" Streamwise domain size  Lx = {lx:.6g}",
        f" Spanwise domain size    Lz = {ly:.6g}",
        "",
        f" Kinematic Viscosity     nu = {parameters.viscosity:.5e}",
        " Channel half width   delta = 1.000",
        "",
        f" Friction vel         u_tau = {found.u_tau:.5e}",
        f" Re_tau              Re_tau = {found.re_tau:8.3f}",
        "",
        "",
        "All data are normalized by u_tau and nu (signified with a ^+) except",
        "for y/delta",
        "",
        "Remark:",
        "",
        *table.remarks,
    ]
    header += [""] * (table.header_lines - 4 - len(header))
    header += [
        "-----------End of header---------",
        "",
        "".join(f"{column:^25}" for column in names).rstrip(),
        "-" * (25 * len(names)),
    ]
    lines = [f"% {line}".rstrip() for line in header]
    for row in zip(*table.columns, strict=True):
        lines.append("".join(f"{value:25.15e}" for value in row))
    return "\n".join(lines) + "\n"


# Columns: heading, profile, factor.
_MEAN_COLUMNS = (("U", "U", 1), ("dU/dy", "dUdz", 1), ("W", "V", 1), ("P", "P", 1))
_FLUCTUATION_COLUMNS = (
    ("u'u'", "uu", 1),
    ("v'v'", "ww", 1),
    ("w'w'", "vv", 1),
    ("u'v'", "minus_uw", -1),
    ("u'w'", "uv", 1),
    ("v'w'", "minus_vw", -1),
    ("k", "k", 1),
)
_MEAN_REMARKS = (
    "     U       : Mean profile of streamwise velocity, relative to the wall",
    "   dU/dy     : Derivative of U in wall-normal direction",
    "     W       : Mean profile of spanwise velocity",
    "     P       : Mean profile of pressure, 0 at the wall",
)
_FLUCTUATION_REMARKS = ("      k      : Turbulent kinetic energy, k = 0.5*(u'u' + v'v' + w'w')",)


def _on_wall(profiles: WallProfiles, name: str) -> float:
    """The value on the wall: 0, except for the viscous stress, which is 1 unless the mean flow turns."""
    return float(profiles.face[name][0]) if name == "dUdz" else 0.0


def profile_texts(profiles: WallProfiles, parameters: FlowParameters) -> dict[str, str]:
    """The files of profiles by name, wall included, with their v wall-normal and their w spanwise.

    Two, and with intervals two more of the same columns, of standard errors. What the run did not record is NaN.
    """
    absent = np.full_like(profiles.z, np.nan)
    texts = {}
    heights = [np.append(0.0, z) for z in (profiles.z, profiles.z_plus)]
    for name, error_name, description, header_lines, columns, remarks in (
        (layout.LEE_MOSER_MEAN, layout.LEE_MOSER_MEAN_ERRORS,
         "Profiles of the mean velocity and pressure", _MEAN_HEADER, _MEAN_COLUMNS, _MEAN_REMARKS),
        (layout.LEE_MOSER_FLUCTUATIONS, layout.LEE_MOSER_FLUCTUATION_ERRORS,
         "Variance and covariance of velocity components", _FLUCTUATION_HEADER, _FLUCTUATION_COLUMNS,
         _FLUCTUATION_REMARKS),
    ):  # fmt: skip
        values = [
            np.append(
                _on_wall(profiles, profile),
                factor * (profiles.at_centres(profile) if profiles.has(profile) else absent),
            )
            for _, profile, factor in columns
        ]
        headings = [heading for heading, *_ in columns]
        table = _Table(name, description, header_lines, remarks, headings, [*heights, *values])
        texts[name] = _text(table, profiles, parameters)
        if profiles.half_widths:
            widths = [profiles.half_width_at_centres(profile) for _, profile, *_ in columns]
            values = [
                np.append(0.0, absent if width is None else width / profiles.per_standard_error) for width in widths
            ]
            of_errors = replace(
                table, name=error_name, description=f"Standard errors. {description}", columns=[*heights, *values]
            )
            texts[error_name] = _text(of_errors, profiles, parameters)
    return texts


# Columns: heading, term, factor. What a budget does not have is 0.
_BUDGET_COLUMNS = (
    ("Production", "production", 1),
    ("Turbulent_Transport", "turbulent_transport", 1),
    ("Viscous_Transport", "viscous_diffusion", 1),
    ("Pressure_Strain", "pressure_strain", 1),
    ("Pressure_Transport", "pressure_transport", 1),
    ("Viscous_Dissipation", "dissipation", -1),
    ("Balance", IMBALANCE, 1),
)
_BUDGET_REMARKS = (
    "   Viscous Dissipation  : positive",
    "   Balance : Production + Turb_Trans + Visc_Trans + Press_Strain + Press_Trans - Visc_Diss",
)


def _budget_columns(found: WallBudgets) -> dict[str, Terms]:
    """The terms of all budgets on the wall and at the cell centres; those of ww and uw by cubics."""
    centres = found.budgets["uu"].z
    columns = {}
    for stress, budget in found.budgets.items():
        wall = found.terms_on_wall(stress)
        columns[stress] = {
            name: np.append(wall[name], interpolate(centres, budget.z, values)) for name, values in budget.terms.items()
        }
    return columns


def budget_texts(blocks: Blocks, parameters: FlowParameters, side: str | None = None) -> dict[str, str]:
    """The files of the budgets by name, and with more than one block those of their standard errors."""
    found = wall_budgets(blocks.means(), parameters, side)
    z = np.append(0.0, found.budgets["uu"].z)
    heights = [z, z * found.u_tau / found.viscosity]
    headings = [heading for heading, *_ in _BUDGET_COLUMNS]

    def arrays(means: Means) -> dict[str, Array]:
        columns = _budget_columns(wall_budgets(means, parameters, side))
        absent = np.zeros_like(z)
        return {
            stress: np.array([factor * columns[stress].get(term, absent) for _, term, factor in _BUDGET_COLUMNS])
            + 0.0  # no -0
            for stress in STRESSES
        }

    sets = [("", layout.LEE_MOSER_BUDGET, arrays(blocks.means()))]
    if len(blocks) > 1:
        sets.append(("Standard errors. ", layout.LEE_MOSER_BUDGET_ERRORS, standard_errors_of(arrays, blocks)))
    texts = {}
    for prefix, pattern, values in sets:
        for stress in STRESSES:
            theirs = layout.LEE_MOSER_STRESSES[stress]
            name = pattern.format(theirs)
            description = f"{prefix}Terms in Reynolds stress transport equation for {theirs}"
            table = _Table(name, description, _BUDGET_HEADER, _BUDGET_REMARKS, headings, [*heights, *values[stress]])
            texts[name] = _text(table, found, parameters)
    return texts


def _spectra_arrays(found: WallSpectra) -> dict[str, Array]:
    """Spectral densities by their names, (mode, height), on the wall and at the cell centres up to h.

    In the units of the run, over h: the integral over the wavenumbers from 0 on is the variance.
    """
    centres = found.z["uu"]
    centres = centres[centres <= found.height * (1 + 1e-9)]
    arrays = {}
    for axis, theirs in zip(AXES, layout.LEE_MOSER_AXES, strict=True):
        spacing = 2 * np.pi / found.length[axis]
        for quantity, (name, sign) in layout.LEE_MOSER_SPECTRA.items():
            energy = interpolate(centres, found.z[quantity], found.energy[quantity, axis])
            density = sign * found.u_tau**2 / spacing * np.vstack([np.zeros_like(energy[:1]), energy])
            arrays[f"{name}_{theirs}"] = density.T
    return arrays


def _write_datasets(path: Path, datasets: Mapping[str, Array]) -> None:
    """An HDF5 file with these datasets. What is there is replaced."""
    unfinished = path.with_name(f"{path.name}.tmp")

    def write() -> None:
        with h5py.File(unfinished, "w") as file:
            for name, content in datasets.items():
                file[name] = content

    try:
        with being_written(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            in_child(write)
            unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_spectra(folder: Path, blocks: Blocks, parameters: FlowParameters, side: str | None = None) -> list[Path]:
    """Writes the HDF5 file of spectra, and with more than one block that of their standard errors."""

    def arrays(means: Means) -> dict[str, Array]:
        return _spectra_arrays(wall_spectra(means, parameters, side))

    found = wall_spectra(blocks.means(), parameters, side)
    z = np.append(0.0, found.z["uu"][found.z["uu"] <= found.height * (1 + 1e-9)])
    (nx, ny, nz), (lx, ly, lz) = parameters.cells, parameters.size
    numbers = {
        **{"nx": nx, "ny": nz, "nz": ny, "Lx": lx, "Ly": lz, "Lz": ly},
        **{"nu": found.viscosity, "u_tau": found.u_tau, "Re_tau": found.re_tau},
    }
    common = {name: np.array([value]) for name, value in numbers.items()}
    common["Y_plus"] = z * found.u_tau / found.viscosity
    for axis, theirs in zip(AXES, layout.LEE_MOSER_AXES, strict=True):
        spacing = 2 * np.pi / found.length[axis]
        common[theirs] = spacing * np.arange(found.cells[axis] // 2 + 1)
    sets = {layout.LEE_MOSER_SPECTRA_FILE: arrays(blocks.means())}
    if len(blocks) > 1:
        sets[layout.LEE_MOSER_SPECTRA_ERRORS] = standard_errors_of(arrays, blocks)
    paths = []
    for name, values in sets.items():
        _write_datasets(folder / name, common | values)
        paths.append(folder / name)
    return paths
