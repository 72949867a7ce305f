"""The command ``sluice-post modes``. Imports are inside, so that other commands do not load what it needs."""

from __future__ import annotations

import argparse
from pathlib import Path

from sluice_post import layout
from sluice_post.errors import UsageError, require_installed


def write_modes(arguments: argparse.Namespace) -> None:
    """Reads a slice part by part and writes its modes."""
    require_installed("xarray", "h5netcdf")
    from sluice_post import stored_modes
    from sluice_post.datasets.modes import save_modes
    from sluice_post.modes import StreamingPOD, StreamingSPOD

    of_blocks = {name: getattr(arguments, name) for name in ("block", "overlap", "window")}
    of_blocks = {name: value for name, value in of_blocks.items() if value is not None}
    if of_blocks and not arguments.spod:
        raise UsageError(f"--{next(iter(of_blocks))}: is for --spod")
    directory: Path = arguments.directory
    label = stored_modes.chosen_label(directory, arguments.slice)
    found = stored_modes.stored_samples(directory, label, arguments.begin, arguments.end)
    components = stored_modes.components_of(found, arguments.fields)
    common = {
        "coordinates": found.coordinates,
        "components": components,
        "rank": arguments.rank,
        "homogeneous": arguments.homogeneous,
        "mean": not arguments.keep_mean,
    }
    decomposition = StreamingSPOD(**common, **of_blocks) if arguments.spod else StreamingPOD(**common)
    method = "spod" if arguments.spod else "pod"
    print(
        f"{method.upper()} of {' '.join(components)} on {layout.SLICE_FOLDER}/{label}: {found.time.size} samples from "
        f"t = {found.time[0]:.6g} to {found.time[-1]:.6g}, {decomposition.memory() / 2**20:.1f} MiB",
        flush=True,
    )
    stored_modes.feed(decomposition, found)
    result = decomposition.result().assign_attrs(slice=label)
    path: Path = arguments.output or directory / f"{method}_{label}.nc"
    save_modes(result, path)
    print(f"{stored_modes.summary(result)}\nmodes: {path}")
