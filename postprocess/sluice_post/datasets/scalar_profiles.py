"""Profiles of a scalar as a dataset: in wall units, and as `outer_...` in the units of the case."""

from __future__ import annotations

import xarray as xr

from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import Variables, dataset, heights, with_interval
from sluice_post.scalar_numbers import LABELS, EvaluatedScalar

# Description and unit of each profile; Theta = (c_w - c)/c_tau.
ABOUT: dict[str, tuple[str, str]] = {
    "C": ("mean of Theta", "1"),
    "c_rms": ("rms scalar", "c_tau"),
    "cc": ("variance of the scalar", "c_tau^2"),
    "skew_c": ("skewness of Theta", "1"),
    "flat_c": ("flatness of the scalar", "1"),
    "uc": ("covariance of u and Theta", "u_tau"),
    "vc": ("covariance of v and Theta", "u_tau"),
    "R_uc": ("correlation coefficient of u and Theta", "1"),
    "R_wc": ("correlation coefficient of w and Theta", "1"),
    "minus_wc": ("turbulent flux", "q_w"),
    "conduction": ("conductive flux", "q_w"),
    "total": ("total flux", "q_w"),
    "balance": ("total flux that the fluxes of the walls and the source ask for", "q_w"),
    "residual": ("total flux less that of the balance", "q_w"),
    "kappa_t": ("turbulent diffusivity", "nu"),
    "nu_t": ("turbulent viscosity", "nu"),
    "Pr_t": ("turbulent Prandtl number", "1"),
}
OUTER: dict[str, tuple[str, str]] = {
    "C": ("mean scalar", "C"),
    "c_rms": ("rms scalar", "C"),
    "uc": ("covariance of u and the scalar", "C U"),
    "vc": ("covariance of v and the scalar", "C U"),
    "wc": ("turbulent flux away from the wall", "C U"),
    "gradient_flux": ("kappa times the derivative away from the wall", "C U"),
    "total": ("total flux away from the wall", "C U"),
}


def scalar_dataset(found: EvaluatedScalar) -> xr.Dataset:
    """All profiles of a scalar from the wall to h, (z) or (z_face); its numbers and their intervals are attributes."""
    profiles = found.profiles
    variables: Variables = {}
    for dim, inner, outer in (
        ("z", profiles.centre, profiles.outer_centre),
        ("z_face", profiles.face, profiles.outer_face),
    ):
        for name, values in inner.items():
            variables |= with_interval(name, dim, values, found.bands.get(name), ABOUT[name])
        for name, values in outer.items():
            variables |= with_interval(f"outer_{name}", dim, values, found.outer_bands.get(name), OUTER[name])
    wall = profiles.wall
    scales = (wall.u_tau, wall.viscosity)
    numbers = {key: found.numbers[key] for key in LABELS if key in found.numbers}
    numbers |= {f"{key}_ci95": width for key, width in found.widths.items()}
    return dataset(
        variables,
        heights("z", wall.z, *scales) | heights("z_face", wall.z_face, *scales),
        PLANES_AND_TIME,
        name=profiles.scalar.name,
        side=wall.side,
        prandtl=profiles.scalar.prandtl,
        wall_value=profiles.wall_value,
        u_tau=wall.u_tau,
        **numbers,
    )
