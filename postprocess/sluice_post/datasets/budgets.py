"""Budgets of the Reynolds stresses and of scalars as datasets."""

from __future__ import annotations

import xarray as xr

from sluice_post.budgets import IMBALANCE, EvaluatedBudgets, EvaluatedTerms
from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import Variables, dataset, heights, variable, with_interval
from sluice_post.scalar_budgets import EvaluatedScalarBudgets

UNIT = "u_tau^4/nu"
_KOLMOGOROV = {
    "eta_plus": ("Kolmogorov's length", "nu/u_tau"),
    "dx_over_eta": ("size of the cells along x over Kolmogorov's length", "1"),
    "dy_over_eta": ("size of the cells along y over Kolmogorov's length", "1"),
    "dz_over_eta": ("size of the cells along z over Kolmogorov's length", "1"),
}
_AT_CENTRES = ("k", "uu", "vv", "cc", "uc")


def budget_dataset(evaluated: EvaluatedBudgets, stress: str) -> xr.Dataset:
    """The terms of one budget against z, those of ww and uw against z_face; `imbalance` is their sum.

    Of k also Kolmogorov's length and the size of the cells.
    """
    found = evaluated.found
    variables, coordinates = _terms(evaluated, stress, UNIT)
    if stress == "k":
        for name, values in found.kolmogorov_columns().items():
            variables[name] = variable("z", values, *_KOLMOGOROV[name])
    return dataset(
        variables, coordinates, PLANES_AND_TIME, stress=stress, u_tau=found.u_tau, re_tau=found.re_tau, wall=found.wall
    )


def scalar_budget_dataset(evaluated: EvaluatedScalarBudgets, budget: str) -> xr.Dataset:
    """The terms of the budget of cc, uc or wc of Theta; cc and uc against z, wc against z_face."""
    found = evaluated.found
    unit = "c_tau^2 u_tau^2/nu" if budget == "cc" else "c_tau u_tau^3/nu"
    variables, coordinates = _terms(evaluated, budget, unit)
    numbers = {"u_tau": found.u_tau, "c_tau": found.c_tau, "re_tau": found.re_tau}
    return dataset(variables, coordinates, PLANES_AND_TIME, name=found.scalar.name, budget=budget, **numbers)


def _terms(evaluated: EvaluatedTerms, name: str, unit: str) -> tuple[Variables, Variables]:
    """The terms of a budget and its storage; their heights."""
    found = evaluated.found
    budget, bands = found.budgets[name], evaluated.bands.get(name, {})
    dim = "z" if name in _AT_CENTRES else "z_face"
    variables: Variables = {}
    for term, values in budget.terms.items():
        long_name = f"{term.replace('_', ' ')} of {name}"
        if term == IMBALANCE:
            long_name = f"sum of all terms of the budget of {name}"
        variables |= with_interval(term, dim, values, bands.get(term), (long_name, unit))
    if name in evaluated.storage:
        about = f"rate of change of {name} from the first to the last block"
        variables["storage"] = variable(dim, evaluated.storage[name], about, unit)
    return variables, heights(dim, budget.z, found.u_tau, found.viscosity)
