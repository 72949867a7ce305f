"""Options that several commands of ``sluice-post`` have."""

from __future__ import annotations

import argparse
from math import inf, nan
from pathlib import Path
from typing import TypeAlias

from sluice_post import layout
from sluice_post.center_fields import CENTER_QUANTITIES
from sluice_post.wall_view import SIDES

LICENCES = {
    "CC-BY-4.0": ("Creative Commons Attribution 4.0 International", "https://creativecommons.org/licenses/by/4.0/"),
    "CC-BY-SA-4.0": (
        "Creative Commons Attribution-ShareAlike 4.0 International",
        "https://creativecommons.org/licenses/by-sa/4.0/",
    ),
    "CC0-1.0": ("Creative Commons Zero 1.0 Universal", "https://creativecommons.org/publicdomain/zero/1.0/"),
}


def add_directory(parser: argparse.ArgumentParser) -> None:
    """Where a run is, and the times to use."""
    parser.add_argument("directory", metavar="DIR", type=Path, help="output directory of a run")
    add_times(parser)


def add_times(parser: argparse.ArgumentParser) -> None:
    """The times to use."""
    parser.add_argument("--from", dest="begin", type=float, metavar="T", help="first time to use")
    parser.add_argument("--to", dest="end", type=float, metavar="T", help="last time to use")


def add_side(parser: argparse.ArgumentParser) -> None:
    """The halves to use."""
    parser.add_argument(
        "--side",
        choices=SIDES,
        help="wall from which the flow is seen; both: the mean of two symmetric halves; default: both if the halves "
        "are symmetric, else bottom",
    )


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Where to write."""
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="folder to write to; default: DIR")


def add_heights(parser: argparse.ArgumentParser, default: str) -> None:
    """Heights in wall units; what the default is, for the help."""
    parser.add_argument(
        "--at", type=_height, nargs="+", metavar="Z+", help=f"heights in wall units, or `centre`; {default}"
    )


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_command(commands: Commands, name: str, text: str, example: str) -> argparse.ArgumentParser:
    """A subcommand with its help and an example."""
    return commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_fields(commands: Commands) -> None:
    """The command ``fields``."""
    parser = add_command(
        commands,
        "fields",
        "write quantities at cell centres from a checkpoint, for ParaView and scripts",
        "sluice-post fields out/checkpoints/step_0012000.h5 --fields fluctuation lambda2 --z 0 1 -o lambda2.h5",
    )
    parser.add_argument("checkpoint", metavar="CHECKPOINT", type=Path, help="checkpoint of a run, an HDF5 file")
    parser.add_argument(
        "--fields",
        nargs="+",
        default=["velocity", "q"],
        metavar="NAME",
        help=f"any of {', '.join(CENTER_QUANTITIES)}, and scalars; default: velocity q",
    )
    parser.add_argument("--precision", choices=("single", "double"), default="single", help="default: single")
    parser.add_argument(
        "--stride",
        type=parse_count,
        nargs=3,
        default=[1, 1, 1],
        metavar="N",
        help="write every N-th cell along x, y and z",
    )
    parser.add_argument(
        "--compress",
        type=int,
        choices=range(1, 10),
        metavar="LEVEL",
        help="compress the file by gzip, 1 (fast) to 9 (small); default: not compressed",
    )
    for axis in "xyz":
        parser.add_argument(
            f"--{axis}",
            type=float,
            nargs=2,
            metavar=("LOW", "HIGH"),
            help=f"only cells whose centres are between these coordinates along {axis}",
        )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="NAME.h5",
        help="file to write, with NAME.xdmf beside it; default: fields_NNNNNNN.h5, the number of the step",
    )


def add_export(commands: Commands) -> None:
    """The command ``export``."""
    parser = add_command(
        commands,
        "export",
        "write the results of a run in the CF conventions, as one NetCDF file or one Zarr folder",
        "sluice-post export out --netcdf out.nc --only profiles budgets slices",
    )
    add_directory(parser)
    add_side(parser)
    add_heights(parser, "default: 5 15 30 100 centre; of spectra and densities")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--netcdf", type=Path, metavar="FILE", help="NetCDF-4 file to write")
    target.add_argument("--zarr", type=Path, metavar="FOLDER", help="Zarr folder to write")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=tuple(layout.EXPORTED),
        metavar="NAME",
        help=f"any of {', '.join(layout.EXPORTED)}; default: all that the run has",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace what an earlier export wrote")


def add_publish(commands: Commands) -> None:
    """The command ``publish``."""
    parser = add_command(
        commands,
        "publish",
        "write a folder for a data deposit: results, metadata, licence, checksums",
        "sluice-post publish retau180 -o deposit --author 'Ada Lovelace' --orcid 0000-0002-1825-0097",
    )
    add_directory(parser)
    add_side(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", required=True, help="folder to make")
    parser.add_argument("--author", nargs="+", default=[], metavar="NAME", help="'Given names Family name' of each")
    parser.add_argument("--orcid", nargs="+", default=[], metavar="ID", help="of each author, in the same order")
    parser.add_argument("--title", metavar="TEXT", help="of the data; default: the title of the case")
    parser.add_argument("--doi", metavar="DOI", help="of the deposit, for example 10.5281/zenodo.1234567")
    parser.add_argument("--licence", choices=tuple(LICENCES), default="CC-BY-4.0", help="default: CC-BY-4.0")


def add_watch(commands: Commands) -> None:
    """The command ``watch``."""
    parser = add_command(
        commands,
        "watch",
        "show a running case on a live page in the browser: state, time left, history, streaks, profiles",
        "sluice-post watch retau180",
    )
    parser.add_argument(
        "directory", metavar="DIR", type=Path, help="output directory of a run, which may not exist yet"
    )
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="port on 127.0.0.1; default: a free one, which is printed"
    )
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="only print the address, open no browser"
    )
    parser.add_argument(
        "--reference", type=Path, nargs="+", metavar="FILE", help="published profiles to plot over the run's"
    )


def _port(text: str) -> int:
    port = int(text) if text.isdecimal() else -1
    if not 0 <= port < 65536:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port, a number from 0 to 65535")
    return port


def _height(text: str) -> float:
    """z+, or inf for the centre."""
    try:
        height = inf if text == "centre" else float(text)
    except ValueError:
        height = nan
    if not height > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a height z+ > 0 nor `centre`")
    return height


def parse_count(text: str) -> int:
    """A number of at least 1."""
    count = int(text) if text.isdecimal() else 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return count
