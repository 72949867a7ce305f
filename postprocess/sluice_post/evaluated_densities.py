"""What the densities of a run give, with 95 % intervals: densities, moments, quadrants, holes, backflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sluice_post.arrays import Array
from sluice_post.datasets import variables as described
from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import RHO, Variables, dataset, variable
from sluice_post.densities import FIELDS, SHEARS, DensityBlocks, WallDensities, wall_densities
from sluice_post.histograms import Histogram, beyond_bins, density, moments
from sluice_post.layout import QUADRANTS
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import face_values, wall_profiles
from sluice_post.quadrants import HOLE_SIZES, JOINT_MIDDLES, outside_holes, quadrant_profiles, standardized_density
from sluice_post.spectra import names_of_heights, require_heights, usual_heights
from sluice_post.statistics import Means
from sluice_post.uncertainty import EvaluatedValues, intervals

EDGES = np.linspace(-8, 8, 129)  # of the bins of densities, in standard deviations
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2

# Description, dimensions of the moments, and unit.
_ABOUT: dict[str, tuple[str, tuple[str, ...], str]] = {
    "u": ("streamwise velocity", ("z",), "u_tau"),
    "v": ("spanwise velocity", ("z",), "u_tau"),
    "w": ("wall-normal velocity", ("z_face",), "u_tau"),
    "p": ("pressure", ("z",), f"{RHO}u_tau^2"),
    "shear_x": ("streamwise wall shear stress", (), f"{RHO}u_tau^2"),
    "shear_y": ("spanwise wall shear stress", (), f"{RHO}u_tau^2"),
}

# Moments of order n are compared where the fraction of points in the end bins is below _KNOWN/8^n: their values, 8
# standard deviations or more from the mean, are not known.
_KNOWN = 1e-2

_STILL = 1e-6  # a smaller rms in wall units is round-off, for example of w on a free-slip surface


@dataclass(frozen=True)
class EvaluatedDensities(EvaluatedValues):
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
    beyond: dict[str, Array]  # what the values beyond the bins would add to rms, skewness and flatness; an estimate

    def z_plus(self, field: str) -> Array:
        """Heights of the planes of a field that are nearest to the chosen heights."""
        return self.found.plus(self.found.z(field)[self.planes[field]])

    def is_cut_off(self, name: str) -> NDArray[np.bool_]:
        """Where the values beyond the bins would change a moment by more than its interval; by anything without one."""
        return np.abs(self.beyond[name]) > np.nan_to_num(self.width(name))

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Densities, moments, quadrants and holes, as seen from a wall.

        `density_u` (height, deviation) is of u' over its standard deviation at the planes nearest to the chosen
        heights, `joint_uw` (z_joint, deviation_u, deviation_w) the joint density of u' and w' over theirs.
        """
        found, variables = self.found, self.described
        coordinates = described.heights("z", found.z("u"), found) | described.heights("z_face", found.z("w"), found)
        coordinates |= {
            "height": variable("height", list(self.names), "chosen height: z+, centre or surface"),
            "deviation": variable("deviation", MIDDLES, "deviation from the mean", "standard deviation"),
            "quadrant": variable("quadrant", QUADRANTS, "quadrant of u' and w'"),
            "hole_size": variable("hole_size", HOLE_SIZES, "|u'w'| at the edge of the hole", "u_rms w_rms"),
        }
        for shear, edges in self.shear_edges.items():
            name, _, unit = _ABOUT[shear]
            coordinates[shear] = variable(shear, (edges[1:] + edges[:-1]) / 2, name, unit)
        if found.joint_z.size:
            coordinates |= described.heights("z_joint", found.joint_z, found)
            for dim, field in (("deviation_u", "u"), ("deviation_w", "w")):
                coordinates[dim] = variable(dim, JOINT_MIDDLES, f"deviation of {field}", "standard deviation")
            joint = [standardized_density(joints) for joints in found.joints()]
            about = "joint density of u' and w' over their standard deviations"
            variables["joint_uw"] = variable(("z_joint", "deviation_u", "deviation_w"), joint, about)
        attributes = {"u_tau": found.u_tau, "re_tau": found.re_tau, "wall": found.wall}
        return dataset(variables, coordinates, PLANES_AND_TIME, **attributes)


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
    for name in _ABOUT:
        of, more = moments(found.histograms(name)), beyond_bins(found.histograms(name))
        changes[f"rms_{name}"] = (np.sqrt(of.variance + more.variance) - of.rms) / found.unit(name)
        changes |= {f"skewness_{name}": more.skewness, f"flatness_{name}": more.flatness}
    return changes


