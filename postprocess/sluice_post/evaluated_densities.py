"""What the densities of a run give, with 95 % intervals: densities, moments, quadrants, holes, backflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from sluice_post.arrays import Array
from sluice_post.densities import FIELDS, SHEARS, DensityBlocks, WallDensities, wall_densities
from sluice_post.histograms import Histogram, beyond_bins, density, moments
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import face_values, wall_profiles
from sluice_post.quadrants import outside_holes, quadrant_profiles
from sluice_post.spectra import require_heights, usual_heights
from sluice_post.statistics import Means
from sluice_post.uncertainty import half_widths95

EDGES = np.linspace(-8, 8, 129)  # of the bins of densities, in standard deviations
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2

# Moments of order n are compared where the fraction of points in the end bins is below _KNOWN/8^n: their values, 8
# standard deviations or more from the mean, are not known.
_KNOWN = 1e-2

_STILL = 1e-6  # a smaller rms in wall units is round-off, for example of w on a free-slip surface


@dataclass(frozen=True)
class EvaluatedDensities:
    """Densities as seen from a wall, and what follows from them by name, with half widths of intervals.

    `density_u` is (height, bin of EDGES), of u' over its standard deviation times that standard deviation;
    `density_shear_x` is over `shear_edges`. Profiles in wall units: `mean_u`, `rms_u`, `skewness_u`, `flatness_u`,
    `minus_uw_q1`, `fraction_q1`. `hole_minus_uw` and `hole_fraction` are (height, quadrant, H).
    """

    found: WallDensities
    loaded: DensityBlocks
    heights: tuple[float, ...]
    names: tuple[str, ...]  # of the heights
    planes: dict[str, NDArray[np.int64]]  # nearest to the heights
    shear_edges: dict[str, Array]
    values: dict[str, Array]
    widths: dict[str, Array] | None  # None with a single block
    beyond: dict[str, Array]  # what the values beyond the bins would add to rms, skewness and flatness; an estimate

    def z_plus(self, field: str) -> Array:
        """Heights of the planes of a field that are nearest to the chosen heights."""
        return self.found.plus(self.found.z(field)[self.planes[field]])

    def width(self, name: str) -> Array:
        """Half widths of intervals; NaN if not known."""
        return self.widths[name] if self.widths else np.full(self.values[name].shape, np.nan)

    def is_cut_off(self, name: str) -> NDArray[np.bool_]:
        """Where the values beyond the bins would change a moment by more than its interval; by anything without one."""
        return np.abs(self.beyond[name]) > np.nan_to_num(self.width(name))


def _standardized_density(histograms: list[Histogram]) -> Array:
    """Of fluctuations over their standard deviation; NaN if there are none."""
    of = moments(histograms)
    if not of.rms > 0:
        return np.full(MIDDLES.shape, np.nan)
    return density([histogram.linear(1 / of.rms, -of.mean / of.rms) for histogram in histograms], EDGES)


def _below_zero(histograms: list[Histogram]) -> float:
    """Probability of a value below 0, which the end bins leave unknown if it is in them and they are not empty."""
    below = [
        0.0 if h.edges[1] >= 0 and h.probability[0] == 0 else float(h.cumulative(np.zeros(1))[0]) for h in histograms
    ]
    return float(np.mean(below))


def _beyond(found: WallDensities) -> dict[str, Array]:
    """What the values beyond the bins would add to the moments, by the names of these."""
    changes: dict[str, Array] = {}
    for name in (*FIELDS, *SHEARS):
        histograms = found.shear(name) if name in SHEARS else found.histograms(name)
        of, more = moments(histograms), beyond_bins(histograms)
        unit = 1.0 if name in SHEARS else found.u_tau ** (2 if name == "p" else 1)
        changes |= {f"rms_{name}": (np.sqrt(of.variance + more.variance) - of.rms) / unit}
        changes |= {f"skewness_{name}": more.skewness, f"flatness_{name}": more.flatness}
    return changes


def _values(
    found: WallDensities, planes: dict[str, NDArray[np.int64]], shear_edges: dict[str, Array]
) -> dict[str, Array]:
    values: dict[str, Array] = {}
    for field in FIELDS:
        histograms = found.histograms(field)
        of = moments(histograms)
        unit = found.u_tau ** (2 if field == "p" else 1)
        values |= {f"mean_{field}": of.mean / unit, f"rms_{field}": of.rms / unit}
        values |= {f"skewness_{field}": of.skewness, f"flatness_{field}": of.flatness}
        values[f"density_{field}"] = np.array(
            [_standardized_density([histogram.at(n) for histogram in histograms]) for n in planes[field]]
        )
    for name in SHEARS:
        of = moments(found.shear(name))
        values |= {f"rms_{name}": of.rms, f"skewness_{name}": of.skewness, f"flatness_{name}": of.flatness}
        values[f"density_{name}"] = density(found.shear(name), shear_edges[name])
    values["backflow"] = np.array(_below_zero(found.shear("shear_x")))
    values |= quadrant_profiles(found)
    holes = [outside_holes(joints) for joints in found.joints()]
    if holes:
        values["hole_minus_uw"] = -np.array([contribution for contribution, _ in holes]) / found.u_tau**2
        values["hole_fraction"] = np.array([fraction for _, fraction in holes])
    return values


def evaluate_densities(
    loaded: DensityBlocks, parameters: FlowParameters, heights: Sequence[float] | None = None, side: str | None = None
) -> EvaluatedDensities:
    """Densities with intervals at the planes nearest to the heights z+; default: those of spectra."""
    found = wall_densities(loaded, parameters, side)
    if heights is None:
        heights = usual_heights(parameters, found.reach_plus)
    require_heights(heights, parameters, found.reach_plus)
    z_plus = np.minimum(heights, found.reach_plus)
    planes = {}
    for field in FIELDS:
        z = found.z(field)
        distance = np.abs(found.plus(z)[:, None] - z_plus)
        distance[(z == 0) | (z == found.means.z_face[-1])] = inf  # nothing fluctuates there
        planes[field] = np.argmin(distance, axis=0)
    shear_edges = {}
    for name in SHEARS:
        of = moments(found.shear(name))
        shear_edges[name] = float(of.mean) + float(of.rms) * EDGES

    def values_of(means: Means) -> dict[str, Array]:
        return _values(wall_densities(loaded, parameters, side, means), planes, shear_edges)

    values = values_of(loaded.blocks.means())
    widths = half_widths95(values_of, loaded.blocks) if len(loaded.blocks) > 1 else None
    names = tuple(parameters.far_end if height == inf else f"{height:.4g}" for height in heights)
    return EvaluatedDensities(found, loaded, tuple(heights), names, planes, shear_edges, values, widths, _beyond(found))


@dataclass(frozen=True)
class Agreement:
    """Largest differences between the moments of a field's histograms and of statistics.h5; NaN if there are none.

    Of the mean over the standard deviation, of the standard deviation over itself, of skewness and of flatness.
    """

    field: str
    mean: float
    rms: float
    skewness: float
    flatness: float


def _largest(difference: Array) -> float:
    known = np.abs(difference[np.isfinite(difference)])
    return float(known.max()) if known.size else np.nan


def agreement(evaluated: EvaluatedDensities) -> list[Agreement]:
    """Of u, v and p at the cell centres and of w on the faces; p has only the standard deviation."""
    found, values = evaluated.found, evaluated.values
    profiles = wall_profiles(found.profiles, found.parameters, found.view.side)
    rows = []
    for field in FIELDS:
        points = len(found.z(field))
        in_end_bins = np.max([h.in_end_bins for h in found.histograms(field)], axis=0)
        known = [np.where(in_end_bins * 8**n < _KNOWN, 1.0, np.nan) for n in range(5)]
        rms = values[f"rms_{field}"]
        expected = {name: np.full(points, np.nan) for name in ("mean", "rms", "skewness", "flatness")}
        names = {"rms": f"{field}_rms", "skewness": f"skew_{field}", "flatness": f"flat_{field}"}
        if field in ("u", "v"):
            names["mean"] = field.upper()
        expected |= {name: profiles.column(of)[1][:points] for name, of in names.items() if profiles.has(of)}
        if field == "w":
            expected["rms"] = np.sqrt(face_values(found.view.means.centre["ww"])[:points]) / found.u_tau
        expected["rms"] = np.where(expected["rms"] > _STILL, expected["rms"], np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            rows.append(
                Agreement(
                    field,
                    _largest(known[1] * (values[f"mean_{field}"] - expected["mean"]) / rms),
                    _largest(known[2] * (rms / expected["rms"] - 1)),
                    _largest(known[3] * (values[f"skewness_{field}"] - expected["skewness"])),
                    _largest(known[4] * (values[f"flatness_{field}"] - expected["flatness"])),
                )
            )
    return rows
