"""Budgets of the Reynolds stresses as datasets."""

from __future__ import annotations

import xarray as xr

from sluice_post.budgets import IMBALANCE, EvaluatedBudgets
from sluice_post.datasets.variables import Variables, dataset, heights, variable, with_interval

UNIT = "u_tau^4/nu"
_KOLMOGOROV = {
    "eta_plus": ("Kolmogorov's length", "nu/u_tau"),
    "dx_over_eta": ("size of the cells along x over Kolmogorov's length", "1"),
    "dy_over_eta": ("size of the cells along y over Kolmogorov's length", "1"),
    "dz_over_eta": ("size of the cells along z over Kolmogorov's length", "1"),
}
_AT_CENTRES = ("k", "uu", "vv")


def budget_dataset(evaluated: EvaluatedBudgets, stress: str) -> xr.Dataset:
    """The terms of one budget against z, those of ww and uw against z_face; `imbalance` is their sum.

    Of k also Kolmogorov's length and the size of the cells.
    """
    found = evaluated.found
    budget, bands = found.budgets[stress], evaluated.bands.get(stress, {})
    dim = "z" if stress in _AT_CENTRES else "z_face"
    variables: Variables = {}
    for name, values in budget.terms.items():
        long_name = f"{name.replace('_', ' ')} of {stress}"
        if name == IMBALANCE:
            long_name = f"sum of all terms of the budget of {stress}"
        variables |= with_interval(name, dim, values, bands.get(name), (long_name, UNIT))
    if stress in evaluated.storage:
        about = f"rate of change of {stress} from the first to the last block"
        variables["storage"] = variable(dim, evaluated.storage[stress], about, UNIT)
    if stress == "k":
        for name, values in found.kolmogorov_columns().items():
            variables[name] = variable(dim, values, *_KOLMOGOROV[name])
    coordinates = heights(dim, budget.z, found.height, found.u_tau, found.viscosity)
    return dataset(variables, coordinates, stress=stress, u_tau=found.u_tau, re_tau=found.re_tau)