def _variables(found: WallDensities, planes: dict[str, NDArray[np.int64]], shear_edges: dict[str, Array]) -> Variables:
    values = Variables()
    for name, (about, dims, unit) in _ABOUT.items():
        histograms, of_shear = found.histograms(name), name in SHEARS
        of = moments(histograms)
        if not of_shear:
            values[f"mean_{name}"] = variable(dims, of.mean / found.unit(name), f"mean {about}", unit)
        rms = f"root-mean-square deviation from the mean: {about}"
        values[f"rms_{name}"] = variable(dims, of.rms / found.unit(name), rms, unit)
        values[f"skewness_{name}"] = variable(dims, of.skewness, f"skewness of the {about}")
        values[f"flatness_{name}"] = variable(dims, of.flatness, f"flatness of the {about}")
        if of_shear:
            of_values = density(histograms, shear_edges[name])
            values[f"density_{name}"] = variable(name, of_values, f"density of the {about}", f"1/({unit})")
        else:
            of_planes = [_standardized_density([h.at(n) for h in histograms]) for n in planes[name]]
            about = f"density of {name}' over its standard deviation"
            values[f"density_{name}"] = variable(("height", "deviation"), of_planes, about)
    backflow = _below_zero(found.histograms("shear_x"))
    values["backflow"] = variable((), backflow, "probability of streamwise wall shear stress below 0")
    values |= quadrant_profiles(found)
    if holes := [outside_holes(joints) for joints in found.joints()]:
        contribution, fraction = np.moveaxis(np.array(holes), 1, 0)
        dims = ("z_joint", "quadrant", "hole_size")
        about = "part of -<u'w'> outside the hole"
        values["hole_minus_uw"] = variable(dims, -contribution / found.u_tau**2, about, "u_tau^2")
        values["hole_fraction"] = variable(dims, fraction, "fraction of time outside the hole")
    return values


def evaluate_densities(
    loaded: DensityBlocks, parameters: FlowParameters, heights: Sequence[float] | None = None, side: str | None = None
) -> EvaluatedDensities:
    """Densities with intervals at the planes nearest to the heights z+; default: those of spectra."""
    found = wall_densities(loaded, parameters, side)
    chosen = tuple(usual_heights(parameters, found.reach_plus) if heights is None else heights)
    require_heights(chosen, parameters, found.reach_plus)
    planes, shear_edges = {}, {}
    for field in FIELDS:
        z = found.z(field)
        distance = np.abs(found.plus(z)[:, None] - np.minimum(chosen, found.reach_plus))
        distance[(z == 0) | (z == found.means.z_face[-1])] = inf  # nothing fluctuates there
        planes[field] = np.argmin(distance, axis=0)
    for name in SHEARS:
        of = moments(found.histograms(name))
        shear_edges[name] = float(of.mean) + float(of.rms) * EDGES

    def variables_of(means: Means) -> Variables:
        return _variables(wall_densities(loaded, parameters, side, means), planes, shear_edges)

    evaluated, names = intervals(variables_of, loaded.blocks), names_of_heights(chosen, parameters)
    return EvaluatedDensities(evaluated, found, loaded, chosen, names, planes, shear_edges, _beyond(found))


def agreement(evaluated: EvaluatedDensities) -> dict[str, dict[str, float]]:
    """Largest differences between the moments of a field's histograms and of statistics.h5, as far as they are known.

    Of u, v and p at the cell centres and of w on the faces: of the mean over the standard deviation (`mean/rms`), of
    the standard deviation over itself (`rms`), of `skewness` and `flatness`. The statistics of p have only the second.
    """
    found, rows = evaluated.found, {}
    profiles = wall_profiles(found.profiles, found.parameters, found.view.side)
    for field in FIELDS:
        points, row = len(found.z(field)), {}
        in_end_bins = np.max([h.in_end_bins for h in found.histograms(field)], axis=0)
        mean, rms, skewness, flatness = (
            evaluated.values[f"{of}_{field}"] for of in ("mean", "rms", "skewness", "flatness")
        )
        for n, label, values, name in (
            (1, "mean/rms", mean, {"u": "U", "v": "V"}.get(field, "")),
            (2, "rms", rms, f"{field}_rms"),
            (3, "skewness", skewness, f"skew_{field}"),
            (4, "flatness", flatness, f"flat_{field}"),
        ):
            if field == "w" and n == 2:
                expected = np.sqrt(np.maximum(face_values(found.view.means.centre["ww"])[:points], 0)) / found.u_tau
            elif profiles.has(name):
                expected = profiles.column(name)[1][:points]
            else:
                continue
            scale = {1: rms, 2: np.where(expected > _STILL, expected, np.nan)}.get(n, 1.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                difference = np.abs((values - expected) / scale)
            known = difference[(in_end_bins * 8**n < _KNOWN) & np.isfinite(difference)]
            if known.size:
                row[label] = float(known.max())
        rows[field] = row
    return rows
