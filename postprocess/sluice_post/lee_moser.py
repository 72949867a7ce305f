"""Files in the layout of Lee & Moser (2015): mean and fluctuations, budgets, spectra; each with its standard errors.

Their y is wall-normal and v its velocity, z is spanwise and w its velocity: their vv is our ww, their uv our uw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array, interpolate
from sluice_post.budget_terms import IMBALANCE, STRESSES
from sluice_post.budgets import WallBudgets, wall_budgets
from sluice_post.child_process import write_whole
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles
from sluice_post.spectra import AXES, WallSpectra, wall_spectra
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import standard_errors_of
from sluice_post.wall_view import with_wall

_LINE_OF_GRID = 33  # some programs read nu and u_tau at their lines


@dataclass(frozen=True)
class _Layout:
    """A kind of file, and the one of its standard errors. Columns: heading, what it holds, factor."""

    name: str
    name_of_errors: str
    description: str
    header_lines: int  # as in their files: some programs skip the header by its length
    columns: Sequence[tuple[str, str, int]]
    remarks: Sequence[str]


_MEAN = _Layout(
    layout.LEE_MOSER_MEAN,
    layout.LEE_MOSER_MEAN_ERRORS,
    "Profiles of the mean velocity and pressure",
    72,
    (("U", "U", 1), ("dU/dy", "dUdz", 1), ("W", "V", 1), ("P", "P", 1)),
    (
        "     U       : Mean profile of streamwise velocity, relative to the wall",
        "   dU/dy     : Derivative of U in wall-normal direction",
        "     W       : Mean profile of spanwise velocity",
        "     P       : Mean profile of pressure, 0 at the wall",
    ),
)
_FLUCTUATIONS = _Layout(
    layout.LEE_MOSER_FLUCTUATIONS,
    layout.LEE_MOSER_FLUCTUATION_ERRORS,
    "Variance and covariance of velocity components",
    75,
    (
        ("u'u'", "uu", 1),
        ("v'v'", "ww", 1),
        ("w'w'", "vv", 1),
        ("u'v'", "minus_uw", -1),
        ("u'w'", "uv", 1),
        ("v'w'", "minus_vw", -1),
        ("k", "k", 1),
    ),
    ("      k      : Turbulent kinetic energy, k = 0.5*(u'u' + v'v' + w'w')",),
)
_BUDGET = _Layout(  # what a budget does not have is 0
    layout.LEE_MOSER_BUDGET,
    layout.LEE_MOSER_BUDGET_ERRORS,
    "Terms in Reynolds stress transport equation for {}",
    74,
    (
        ("Production", "production", 1),
        ("Turbulent_Transport", "turbulent_transport", 1),
        ("Viscous_Transport", "viscous_diffusion", 1),
        ("Pressure_Strain", "pressure_strain", 1),
        ("Pressure_Transport", "pressure_transport", 1),
        ("Viscous_Dissipation", "dissipation", -1),
        ("Balance", IMBALANCE, 1),
    ),
    (
        "   Viscous Dissipation  : positive",
        "   Balance : Production + Turb_Trans + Visc_Trans + Press_Strain + Press_Trans - Visc_Diss",
    ),
)


def _file(
    kind: _Layout,
    values: Iterable[Array],
    z: Array,
    found: WallProfiles | WallBudgets,
    parameters: FlowParameters,
    of_errors: bool = False,
    of: str = "",
) -> dict[str, str]:
    """Its text by its name. `values`: on the wall and at the heights z; `of`: of which stress."""
    name = (kind.name_of_errors if of_errors else kind.name).format(of)
    description = ("Standard errors. " if of_errors else "") + kind.description.format(of)
    headings = ("y/delta", "y^+", *(heading for heading, *_ in kind.columns))
    heights = np.append(0.0, z)
    nx, ny, nz = parameters.cells
    lx, ly, _ = parameters.size
    header = [
        f"Filename : {name}",
        "",
        f"Description : {description}",
        "",
        f"Total number of data points  : {len(heights)}",
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
        *kind.remarks,
    ]
    header += [""] * (kind.header_lines - 4 - len(header))
    header += [
        "-----------End of header---------",
        "",
        "".join(f"{column:^25}" for column in headings).rstrip(),
        "-" * (25 * len(headings)),
    ]
    lines = [f"% {line}".rstrip() for line in header]
    for row in zip(heights, heights * found.u_tau / found.viscosity, *values, strict=True):
        lines.append("".join(f"{value:25.15e}" for value in row))
    return {name: "\n".join(lines) + "\n"}


def profile_texts(profiles: WallProfiles, parameters: FlowParameters) -> dict[str, str]:
    """The files of profiles by name, wall included, with their v wall-normal and their w spanwise.

    Two, and with intervals two more of the same columns, of standard errors. What the run did not record is NaN.
    """
    absent = np.full_like(profiles.z, np.nan)
    texts: dict[str, str] = {}
    for kind in (_MEAN, _FLUCTUATIONS):
        values = []
        for _, name, factor in kind.columns:
            wall = profiles.face[name][0] if name == "dUdz" else 0.0  # 1, unless the mean flow turns
            at_centres = profiles.at_centres(name) if profiles.has(name) else absent
            values.append(np.append(wall, factor * at_centres))
        texts |= _file(kind, values, profiles.z, profiles, parameters)
        if profiles.half_widths:
            widths = [profiles.half_width_at_centres(name) for _, name, _ in kind.columns]
            errors = [absent if width is None else width / profiles.per_standard_error for width in widths]
            values = [np.append(0.0, error) for error in errors]
            texts |= _file(kind, values, profiles.z, profiles, parameters, of_errors=True)
    return texts


def budget_texts(blocks: Blocks, parameters: FlowParameters, side: str | None = None) -> dict[str, str]:
    """The files of the budgets by name, and with more than one block those of their standard errors."""
    found = wall_budgets(blocks.means(), parameters, side)
    z = found.budgets["uu"].z

    def arrays(means: Means) -> dict[str, Array]:
        """The columns of all budgets on the wall and at the cell centres; those of ww and uw by cubics."""
        of_means, columns = wall_budgets(means, parameters, side), {}
        for stress in STRESSES:
            budget, wall = of_means.budgets[stress], of_means.terms_on_wall(stress)
            columns[stress] = np.zeros((len(_BUDGET.columns), len(z) + 1))
            for column, (_, term, factor) in zip(columns[stress], _BUDGET.columns, strict=True):
                if term in budget.terms:  # sums with 0 are never -0
                    column += factor * np.append(wall[term], interpolate(z, budget.z, budget.terms[term]))
        return columns

    sets = [arrays(blocks.means()), *([standard_errors_of(arrays, blocks)] if len(blocks) > 1 else [])]
    return {
        name: text
        for number, values in enumerate(sets)
        for stress, theirs in layout.LEE_MOSER_STRESSES.items()
        for name, text in _file(_BUDGET, values[stress], z, found, parameters, number == 1, theirs).items()
    }


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

    def write(unfinished: Path) -> None:
        with h5py.File(unfinished, "w") as file:
            for name, content in datasets.items():
                file[name] = content

    write_whole(path, write)


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
        common[theirs] = 2 * np.pi / found.length[axis] * np.arange(found.cells[axis] // 2 + 1)
    sets = {folder / layout.LEE_MOSER_SPECTRA_FILE: arrays(blocks.means())}
    if len(blocks) > 1:
        sets[folder / layout.LEE_MOSER_SPECTRA_ERRORS] = standard_errors_of(arrays, blocks)
    for path, values in sets.items():
        _write_datasets(path, common | values)
    return list(sets)
