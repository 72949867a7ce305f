"""What the commands show of an ensemble: tables by member and of all members, and the run that a report is of."""

from __future__ import annotations

from math import nan

import xarray as xr

from sluice_post import layout
from sluice_post.errors import InputOutputError, NoBlocksError, PostError
from sluice_post.key_figures import resolution
from sluice_post.opened_ensemble import OpenedEnsemble
from sluice_post.opened_run import OpenedRun
from sluice_post.printed import with_interval
from sluice_post.run import Run

ENOUGH_MEMBERS = 5  # Student's t for 4 degrees of freedom is 2.8; for 1 and 2 it is 12.7 and 4.3
# Property: its title, and its columns by the names of its variables.
_TABLES = {
    "time_averages": (
        "time series",
        {"re_tau": "Re_tau", "cf": "C_f", layout.BULK_VELOCITY: "U_b", layout.FORCING_COLUMN: "force"},
    ),
    "key_figures": (
        "statistics",
        {"re_tau": "Re_tau", "cf": "C_f", "u_c_plus": "U_c+", "u_peak": "peak u'+", "uw_peak": "peak -uw+"},
    ),
}


def _cells(found: xr.Dataset, columns: dict[str, str], ending: str) -> list[str]:
    unknown = xr.DataArray(nan)
    return [
        with_interval(float(found[name]), float(found.get(f"{name}{ending}", unknown))) if name in found else "-"
        for name in columns
    ]


def _row(label: str, run: OpenedRun, kind: str, ending: str = "_ci95") -> list[str]:
    """The cells of a run; what is missing stands in place of them."""
    try:
        return [label, *_cells(getattr(run, kind), _TABLES[kind][1], ending)]
    except PostError as error:
        return [label, str(error)]


def _aligned(rows: list[list[str]]) -> list[str]:
    full = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    first = max(len(row[0]) for row in rows)
    return [
        "  ".join([row[0].ljust(first), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=False))])
        for row in rows
    ]


def advice(ensemble: OpenedEnsemble) -> str:
    """Which of the two intervals to trust."""
    count = len(ensemble.members)
    if count >= ENOUGH_MEMBERS:
        return f"{count} members: trust the intervals across members, however short the runs are."
    sizes = [resolution(run.blocks, run.parameters, run.wall_profiles) for run in ensemble.members]
    shortest = min(sizes, key=lambda size: size.averaged / size.long_enough)
    unit = "periods 2 pi/f" if shortest.has_periods else "h/u_tau"
    each = f"each averages over {shortest.averaged:.2g} {unit} or more"
    if count == 1:
        return f"A single member, so intervals are in time; it averages over {shortest.averaged:.2g} {unit}."
    if shortest.averaged >= shortest.long_enough:
        return f"Only {count} members, but {each}: trust the intervals in time; those across members are wide."
    return (
        f"Only {count} members, and {each}, less than {shortest.long_enough:g}: trust the intervals across members, "
        "which are wide; those in time are too narrow."
    )


def table_text(ensemble: OpenedEnsemble) -> str:
    """Averages of the time series and key figures of each member, and of all members with the same physics."""
    texts = []
    for label, group in ensemble.groups.items():
        for kind, (title, columns) in _TABLES.items():
            rows = [["", *columns.values()]]
            for member, run in zip(group.varied.index, group.members, strict=True):
                initial = group.ensemble.label_of(member, physical=False)
                rows.append(_row(f"{member}, {initial}" if initial else member, run, kind))
            if len(group.members) > 1:
                rows += [_row("all, across members", group, kind), _row("all, in time", group, kind, "_ci95_time")]
            times = "" if kind == "key_figures" else ", last third of each run" * (ensemble.selection.is_whole)
            texts.append("\n".join([f"{title}{times}{f', {label}' * bool(label)}", *_aligned(rows)]))
        try:
            texts.append(advice(group))
        except PostError as error:
            texts.append(f"No averages of all members: {error}")
    return "\n\n".join(["+- are 95 % intervals; those of a member are in time.", *texts])


def run_of(ensemble: OpenedEnsemble) -> Run:
    """All members as the run that a report is of."""
    members = ", ".join(str(member.directory) for member in ensemble.members)
    found = Run(ensemble.directory, ensemble.parameters, ensemble.blocks, profiles=ensemble.wall_profiles)
    found.averages, found.members_text = ensemble.between().time_averages, table_text(ensemble)
    found.missing = [f"An ensemble; reports of {members} have their histories, slices and densities."]
    try:
        found.spectra = ensemble.spectra_blocks
    except (NoBlocksError, InputOutputError) as error:
        found.missing.append(f"{error}; so no spectra and two-point correlations.")
    return found
