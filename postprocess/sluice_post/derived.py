"""Quantities derived from profiles and budgets: anisotropy, enstrophy, Kolmogorov's scales.

Anisotropy of a symmetric tensor t: b_ij = t_ij/t_kk - delta_ij/3, here for the Reynolds stresses and for their
dissipation. Its invariants are xi and eta, 6 eta^2 = b_ij b_ji and 6 xi^3 = b_ij b_jk b_ki (Pope, Turbulent Flows,
Cambridge University Press (2000), sec. 11.3.2): all tensors that can occur lie within Lumley's triangle.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from sluice_post.arrays import Array, interpolate
from sluice_post.budgets import KOLMOGOROV, WallBudgets, wall_budgets
from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import About, dataset, described, heights
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import wall_profiles
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import intervals

COMPONENTS = ("uu", "vv", "ww", "uw")
TENSORS = {"stress": "Reynolds stresses", "dissipation": "dissipation tensor"}
_ABOUT: dict[str, About] = {
    "enstrophy_plus": ("z", "enstrophy of the fluctuations", "u_tau^4/nu^2"),
    "epsilon_plus": ("z", "dissipation of k", "u_tau^4/nu"),
    **KOLMOGOROV,
    "kolmogorov_time_plus": ("z", "Kolmogorov's time", "nu/u_tau^2"),
}


def two_component_limit(xi: Array) -> Array:
    """eta of the tensors with only two components, the upper side of the triangle; xi from -1/6 to 1/3."""
    return np.sqrt(1 / 27 + 2 * xi**3)


def anisotropy(tensor: dict[str, Array]) -> dict[str, Array]:
    """b of a tensor and its invariants; NaN where the tensor is 0. `tensor`: COMPONENTS; uv and vw unless 0."""
    trace = tensor["uu"] + tensor["vv"] + tensor["ww"]
    safe = np.where(trace > 0, trace, np.nan)
    b = {name: tensor[name] / safe - (1 / 3 if name in ("uu", "vv", "ww") else 0) for name in tensor}
    zero = np.zeros_like(trace)
    uv, vw, uw = b.get("uv", zero), b.get("vw", zero), b["uw"]
    matrix = np.stack([b["uu"], uv, uw, uv, b["vv"], vw, uw, vw, b["ww"]], axis=-1).reshape(*trace.shape, 3, 3)
    square = matrix @ matrix
    return {
        **{f"b_{name}": values for name, values in b.items()},
        "xi": np.cbrt(np.trace(square @ matrix, axis1=-2, axis2=-1) / 6),
        "eta": np.sqrt(np.trace(square, axis1=-2, axis2=-1) / 6),
    }


def _dissipation_tensor(found: WallBudgets) -> dict[str, Array]:
    """Dissipation of the stresses at the cell centres; that of ww and uw by cubics."""
    centres = found.budgets["uu"].z
    tensor = {}
    for name in COMPONENTS:
        z, values = found.budgets[name].z, -found.budgets[name].terms["dissipation"]
        if name == "uw":  # it is 0 on the wall
            z, values = np.append(0.0, z), np.append(0.0, values)
        tensor[name] = interpolate(centres, z, values)
    return tensor


def derived_of(means: Means, parameters: FlowParameters, side: str | None = None) -> dict[str, Array]:
    """All derived profiles at the cell centres by name, as far as the run recorded what they need."""
    profiles = wall_profiles(means, parameters, side)
    stress = {name: profiles.centre[name] for name in ("uu", "vv", "ww")}
    stress["uw"] = -profiles.at_centres("minus_uw")
    if profiles.turns:
        stress |= {"uv": profiles.centre["uv"], "vw": -profiles.at_centres("minus_vw")}
    values = {f"stress_{name}": column for name, column in anisotropy(stress).items()}
    vorticity = [profiles.centre[f"omega_{axis}_rms"] for axis in "xyz" if profiles.has(f"omega_{axis}_rms")]
    if len(vorticity) == 3:
        values["enstrophy_plus"] = np.sum(np.square(vorticity), axis=0)
    if "ww_flux" in means.centre and not parameters.controlled:  # controlled walls have no budgets
        found = wall_budgets(means, parameters, side)
        if not profiles.turns:  # otherwise it has uv and vw, too, for which there are no budgets
            tensor = _dissipation_tensor(found)
            values |= {f"dissipation_{name}": column for name, column in anisotropy(tensor).items()}
        columns = found.kolmogorov_columns()
        epsilon = columns["eta_plus"] ** -4
        values |= {"epsilon_plus": epsilon, **columns, "kolmogorov_time_plus": epsilon**-0.5}
    return values


def evaluate_derived(blocks: Blocks, parameters: FlowParameters, side: str | None = None) -> xr.Dataset:
    """Derived profiles (z) with their intervals, which a single block does not have, as seen from `side`."""
    profiles = wall_profiles(blocks.means(), parameters, side)
    values = intervals(lambda means: derived_of(means, parameters, side), blocks)
    table: dict[str, About] = {
        f"{tensor}_{part}": ("z", f"{part} of the anisotropy of the {of}", "1")
        for tensor, of in TENSORS.items()
        for part in ("xi", "eta", *(f"b_{component}" for component in (*COMPONENTS, "uv", "vw")))
    }
    coordinates = heights("z", profiles.z, profiles)
    return dataset(described(values, table | _ABOUT), coordinates, PLANES_AND_TIME)
