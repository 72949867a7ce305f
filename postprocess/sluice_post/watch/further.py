"""What the columns show that only some cases have: scalars, controlled walls, forces along y or of a given power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.control import POWER_COLUMNS
from sluice_post.style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from sluice_post.timeseries import TimeSeries
from sluice_post.watch.case import Case
from sluice_post.watch.panels import Line

_COLOURS = {"bottom": BLUE, "top": VERMILLION}
_NUSSELT = {"bottom": "{}_nusselt_bottom", "top": "{}_nusselt_top"}
_OF_SCALARS = (layout.SCALAR_MEAN, *layout.SCALAR_FLUX.values(), *_NUSSELT.values())
# Other columns that only some cases have; one that is not listed has its name as its label.
_SINGLE = {
    "power": ("power of the force · h/U³", PURPLE),
    "forcing_y": ("pressure gradient along y · h/U²", ORANGE),
    "bulk_velocity_y": ("V_b/U", GREEN),
}


@dataclass(frozen=True)
class PanelPlan:
    """The label of a panel and its lines."""

    label: str
    lines: tuple[Line, ...]


def _walls(columns: Sequence[str], label: str, names: Sequence[str]) -> PanelPlan | None:
    """Columns of the bottom and the top wall in one panel; `names`: of both, in this order; None if there are none."""
    lines = tuple(
        Line(name, colour, f"{wall} wall")
        for name, (wall, colour) in zip(names, _COLOURS.items(), strict=True)
        if name in columns
    )
    return PanelPlan(label, lines) if lines else None


def with_nusselt_numbers(series: TimeSeries, case: Case | None) -> dict[str, Array]:
    """The columns, and the Nusselt numbers at both walls of scalars between walls of different values."""
    columns = dict(series.columns)
    for name, flux in case.conducted_fluxes.items() if case is not None else ():
        for (wall, nusselt), sign in zip(_NUSSELT.items(), (1, -1), strict=True):
            if (column := layout.SCALAR_FLUX[wall].format(name)) in columns:
                columns[nusselt.format(name)] = sign * columns[column] / flux
    return columns


def _scalar(columns: Sequence[str], name: str) -> list[PanelPlan | None]:
    """Nusselt numbers in place of fluxes where they are known, and the mean."""
    nusselt, fluxes = ([name_of.format(name) for name_of in kind.values()] for kind in (_NUSSELT, layout.SCALAR_FLUX))
    mean = layout.SCALAR_MEAN.format(name)
    return [
        _walls(columns, f"Nu of {name}", nusselt) or _walls(columns, f"flux of {name} into the fluid", fluxes),
        PanelPlan(f"mean of {name}", (Line(mean, GREEN),)),
    ]


def plans(columns: Sequence[str]) -> list[PanelPlan]:
    """The panels of columns that not all cases have; `columns`: those of with_nusselt_numbers."""
    suffix = layout.SCALAR_MEAN.format("")
    scalars = [name.removesuffix(suffix) for name in columns if name.endswith(suffix)]
    found = [plan for name in scalars for plan in _scalar(columns, name)]
    found.append(_walls(columns, "power of the walls / U³", POWER_COLUMNS))
    of_scalars = [kind.format(name) for name in scalars for kind in _OF_SCALARS]
    for name in columns:
        if name not in (*layout.TIMESERIES_COLUMNS, *of_scalars, *POWER_COLUMNS):
            label, colour = _SINGLE.get(name, (name, PURPLE))
            found.append(PanelPlan(label, (Line(name, colour),)))
    return [plan for plan in found if plan is not None]
