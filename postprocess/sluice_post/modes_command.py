"""The command ``sluice-post modes``. Imports are inside, so that other commands do not load what it needs."""

from __future__ import annotations

import argparse
from pathlib import Path

from sluice_post import layout
from sluice_post.cli_options import Commands, add_command, add_directory, parse_count
from sluice_post.errors import UsageError, require_installed


def add_modes(commands: Commands) -> None:
    """Its options."""
    parser = add_command(
        commands,
        "modes",
        "write POD or SPOD modes of a stored slice as NetCDF",
        "sluice-post modes out --slice y1.571 --spod --block 256 --rank 8 --homogeneous x",
    )
    add_directory(parser)
    parser.add_argument(
        "--slice", metavar="N|NAME", help="number or label of the slice; an error lists them; default: the only one"
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--pod", action="store_true", help="proper orthogonal decomposition; the default")
    kind.add_argument("--spod", action="store_true", help="spectral POD: modes of each frequency")
    parser.add_argument(
        "--rank", type=parse_count, default=10, metavar="R", help="modes that are kept at any time; default: 10"
    )
    parser.add_argument(
        "--fields", nargs="+", metavar="NAME", help="velocities, or one other field; default: all stored velocities"
    )
    parser.add_argument(
        "--homogeneous",
        nargs="+",
        choices=("x", "y"),
        default=(),
        metavar="AXIS",
        help="x, y: decompose each wavenumber along these directions for itself",
    )
    parser.add_argument("--keep-mean", action="store_true", help="do not remove the mean of the samples")
    parser.add_argument("--block", type=parse_count, metavar="N", help="samples of a block of SPOD; default: 256")
    parser.add_argument("--overlap", type=int, metavar="N", help="of which as many begin the next; default: half")
    parser.add_argument("--window", metavar="NAME", help="of SPOD, as in scipy.signal.get_window; default: hann")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="NetCDF file; default: DIR/pod_LABEL.nc or DIR/spod_LABEL.nc"
    )


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
