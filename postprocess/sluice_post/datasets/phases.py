"""Averages by phase as a dataset."""

from __future__ import annotations

import xarray as xr

from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import RHO, Variables, dataset, variable, with_interval
from sluice_post.phases import PhaseAverages

_ABOUT = {
    "U": ("streamwise velocity", "U"),
    "V": ("spanwise velocity", "U"),
    "P": ("pressure", f"{RHO}U^2"),
    "pp": ("variance of the pressure about it", "rho^2 U^4"),
    "minus_uw": ("Reynolds shear stress -<uw> of the fluctuations", "U^2"),
    "minus_vw": ("Reynolds shear stress -<vw> of the fluctuations", "U^2"),
    "bulk_velocity": ("bulk velocity", "U"),
    "forcing": ("mean streamwise force", "U^2/h"),
}
for _letter, _name in (("u", "streamwise"), ("v", "spanwise"), ("w", "wall-normal")):
    _ABOUT[_letter * 2] = (f"variance of the fluctuations of the {_name} velocity", "U^2")
for _letter, _name in (("u", "streamwise"), ("v", "spanwise")):
    _ABOUT |= {
        f"mean_{_letter}": (f"mean of the {_name} velocity over all phases", "U"),
        f"amplitude_{_letter}": (f"amplitude of the first harmonic of the {_name} velocity", "U"),
        f"lag_{_letter}": (f"phase at which the first harmonic of the {_name} velocity is largest", "T"),
        f"{_letter}{_letter}_periodic": (f"variance of the periodic part of the {_name} velocity", "U^2"),
        f"{_letter}{_letter}_fluctuation": (f"variance of the fluctuations of the {_name} velocity", "U^2"),
    }
for _axis in ("x", "y"):
    for _side in ("bottom", "top"):
        _ABOUT[f"shear_{_axis}_{_side}"] = (f"shear stress on the {_side} wall along {_axis}", f"{RHO}U^2")


def _about(name: str) -> tuple[str, str]:
    if name in _ABOUT:
        return _ABOUT[name]
    kind, scalar = name.split("_", 1)
    return (f"{scalar}", "C") if kind == "C" else (f"variance of the fluctuations of {scalar}", "C^2")


def phases_dataset(found: PhaseAverages) -> xr.Dataset:
    """Averages by phase, (z, phase), (z_face, phase) or (phase), and first harmonics, (z), with intervals."""
    variables: Variables = {"samples": variable("phase", found.samples, "number of samples")}
    dims = (("z", "phase"), ("z_face", "phase"), ("phase",), ("z",))
    for of, columns in zip(dims, (found.centre, found.face, found.line, found.harmonic), strict=True):
        for name, values in columns.items():
            variables |= with_interval(name, of, values, found.widths.get(name), _about(name))
    return dataset(
        variables,
        {
            "phase": variable("phase", found.phase, "mean phase of the samples, from time 0", "T"),
            "z": variable("z", found.z, "height of cell centres", "h"),
            "z_face": variable("z_face", found.z_face, "height of faces, walls included", "h"),
        },
        PLANES_AND_TIME,
        period=found.period,
    )
