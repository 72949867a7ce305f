"""Time series and key figures as datasets."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from sluice_post import layout
from sluice_post.datasets.cf import INSTANTS
from sluice_post.datasets.variables import RHO, Variables, dataset, variable, with_interval
from sluice_post.key_figures import Figure
from sluice_post.timeseries import TimeSeries
from sluice_post.wall_view import with_wall

_COLUMNS = {
    layout.STEP: ("number of the step", "1"),
    layout.DT: ("length of the step", "h/U"),
    layout.CFL: ("length of the step over its limit", "1"),
    layout.BULK_VELOCITY: ("bulk velocity", "U"),
    layout.FORCING_COLUMN: ("mean force of the step", "U^2/h"),
    layout.RE_TAU_BOTTOM: ("friction Reynolds number of the bottom wall", "1"),
    layout.RE_TAU_TOP: ("friction Reynolds number of the top wall", "1"),
    layout.KINETIC_ENERGY: ("volume mean of |u|^2/2", "U^2"),
    layout.MAX_DIVERGENCE: ("largest |div u|", "U/h"),
    "power": ("power of the mean force of the step, per volume", "U^3/h"),
    "forcing_y": ("mean force of the step along y", "U^2/h"),
    "bulk_velocity_y": ("volume mean of v", "U"),
}

KEY_FIGURES = {
    "re_tau": ("friction Reynolds number of the mean wall stress", "1"),
    "re_tau_bottom": ("friction Reynolds number of the bottom wall", "1"),
    "re_tau_top": ("friction Reynolds number of the top wall", "1"),
    "shear_bottom": ("shear stress of the bottom wall", f"{RHO}U^2"),
    "shear_top": ("shear stress of the top wall", f"{RHO}U^2"),
    "u_tau": ("friction velocity", "U"),
    "u_tau_g": ("friction velocity over the geostrophic velocity", "1"),
    "angle": ("angle of the wall stress, positive to the left of the geostrophic velocity", "degree"),
    "delta_plus": ("friction Reynolds number u_tau^2/(f nu) of an Ekman layer", "1"),
    "re_b": ("bulk Reynolds number 2 U_b h/nu", "1"),
    "re_w": ("Reynolds number of the walls U_w h/nu", "1"),
    "u_b_plus": ("bulk velocity", "u_tau"),
    "u_c_plus": ("velocity at the centre or surface", "u_tau"),
    "cf": ("friction coefficient of the mean wall stress", "1"),
    "cf_bottom": ("friction coefficient of the bottom wall", "1"),
    "cf_top": ("friction coefficient of the top wall", "1"),
    "wall_dissipation": ("dissipation of k on the wall", "u_tau^4/nu"),
    "dissipation": ("integral of the production of k", "u_tau^3"),
    "force_balance": ("forcing times h over the wall stress, less 1", "1"),
}
for _key, _about in {
    "u_peak": ("rms streamwise velocity", "u_tau"),
    "v_peak": ("rms spanwise velocity", "u_tau"),
    "w_peak": ("rms wall-normal velocity", "u_tau"),
    "uw_peak": ("Reynolds shear stress -<uw>", "u_tau^2"),
    "p_peak": ("rms pressure", f"{RHO}u_tau^2"),
    "production_peak": ("production of k", "u_tau^4/nu"),
}.items():
    KEY_FIGURES[_key] = (f"largest {_about[0]}", _about[1])
    KEY_FIGURES[f"{_key}_z"] = (f"height of the largest {_about[0]}", "nu/u_tau")


def _about_column(name: str, series: TimeSeries) -> tuple[str, str]:
    """Description and unit of a column."""
    endings = {layout.SCALAR_MEAN: ("volume mean of the scalar {}", "C")}
    for wall, ending in layout.SCALAR_FLUX.items():
        endings[ending] = (f"flux of the scalar {{}} into the fluid at the {wall} wall", "C U")
    for ending, (text, unit) in endings.items():
        scalar = name.removesuffix(ending.format(""))
        if name != scalar and all(column.format(scalar) in series.columns for column in endings):
            return text.format(scalar), unit
    return _COLUMNS.get(name, (name.replace("_", " "), ""))


def time_series_dataset(series: TimeSeries) -> xr.Dataset:
    """The columns of timeseries.csv against `time`; those that only some cases have may lack their units."""
    variables = {
        name: variable("time", values, *_about_column(name, series))
        for name, values in series.columns.items()
        if name != layout.TIME
    }
    variables[layout.STEP] = variables[layout.STEP].astype("int64")
    return dataset(variables, {"time": variable("time", series.time, "time", "h/U")}, INSTANTS)


def key_figures_dataset(figures: Sequence[Figure]) -> xr.Dataset:
    """Each key figure as a number without dimensions, with its interval; names as in key_figures.py."""
    variables: Variables = {}
    for figure in figures:
        text, unit = KEY_FIGURES[figure.key]
        about = (text if f"of the {figure.wall}" in text else with_wall(text, figure.wall), unit)
        variables |= with_interval(figure.key, (), figure.value, figure.half_width, about, figure.in_time)
    return dataset(variables, {})
