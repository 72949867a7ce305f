"""Modes of stored slices, which are read part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import NoBlocksError, UsageError
from sluice_post.modes import StreamingPOD, StreamingSPOD
from sluice_post.probe_parts import Series, find_samples
from sluice_post.slices import slice_labels

VELOCITIES = ("u", "v", "w")


def chosen_label(directory: Path, asked: str | None) -> str:
    """A slice by its label or its number in the list of all, from 1 on; the only one if none is asked for."""
    labels = slice_labels(directory)
    if not labels:
        raise UsageError(f"{directory}: there are no slices (output.slices)")
    if asked is None and len(labels) == 1:
        return labels[0]
    if asked in labels:
        return str(asked)
    if asked is not None and asked.isdecimal() and 1 <= int(asked) <= len(labels):
        return labels[int(asked) - 1]
    listed = ", ".join(f"{n} {label}" for n, label in enumerate(labels, 1))
    problem = "which slice?" if asked is None else f"no slice {asked}."
    raise UsageError(f"{directory}: {problem} There are {listed}")


def stored_samples(directory: Path, label: str, begin: float | None = None, end: float | None = None) -> Series:
    """The samples of a slice between two times; their values stay in the files."""
    found = find_samples(directory, label, layout.SLICE_FOLDER, begin, end)
    if found.time.size == 0:
        raise NoBlocksError(f"{directory}: there is no slice {label} between these times")
    return found


def components_of(found: Series, asked: Sequence[str] | None) -> tuple[str, ...]:
    """The fields to use; by default the velocities that are stored, else the first field."""
    stored = list(found.fields)
    if asked is None:
        return tuple(name for name in VELOCITIES if name in stored) or (stored[0],)
    if missing := [name for name in asked if name not in stored]:
        raise UsageError(f"--fields {' '.join(missing)}: the slice has {', '.join(stored)}")
    if len(asked) > 1 and not set(asked) <= set(VELOCITIES):
        raise UsageError("--fields: only velocities have an energy together; give another field alone")
    return tuple(asked)


def planes(found: Series, components: Sequence[str]) -> Iterator[tuple[float, list[Array]]]:
    """Time and fields of each sample, of which a part is in memory at a time."""
    first = 0
    for stretches in zip(*(found.fields[name] for name in components), strict=True):
        count = stretches[0].count
        values = [stretch.read(slice(0, count), ()) for stretch in stretches]
        for n in range(count):
            yield float(found.time[first + n]), [field[n].squeeze() for field in values]
        first += count


def feed(decomposition: StreamingPOD | StreamingSPOD, found: Series) -> None:
    """Adds all samples."""
    for time, fields in planes(found, decomposition.points.components):
        decomposition.add(time, fields)


def summary(found: xr.Dataset) -> str:
    """What a terminal shows: how much of the energy the modes have, and the most energetic ones."""
    energy, total = found["energy"], found["total_energy"]
    share = float(energy.sum() / total.sum())
    lines = [f"the {found.sizes['mode']} modes of each decomposition have {100 * share:.3g} % of the energy"]
    values = energy.values
    for flat in np.argsort(values, axis=None)[::-1][:5]:
        place = dict(zip(energy.dims, np.unravel_index(flat, values.shape), strict=True))
        where = ", ".join(f"{dim} {float(energy[dim][n]):.4g}" for dim, n in place.items())
        one = energy[place]
        lines.append(f"{where}: {float(one):.4g} {one.attrs['units']}, {100 * float(found['fraction'][place]):.3g} %")
    return "\n".join(lines)
