"""Averages by phase of a flow that is driven periodically, and its triple decomposition; docs/equations.md.

u = mean + periodic part + fluctuation: the mean is that of all phases alike, the periodic part the average at a phase
less the mean, and the fluctuation the rest. All values are in the units U and h of the run, over the whole height.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.hdf5_file import Hdf5File
from sluice_post.parameters import FlowParameters
from sluice_post.run import check_directory
from sluice_post.scalars import sampled_scalars
from sluice_post.statistics import Blocks, Means, Shapes, read_blocks, read_statistics
from sluice_post.uncertainty import half_widths95

NOT_TAKEN = "holds no averages by phase: set output.statistics.phases in the case"
WHOLE_CENTRE = ("u", "v", "w", "p", "uu", "vv", "ww", "pp")
COMPONENTS = ("u", "v")  # whose first harmonics are shown
WHOLE_FACE = ("uw", "vw", "tau_xz", "tau_yz")


@dataclass(frozen=True)
class PhaseAverages:
    """Averages by phase: `centre[name]` is (nz, bins), `face[name]` (nz + 1, bins), `line[name]` (bins).

    centre: U, V, P, the variances uu, vv, ww, pp about the averages at the phase, for each scalar C_NAME and cc_NAME.
    face: the covariances minus_uw and minus_vw. line: bulk velocity, wall shear stress at both walls, which is what the
    fluid exerts on them along x and y, and force. `harmonic[name]` (nz), for c = u and v: mean_c, the first harmonic's
    amplitude_c and the phase lag_c at which it is largest, and the variances cc_periodic and cc_fluctuation.
    `widths`: half widths of the 95 % intervals by the same names; NaN where they are not known.
    """

    period: float
    phase: Array  # mean of the samples in each bin, in periods
    samples: NDArray[np.int64]
    z: Array
    z_face: Array
    centre: dict[str, Array]
    face: dict[str, Array]
    line: dict[str, Array]
    harmonic: dict[str, Array]
    widths: dict[str, Array]

    @property
    def has_intervals(self) -> bool:
        """Whether there are intervals: a single block and a laminar flow have none."""
        widths = self.widths["bulk_velocity"]
        return bool(np.isfinite(widths).all() and np.any(widths > 0))


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


def _averages(means: Means) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array]]:
    """At the centres, on the faces, and by phase alone."""
    samples = means.centre[layout.PHASE_SAMPLES]
    found = {
        name.removeprefix(layout.BY_PHASE.format("")): sums / samples
        for name, sums in (means.centre | means.face).items()
        if name not in (layout.PHASE_SAMPLES, layout.PHASE_OFFSET)
    }
    centre = {"U": found["u"], "V": found["v"], "P": found["p"]}
    for square in ("uu", "vv", "ww", "pp"):
        centre[square] = found[square] - found[square[0]] ** 2
    for name in (name for name in found if f"{name}_squared" in found):
        centre[f"C_{name}"] = found[name]
        centre[f"cc_{name}"] = found[f"{name}_squared"] - found[name] ** 2
    face = {}
    for velocity in ("u", "v"):
        covariance = -found[f"{velocity}w"]
        inside = (found[velocity][1:] + found[velocity][:-1]) / 2
        covariance[1:-1] += inside * (found["w"][1:] + found["w"][:-1]) / 2
        covariance[[0, -1]] = 0  # what passes through a wall is no fluctuation of its mean
        face[f"minus_{velocity}w"] = covariance
    dz = np.diff(means.z_face)
    line = {
        "bulk_velocity": dz @ found["u"] / dz.sum(),
        "shear_x_bottom": found["tau_xz"][0],
        "shear_x_top": -found["tau_xz"][-1],
        "shear_y_bottom": found["tau_yz"][0],
        "shear_y_top": -found["tau_yz"][-1],
        "forcing": found["forcing"],
    }
    return centre, face, line


def first_harmonic(values: Array, phase: Array) -> NDArray[np.complex128]:
    """Amplitude times exp(-2 pi i lag) of values by phase: mean + amplitude cos(2 pi (phase - lag)) + higher ones."""
    periodic = values - values.mean(axis=-1, keepdims=True)  # a mean would leak where phases are not equally spaced
    return np.asarray(2 * (periodic @ np.exp(-2j * np.pi * phase)) / phase.size)


def _lag(harmonic: NDArray[np.complex128]) -> Array:
    return np.asarray(-np.angle(harmonic) / (2 * np.pi)) % 1.0


def _decomposition(centre: dict[str, Array], phase: Array) -> dict[str, Array]:
    """The mean, the first harmonic and the variances of u and v at each height, all but the lags."""
    found: dict[str, Array] = {}
    for c in COMPONENTS:
        velocity = centre[c.upper()]
        found |= {
            f"mean_{c}": velocity.mean(axis=-1),
            f"amplitude_{c}": np.abs(first_harmonic(velocity, phase)),
            f"{c}{c}_periodic": velocity.var(axis=-1),
            f"{c}{c}_fluctuation": centre[c + c].mean(axis=-1),
        }
    return found


def whole_cycles(blocks: Blocks) -> Blocks:
    """Blocks joined with their neighbours until each has samples at all phases."""
    starts, samples = [0], np.zeros(blocks.centre[layout.PHASE_SAMPLES].shape[1])
    for n, more in enumerate(blocks.centre[layout.PHASE_SAMPLES]):
        samples = samples + more
        if samples.all():
            starts.append(n + 1)
            samples = np.zeros_like(samples)
    if len(starts) > 1:
        starts.pop()  # what is left over at the end belongs to the last
    return blocks.joined(np.array(starts))


def evaluate_phases(period: float, blocks: Blocks) -> PhaseAverages:
    """The averages by phase with intervals over the blocks, or over groups of those shorter than a period."""
    blocks = whole_cycles(blocks)
    means = blocks.means()
    phase = _phase(means)
    centre, face, line = _averages(means)
    whole = {c: first_harmonic(centre[c.upper()], phase) for c in COMPONENTS}

    def all_of(some: Means) -> dict[str, Array]:
        at_centres, on_faces, by_phase = _averages(some)
        found = at_centres | on_faces | by_phase | _decomposition(at_centres, _phase(some))
        # Relative to those of all blocks, so that no step from 1 to 0 disturbs the intervals.
        for c in COMPONENTS:
            of_some = first_harmonic(at_centres[c.upper()], _phase(some))
            found[f"lag_{c}"] = -np.angle(of_some * np.conj(whole[c])) / (2 * np.pi)
        return found

    widths = half_widths95(all_of, blocks)
    samples = blocks.centre[layout.PHASE_SAMPLES].sum(axis=0).astype(np.int64)
    harmonic = _decomposition(centre, phase) | {f"lag_{c}": _lag(of_c) for c, of_c in whole.items()}
    return PhaseAverages(period, phase, samples, means.z, means.z_face, centre, face, line, harmonic, widths)
