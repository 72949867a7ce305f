"""Probability densities and quadrants as a dataset."""

from __future__ import annotations

import xarray as xr

from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import RHO, Variables, dataset, heights, variable, with_interval
from sluice_post.densities import FIELDS, SHEARS
from sluice_post.evaluated_densities import MIDDLES, EvaluatedDensities
from sluice_post.layout import QUADRANTS
from sluice_post.quadrants import HOLE_SIZES, JOINT_MIDDLES, standardized_density

_NAMES = {"u": "streamwise velocity", "v": "spanwise velocity", "w": "wall-normal velocity", "p": "pressure"}
_SHEARS = {"shear_x": "streamwise wall shear stress", "shear_y": "spanwise wall shear stress"}
_RMS = "root-mean-square deviation from the mean"


def _moments() -> dict[str, tuple[tuple[str, ...], str, str]]:
    """Dimensions, description and unit of mean, rms, skewness and flatness."""
    found: dict[str, tuple[tuple[str, ...], str, str]] = {}
    for field, name in _NAMES.items():
        dims: tuple[str, ...] = ("z_face",) if field == "w" else ("z",)
        unit = f"{RHO}u_tau^2" if field == "p" else "u_tau"
        found[f"mean_{field}"] = dims, f"mean {name}", unit
        found[f"rms_{field}"] = dims, f"{_RMS}: {name}", unit
    for field, name in (_NAMES | _SHEARS).items():
        dims = () if field in _SHEARS else found[f"rms_{field}"][0]
        found[f"skewness_{field}"] = dims, f"skewness of the {name}", "1"
        found[f"flatness_{field}"] = dims, f"flatness of the {name}", "1"
    for shear, name in _SHEARS.items():
        found[f"rms_{shear}"] = (), f"{_RMS}: {name}", f"{RHO}u_tau^2"
    return found


def _about() -> dict[str, tuple[tuple[str, ...], str, str]]:
    """Dimensions, description and unit of all values of EvaluatedDensities."""
    found = _moments()
    for field in FIELDS:
        about = f"density of {field}' over its standard deviation"
        found[f"density_{field}"] = ("height", "deviation"), about, "1"
    for shear in SHEARS:
        found[f"density_{shear}"] = (shear,), f"density of the {_SHEARS[shear]}", f"1/({RHO}u_tau^2)"
    found["backflow"] = (), "probability of streamwise wall shear stress below 0", "1"
    for quadrant in QUADRANTS:
        found[f"minus_uw_q{quadrant}"] = ("z_face",), f"part of -<u'w'> from quadrant {quadrant}", "u_tau^2"
        found[f"fraction_q{quadrant}"] = ("z_face",), f"fraction of time in quadrant {quadrant}", "1"
    found["minus_uw_all"] = ("z_face",), "-<u'w'> from all quadrants", "u_tau^2"
    holes = ("z_joint", "quadrant", "hole_size")
    found["hole_minus_uw"] = holes, "part of -<u'w'> outside the hole", "u_tau^2"
    found["hole_fraction"] = holes, "fraction of time outside the hole", "1"
    return found


def densities_dataset(evaluated: EvaluatedDensities) -> xr.Dataset:
    """Densities, moments, quadrants and holes, as seen from a wall; see EvaluatedDensities.

    `density_u` (height, deviation) is of u' over its standard deviation at the planes nearest to the chosen heights,
    `joint_uw` (z_joint, deviation_u, deviation_w) the joint density of u' and w' over theirs.
    """
    found, about = evaluated.found, _about()
    variables: Variables = {}
    for name, values in evaluated.values.items():
        dims, long_name, units = about[name]
        variables |= with_interval(name, dims, values, evaluated.width(name), (long_name, units))
    scales = (found.u_tau, found.parameters.viscosity)
    coordinates = heights("z", found.z("u"), *scales) | heights("z_face", found.z("w"), *scales)
    coordinates |= {
        "height": variable("height", list(evaluated.names), "chosen height: z+, centre or surface"),
        "deviation": variable("deviation", MIDDLES, "deviation from the mean", "standard deviation"),
        "quadrant": variable("quadrant", QUADRANTS, "quadrant of u' and w'"),
        "hole_size": variable("hole_size", HOLE_SIZES, "|u'w'| at the edge of the hole", "u_rms w_rms"),
    }
    for shear in SHEARS:
        edges = evaluated.shear_edges[shear]
        coordinates[shear] = variable(shear, (edges[1:] + edges[:-1]) / 2, _SHEARS[shear], f"{RHO}u_tau^2")
    if found.joint_z.size:
        coordinates |= heights("z_joint", found.joint_z, *scales)
        for field in ("u", "w"):
            dim = f"deviation_{field}"
            coordinates[dim] = variable(dim, JOINT_MIDDLES, f"deviation of {field}", "standard deviation")
        joint = [standardized_density(joints) for joints in found.joints()]
        dims = ("z_joint", "deviation_u", "deviation_w")
        variables["joint_uw"] = variable(dims, joint, "joint density of u' and w' over their standard deviations")
    return dataset(
        variables, coordinates, PLANES_AND_TIME, u_tau=found.u_tau, re_tau=found.re_tau, wall=found.view.wall
    )
