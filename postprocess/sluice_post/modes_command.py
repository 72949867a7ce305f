"""The command ``sluice-post modes``: POD or SPOD of a stored slice, which is read part by part."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sluice_post import layout
from sluice_post.errors import NoBlocksError, UsageError, require_installed
from sluice_post.slices import slice_labels

if TYPE_CHECKING:
    import xarray as xr

    from sluice_post.modes import StreamingPOD, StreamingSPOD

VELOCITIES = ("u", "v", "w")


def write_modes(arguments: argparse.Namespace) -> None:
    """Reads a slice part by part and writes its modes. Other commands do not load what it imports."""
    require_installed("xarray", "h5netcdf")
    from sluice_post.datasets.fields import samples_dataset
    from sluice_post.datasets.modes import save_modes
    from sluice_post.modes import StreamingPOD, StreamingSPOD
    from sluice_post.run import check_directory

    of_blocks = {name: getattr(arguments, name) for name in ("block", "overlap", "window")}
    of_blocks = {name: value for name, value in of_blocks.items() if value is not None}
    if of_blocks and not arguments.spod:
        raise UsageError(f"--{next(iter(of_blocks))}: is for --spod")
    directory = check_directory(arguments.directory)
    label = _chosen_label(directory, arguments.slice)
    found = samples_dataset(directory, label, layout.SLICE_FOLDER, arguments.begin, arguments.end)
    if found.sizes["time"] == 0:
        raise NoBlocksError(f"{directory}: there is no slice {label} between these times")
    components = _components(list(map(str, found)), arguments.fields)
    common = {
        "coordinates": {str(name): line.values for name, line in found.coords.items() if name in layout.PROBE_LINES},
        "components": components,
        "rank": arguments.rank,
        "homogeneous": arguments.homogeneous,
        "mean": not arguments.keep_mean,
    }
    decomposition = StreamingSPOD(**common, **of_blocks) if arguments.spod else StreamingPOD(**common)
    method = "spod" if arguments.spod else "pod"
    print(
        f"{method.upper()} of {' '.join(components)} on {layout.SLICE_FOLDER}/{label}: {found.sizes['time']} samples "
        f"from t = {found.time[0]:.6g} to {found.time[-1]:.6g}, {decomposition.memory() / 2**20:.1f} MiB",
        flush=True,
    )
    _feed(decomposition, found[list(components)])
    result = decomposition.result().assign_attrs(slice=label)
    path: Path = arguments.output or directory / f"{method}_{label}.nc"
    save_modes(result, path)
    print(f"{_summary(result)}\nmodes: {path}")


def _chosen_label(directory: Path, asked: str | None) -> str:
    """A slice by its label or its number in the list of all, from 1 on; the only one if none is asked for."""
    labels = slice_labels(directory)
    if not labels:
        raise UsageError(f"{directory}: there are no slices (output.slices)")
    numbered = dict(enumerate(labels, 1))
    if asked is None and len(labels) == 1:
        return labels[0]
    if asked in labels:
        return str(asked)
    if asked is not None and asked.isdecimal() and int(asked) in numbered:
        return numbered[int(asked)]
    listed = ", ".join(f"{n} {label}" for n, label in numbered.items())
    problem = "which slice?" if asked is None else f"no slice {asked}."
    raise UsageError(f"{directory}: {problem} There are {listed}")


def _components(stored: list[str], asked: Sequence[str] | None) -> tuple[str, ...]:
    """The fields to use; by default the velocities that are stored, else the first field."""
    if asked is None:
        return tuple(name for name in VELOCITIES if name in stored) or (stored[0],)
    if missing := [name for name in asked if name not in stored]:
        raise UsageError(f"--fields {' '.join(missing)}: the slice has {', '.join(stored)}")
    if len(asked) > 1 and not set(asked) <= set(VELOCITIES):
        raise UsageError("--fields: only velocities have an energy together; give another field alone")
    return tuple(asked)


def _feed(decomposition: StreamingPOD | StreamingSPOD, found: xr.Dataset) -> None:
    """Adds all samples; those of a part are in memory at a time."""
    from sluice_post.datasets.stored import times_of_files

    for begin, end in pairwise(accumulate(times_of_files(found), initial=0)):
        times, fields = found.time.values[begin:end], [field[begin:end].values for field in found.values()]
        for n, time in enumerate(times):
            decomposition.add(float(time), [field[n].squeeze() for field in fields])


def _summary(found: xr.Dataset) -> str:
    """What a terminal shows: how much of the energy the modes have, and the most energetic ones."""
    energy, total = found["energy"], found["total_energy"]
    share = float(energy.sum() / total.sum())
    lines = [f"the {found.sizes['mode']} modes of each decomposition have {100 * share:.3g} % of the energy"]
    for flat in np.argsort(energy.values, axis=None)[::-1][:5]:
        place = dict(zip(energy.dims, np.unravel_index(flat, energy.shape), strict=True))
        where = ", ".join(f"{dim} {float(energy[dim][n]):.4g}" for dim, n in place.items())
        one, fraction = energy[place], float(found["fraction"][place])
        lines.append(f"{where}: {float(one):.4g} {one.attrs['units']}, {100 * fraction:.3g} %")
    return "\n".join(lines)
