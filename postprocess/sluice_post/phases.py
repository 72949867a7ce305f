"""Averages by phase of a flow that is driven periodically, and its triple decomposition; docs/equations.md.

u = mean + periodic part + fluctuation: the mean is that of all phases alike, the periodic part the average at a phase
less the mean, and the fluctuation the rest. All values are in the units U and h of the run, over the whole height.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import RHO, About, dataset, described, variable
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.hdf5_file import Hdf5File
from sluice_post.parameters import FlowParameters
from sluice_post.printed import with_interval
from sluice_post.run import check_directory
from sluice_post.scalars import sampled_scalars
from sluice_post.statistics import Blocks, Means, Shapes, read_blocks, read_statistics
from sluice_post.uncertainty import intervals

NOT_TAKEN = "holds no averages by phase: set output.statistics.phases in the case"
WHOLE_CENTRE = ("u", "v", "w", "p", "uu", "vv", "ww", "pp")
COMPONENTS = {"u": "streamwise", "v": "spanwise"}  # whose first harmonics are shown
WHOLE_FACE = ("uw", "vw", "tau_xz", "tau_yz")

_CENTRE, _FACE = ("z", "phase"), ("z_face", "phase")
_ABOUT: dict[str, About] = {
    "U": (_CENTRE, "streamwise velocity", "U"),
    "V": (_CENTRE, "spanwise velocity", "U"),
    "P": (_CENTRE, "pressure", f"{RHO}U^2"),
    "uu": (_CENTRE, "variance of the fluctuations of the streamwise velocity", "U^2"),
    "vv": (_CENTRE, "variance of the fluctuations of the spanwise velocity", "U^2"),
    "ww": (_CENTRE, "variance of the fluctuations of the wall-normal velocity", "U^2"),
    "pp": (_CENTRE, "variance of the pressure about it", "rho^2 U^4"),
    "minus_uw": (_FACE, "Reynolds shear stress -<uw> of the fluctuations", "U^2"),
    "minus_vw": (_FACE, "Reynolds shear stress -<vw> of the fluctuations", "U^2"),
    "bulk_velocity": ("phase", "bulk velocity", "U"),
    **{
        f"shear_{axis}_{side}": ("phase", f"shear stress on the {side} wall along {axis}", f"{RHO}U^2")
        for axis in "xy"
        for side in ("bottom", "top")
    },
    "forcing": ("phase", "mean streamwise force", "U^2/h"),
}
for _c, _of in COMPONENTS.items():
    _ABOUT |= {
        f"mean_{_c}": ("z", f"mean of the {_of} velocity over all phases", "U"),
        f"amplitude_{_c}": ("z", f"amplitude of the first harmonic of the {_of} velocity", "U"),
        f"lag_{_c}": ("z", f"phase at which the first harmonic of the {_of} velocity is largest", "T"),
        f"{_c}{_c}_periodic": ("z", f"variance of the periodic part of the {_of} velocity", "U^2"),
        f"{_c}{_c}_fluctuation": ("z", f"variance of the fluctuations of the {_of} velocity", "U^2"),
    }


def _contents(file: Hdf5File, parameters: FlowParameters) -> tuple[Shapes, Shapes]:
    if layout.PHASE_SAMPLES not in file:
        raise InputOutputError(f"{file.path}: {NOT_TAKEN}")
    bins, nz = file.line(layout.GRID_PHASE).size, parameters.cells[2]
    centre: Shapes = dict.fromkeys((layout.PHASE_SAMPLES, layout.PHASE_OFFSET, layout.PHASE_FORCING), (bins,))
    centre |= {layout.BY_PHASE.format(name): (nz, bins) for name in WHOLE_CENTRE}
    centre |= {
        layout.BY_PHASE.format(f"{name}{ending}"): (nz, bins)
        for name in _scalar_names(file)
        for ending in ("", "_squared")
    }
    return centre, {layout.BY_PHASE.format(name): (nz + 1, bins) for name in WHOLE_FACE}


def _scalar_names(file: Hdf5File) -> list[str]:
    sets = [f"{layout.PARAMETER_SET}_{n}" for n in range(64)]
    names = {s.name for group in sets if group in file for s in sampled_scalars(file.values(group))}
    return sorted(name for name in names if layout.BY_PHASE.format(name) in file)


def load_phases(directory: Path, begin: float | None = None, end: float | None = None) -> tuple[float, Blocks]:
    """The period, and the blocks between two times with the sums by phase at the centres and on the faces."""
    path = check_directory(directory) / layout.STATISTICS_FILE
    _, blocks = read_blocks(path, _contents)
    if len(blocks) == 0:
        raise InputOutputError(f"{path}: holds no closed block yet")
    _, profiles = read_statistics(path)
    blocks = replace(blocks, sampling_error=profiles.has_sampling_error).between(begin, end)
    blocks.sampled_parameters()
    with Hdf5File(path, layout.STATISTICS_FORMAT) as file:
        period = float(file.value(layout.ATTR_PHASE_PERIOD))
    empty = np.flatnonzero(blocks.centre[layout.PHASE_SAMPLES].sum(axis=0) == 0)
    if empty.size:
        raise UsageError(
            f"{path}: {empty.size} of {blocks.centre[layout.PHASE_SAMPLES].shape[1]} bins of phase have no sample "
            f"({', '.join(map(str, empty))}): choose more time, or run on"
        )
    return period, blocks


def has_phases(directory: Path) -> bool:
    """Whether the statistics of a run hold averages by phase."""
    with Hdf5File(directory / layout.STATISTICS_FILE, layout.STATISTICS_FORMAT) as file:
        return layout.PHASE_SAMPLES in file


def _phase(means: Means) -> Array:
    """The mean phase of the samples of each bin."""
    samples = means.centre[layout.PHASE_SAMPLES]
    return np.asarray(np.arange(samples.size) / samples.size + means.centre[layout.PHASE_OFFSET] / samples)


def _averages(means: Means) -> dict[str, Array]:
    """At the centres, (nz, bins), on the faces, (nz + 1, bins), and by phase alone, (bins)."""
    samples = means.centre[layout.PHASE_SAMPLES]
    raw = {
        name.removeprefix(layout.BY_PHASE.format("")): sums / samples
        for name, sums in (means.centre | means.face).items()
        if name not in (layout.PHASE_SAMPLES, layout.PHASE_OFFSET)
    }
    found = {"U": raw["u"], "V": raw["v"], "P": raw["p"]}
    found |= {square: raw[square] - raw[square[0]] ** 2 for square in ("uu", "vv", "ww", "pp")}
    for scalar in (name for name in raw if f"{name}_squared" in raw):
        found[f"C_{scalar}"] = raw[scalar]
        found[f"cc_{scalar}"] = raw[f"{scalar}_squared"] - raw[scalar] ** 2
    for velocity in COMPONENTS:
        covariance = -raw[f"{velocity}w"]
        inside = (raw[velocity][1:] + raw[velocity][:-1]) / 2
        covariance[1:-1] += inside * (raw["w"][1:] + raw["w"][:-1]) / 2
        covariance[[0, -1]] = 0  # what passes through a wall is no fluctuation of its mean
        found[f"minus_{velocity}w"] = covariance
    dz = np.diff(means.z_face)
    found["bulk_velocity"] = dz @ raw["u"] / dz.sum()
    for axis in "xy":
        stress = raw[f"tau_{axis}z"]
        found |= {f"shear_{axis}_bottom": stress[0], f"shear_{axis}_top": -stress[-1]}
    return found | {"forcing": raw["forcing"]}


def first_harmonic(values: Array, phase: Array) -> NDArray[np.complex128]:
    """Amplitude times exp(-2 pi i lag) of values by phase: mean + amplitude cos(2 pi (phase - lag)) + higher ones."""
    periodic = values - values.mean(axis=-1, keepdims=True)  # a mean would leak where phases are not equally spaced
    return np.asarray(2 * (periodic @ np.exp(-2j * np.pi * phase)) / phase.size)


def whole_cycles(blocks: Blocks) -> Blocks:
    """Blocks joined with their neighbours until each has samples at all phases, as each member of an ensemble has."""
    if blocks.independent:
        return blocks
    starts, samples = [0], np.zeros(blocks.centre[layout.PHASE_SAMPLES].shape[1])
    for n, more in enumerate(blocks.centre[layout.PHASE_SAMPLES]):
        samples = samples + more
        if samples.all():
            starts.append(n + 1)
            samples = np.zeros_like(samples)
    if len(starts) > 1:
        starts.pop()  # what is left over at the end belongs to the last
    return blocks.joined(np.array(starts))


def evaluate_phases(period: float, blocks: Blocks) -> xr.Dataset:
    """The averages by phase with intervals over the blocks, or over groups of those shorter than a period.

    (z, phase): U, V, P, the variances uu, vv, ww, pp about the averages at the phase, for each scalar C_NAME and
    cc_NAME. (z_face, phase): the covariances minus_uw and minus_vw. (phase): bulk velocity, wall shear stress at both
    walls, which is what the fluid exerts on them along x and y, and force; `phase` is the mean of the samples in each
    bin, in periods. (z), for c = u and v: mean_c, the first harmonic's amplitude_c and the phase lag_c at which it is
    largest, and the variances cc_periodic and cc_fluctuation.
    """
    blocks = whole_cycles(blocks)
    means = blocks.means()

    def harmonic_of(c: str, some: Means, averages: dict[str, Array]) -> NDArray[np.complex128]:
        return first_harmonic(averages[c.upper()], _phase(some))

    def lag(harmonic: NDArray[np.complex128]) -> Array:
        return np.asarray(-np.angle(harmonic) / (2 * np.pi))

    whole = {c: harmonic_of(c, means, _averages(means)) for c in COMPONENTS}

    def values(some: Means) -> dict[str, Array]:
        found = _averages(some)
        for c in COMPONENTS:
            velocity = found[c.upper()]
            found |= {
                f"mean_{c}": velocity.mean(axis=-1),
                f"amplitude_{c}": np.abs(harmonic_of(c, some, found)),
                f"{c}{c}_periodic": velocity.var(axis=-1),
                f"{c}{c}_fluctuation": found[c + c].mean(axis=-1),
            }
        # Relative to those of all blocks, so that no step from 1 to 0 disturbs the intervals.
        return found | {f"lag_{c}": lag(harmonic_of(c, some, found) * np.conj(of_c)) for c, of_c in whole.items()}

    found = intervals(values, blocks)
    found |= {f"lag_{c}": lag(of_c) % 1.0 for c, of_c in whole.items()}
    samples = blocks.centre[layout.PHASE_SAMPLES].sum(axis=0).astype(np.int64)
    scalars = {name for name in found if name.startswith(("C_", "cc_"))}
    about = _ABOUT | {
        name: (_CENTRE, *((scalar, "C") if kind == "C" else (f"variance of the fluctuations of {scalar}", "C^2")))
        for name in scalars
        for kind, scalar in [name.split("_", 1)]
    }
    return dataset(
        {"samples": variable("phase", samples, "number of samples"), **described(found, about)},
        {
            "z": variable("z", means.z, "height of cell centres", "h"),
            "z_face": variable("z_face", means.z_face, "height of faces, walls included", "h"),
            "phase": variable("phase", _phase(means), "mean phase of the samples, from time 0", "T"),
        },
        PLANES_AND_TIME,
        period=period,
    )


def has_intervals(found: xr.Dataset) -> bool:
    """Whether averages by phase have intervals: a single block and a laminar flow have none."""
    return "bulk_velocity_ci95" in found and bool((found.bulk_velocity_ci95 > 0).any())


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
