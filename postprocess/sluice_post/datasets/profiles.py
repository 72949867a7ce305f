"""Profiles in wall units, and the raw moments of each block, as datasets."""

from __future__ import annotations

import xarray as xr

from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import RHO, Variables, dataset, heights, variable, with_interval
from sluice_post.profiles import WallProfiles
from sluice_post.statistics import Blocks

# Description and unit of each profile of WallProfiles.
ABOUT: dict[str, tuple[str, str]] = {
    "U": ("mean streamwise velocity relative to the wall", "u_tau"),
    "V": ("mean spanwise velocity", "u_tau"),
    "P": ("mean pressure less that at the wall", f"{RHO}u_tau^2"),
    "k": ("turbulent kinetic energy", "u_tau^2"),
    "uv": ("covariance of u and v", "u_tau^2"),
    "pp": ("variance of the pressure", "rho^2 u_tau^4"),
    "p_rms": ("rms pressure", f"{RHO}u_tau^2"),
    "minus_uw": ("Reynolds shear stress -<uw>", "u_tau^2"),
    "minus_vw": ("Reynolds shear stress -<vw>", "u_tau^2"),
    "dUdz": ("viscous shear stress nu dU/dz", "u_tau^2"),
    "total": ("total shear stress", "u_tau^2"),
    "U_along_stress": ("mean velocity along the wall stress, relative to the wall", "u_tau"),
    "dVdz": ("viscous shear stress nu dV/dz", "u_tau^2"),
    "total_y": ("total shear stress along y", "u_tau^2"),
    "balance_y": ("total shear stress along y according to the mean momentum balance", "u_tau^2"),
    "residual_y": ("total shear stress along y less that of the balance", "u_tau^2"),
    "balance": ("total shear stress according to the mean momentum balance", "u_tau^2"),
    "residual": ("total shear stress less that of the balance", "u_tau^2"),
}
for _letter, _axis, _name in (("u", "x", "streamwise"), ("v", "y", "spanwise"), ("w", "z", "wall-normal")):
    ABOUT |= {
        _letter * 2: (f"variance of the {_name} velocity", "u_tau^2"),
        f"{_letter}_rms": (f"rms {_name} velocity", "u_tau"),
        f"skew_{_letter}": (f"skewness of the {_name} velocity", "1"),
        f"flat_{_letter}": (f"flatness of the {_name} velocity", "1"),
        f"omega_{_axis}_rms": (f"rms {_name} vorticity", "u_tau^2/nu"),
    }


def profiles_dataset(profiles: WallProfiles) -> xr.Dataset:
    """All profiles from the wall to h: (z) at cell centres, (z_face) on faces, the wall first."""
    variables: Variables = {}
    for dim, columns in (("z", profiles.centre), ("z_face", profiles.face)):
        for name, values in columns.items():
            widths = (of.get(name) for of in (profiles.half_widths, profiles.half_widths_in_time))
            variables |= with_interval(name, dim, values, next(widths), ABOUT[name], next(widths))
    return dataset(
        variables,
        heights("z", profiles.z, profiles) | heights("z_face", profiles.z_face, profiles),
        PLANES_AND_TIME,
        u_tau=profiles.u_tau,
        viscosity=profiles.viscosity,
        re_tau=profiles.re_tau,
        side=profiles.view.side,
        symmetry=profiles.view.symmetry.value,
    )


def blocks_dataset(blocks: Blocks) -> xr.Dataset:
    """The averages of raw moments over each block, (time, z) or (time, z_face), over the whole height, as stored.

    In the units U and h of the run; `time` is the middle of a block. docs/file-formats.md describes the moments.
    """
    variables: Variables = {
        "samples": variable("time", blocks.samples, "number of samples of the block"),
        "t_begin": variable("time", blocks.time_begin, "time of the first sample of the block", "h/U"),
        "t_end": variable("time", blocks.time_end, "time of the last sample of the block", "h/U"),
    }
    on_faces = {name: sums for name, sums in blocks.scalars.items() if sums.shape[1] == blocks.z_face.size}
    centred = {name: sums for name, sums in blocks.scalars.items() if name not in on_faces}
    for dim, columns in (("z", blocks.centre | centred), ("z_face", blocks.face | on_faces)):
        for name in columns:
            about = f"time and plane average of {name}, in the units U and h"
            variables[name] = variable(("time", dim), blocks.series(name), about)
    middle = (blocks.time_begin + blocks.time_end) / 2
    return dataset(
        variables,
        {
            "time": variable("time", middle, "middle of the block", "h/U"),
            "z": variable("z", blocks.z, "height of cell centres", "h"),
            "z_face": variable("z_face", blocks.z_face, "height of faces, walls included", "h"),
        },
        PLANES_AND_TIME,
    )
