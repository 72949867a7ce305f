"""Spectra and two-point correlations as a dataset."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sluice_post.arrays import Array
from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import Variables, dataset, heights, variable, with_interval
from sluice_post.plane_spectra import PlaneSpectra
from sluice_post.scalar_spectra import EvaluatedScalarSpectra
from sluice_post.spectra import AXES, EvaluatedSpectra, WallSpectra

_NAMES = {"uu": "uu", "vv": "vv", "ww": "ww", "minus_uw": "-uw", "pp": "pp"}
_ON_WALL = {"tau_x": "streamwise wall shear stress", "tau_y": "spanwise wall shear stress", "p": "wall pressure"}
_FACES = ("ww", "minus_uw")


def _unit(quantity: str) -> str:
    return "rho^2 u_tau^4" if quantity in ("pp", *_ON_WALL) else "u_tau^2"


def _wavenumbers(found: WallSpectra, axis: str) -> Variables:
    """Wavenumbers over 1/h, from 0 on, and wavelengths in wall units, infinite for mode 0."""
    dim = f"k{axis}"
    modes = np.arange(found.cells[axis] // 2 + 1)
    wavenumber = 2 * np.pi * modes / found.length[axis]
    wavelength = np.append(np.inf, found.wavelength_plus(axis))
    return {
        dim: variable(dim, wavenumber, f"wavenumber along {axis}", "1/h"),
        f"lambda_{axis}_plus": variable(dim, wavelength, f"wavelength along {axis}", "nu/u_tau"),
    }


def _planes(found: WallSpectra) -> tuple[Variables, Variables]:
    variables: Variables = {}
    coordinates: Variables = {}
    for quantity, plane in found.planes.items():
        dim = "z_face_kxky" if quantity in _FACES else "z_kxky"
        long_name = f"energy of {_NAMES[quantity]} in each pair of modes"
        variables[f"{quantity}_kxky"] = variable((dim, "ky", "kx"), plane.energy, long_name, _unit(quantity))
        coordinates |= heights(dim, _z(plane, found), found.u_tau, found.viscosity)
    return variables, coordinates


def _z(plane: PlaneSpectra, found: WallSpectra) -> Array:
    return plane.z_plus * found.viscosity / found.u_tau


def _near(found: WallSpectra, quantity: str) -> NDArray[np.bool_]:
    """The points of a quantity from the wall to h."""
    return found.z[quantity] <= found.height * (1 + 1e-9)


def spectra_dataset(evaluated: EvaluatedSpectra) -> xr.Dataset:
    """Spectra, correlations and integral lengths, as seen from a wall and in wall units.

    - `uu_kx` (z, kx), `ww_kx` (z_face, kx), ...: energy of each mode; the plain sum over kx is the variance. For the
      density over k+ divide by the spacing of k+; k E(k) is the energy times the number of the mode.
    - `uu_kxky` (z_kxky, ky, kx), ...: the same in both directions, at the heights of the case.
    - `uu_kx_at` (height, kx), `R_uu_x` (height, r_x), `L_uu_x` (height): spectrum, two-point correlation coefficient
      and integral length at the chosen heights, with intervals.
    - `tau_x_wall_kx`, `tau_y_wall_kx`, `p_wall_kx` (kx): wall shear stress and wall pressure, with intervals.
    """
    found, lines, bands = evaluated.found, evaluated.lines, evaluated.bands
    variables, coordinates = _planes(found)
    for (quantity, axis), energy in found.energy.items():
        dim = "z_face" if quantity in _FACES else "z"
        long_name = f"energy of {_NAMES[quantity]} in each mode along {axis}"
        values = energy[_near(found, quantity)]
        variables[f"{quantity}_k{axis}"] = variable((dim, f"k{axis}"), values, long_name, _unit(quantity))
    for key, values in lines.energy.items():
        quantity, axis = key
        about = (f"energy of {_NAMES[quantity]} in each mode along {axis} at a height", _unit(quantity))
        width = bands.energy[key] if bands else None
        variables |= with_interval(f"{quantity}_k{axis}_at", ("height", f"k{axis}"), values, width, about)
    for key, values in lines.coefficient.items():
        quantity, axis = key
        about = (f"two-point correlation coefficient of {_NAMES[quantity]} along {axis}", "1")
        width = bands.coefficient[key] if bands else None
        variables |= with_interval(f"R_{quantity}_{axis}", ("height", f"r_{axis}"), values, width, about)
        about = (f"integral length of {_NAMES[quantity]} along {axis}", "h")
        width = bands.length[key] if bands else None
        variables |= with_interval(f"L_{quantity}_{axis}", "height", lines.length[key], width, about)
    for key, values in lines.on_wall.items():
        quantity, axis = key
        about = (f"energy of the {_ON_WALL[quantity]} in each mode along {axis}", _unit(quantity))
        width = bands.on_wall[key] if bands else None
        variables |= with_interval(f"{quantity}_wall_k{axis}", f"k{axis}", values, width, about)
    scales = (found.u_tau, found.viscosity)
    for dim, quantity in (("z", "uu"), ("z_face", "ww")):
        coordinates |= heights(dim, found.z[quantity][_near(found, quantity)], *scales)
    coordinates["height"] = variable("height", np.array(evaluated.names), "chosen height: z+, centre or surface")
    coordinates["height_plus"] = variable("height", evaluated.z_plus, "chosen height", "nu/u_tau")
    for axis in AXES:
        coordinates |= _wavenumbers(found, axis)
        separation = evaluated.distances(axis)
        coordinates[f"r_{axis}"] = variable(f"r_{axis}", separation, f"separation along {axis}", "h")
    return dataset(variables, coordinates, PLANES_AND_TIME, u_tau=found.u_tau, re_tau=found.re_tau, wall=found.wall)


_OF_SCALARS = {"cc": ("Theta", "z", "c_tau^2"), "minus_wc": ("-w Theta", "z_face", "c_tau u_tau")}


def scalar_spectra_dataset(evaluated: EvaluatedScalarSpectra) -> xr.Dataset:
    """`cc_kx` (z, kx), `minus_wc_kx` (z_face, kx), ...: energy of each mode; `cc_kx_at` (height, kx) with intervals."""
    found = evaluated.found
    variables: Variables = {}
    coordinates: Variables = {}
    for (quantity, axis), energy in found.energy.items():
        symbol, dim, unit = _OF_SCALARS[quantity]
        about = f"energy of {symbol} in each mode along {axis}"
        near = _near(found, quantity)
        variables[f"{quantity}_k{axis}"] = variable((dim, f"k{axis}"), energy[near], about, unit)
        values, width = evaluated.energy[quantity, axis], evaluated.bands.get((quantity, axis))
        name = f"{quantity}_k{axis}_at"
        variables |= with_interval(name, ("height", f"k{axis}"), values, width, (f"{about} at a height", unit))
        coordinates |= heights(dim, found.z[quantity][near], found.u_tau, found.viscosity)
        coordinates |= _wavenumbers(found, axis)
    names = np.array(evaluated.names)
    coordinates["height"] = variable("height", names, "chosen height: z+, centre or surface")
    coordinates["height_plus"] = variable("height", evaluated.z_plus, "chosen height", "nu/u_tau")
    return dataset(
        variables,
        coordinates,
        PLANES_AND_TIME,
        name=evaluated.name,
        u_tau=found.u_tau,
        re_tau=found.re_tau,
        wall=found.wall,
    )
