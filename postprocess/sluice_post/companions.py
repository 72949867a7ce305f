"""Files of blocks beside statistics.h5, such as spectra.h5: their blocks with the profiles of the mean flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError, NoBlocksError, UsageError
from sluice_post.profiles import WallProfiles
from sluice_post.statistics import Blocks


def choose_blocks(path: Path, blocks: Blocks, statistics: Blocks, begin: float | None, end: float | None) -> Blocks:
    """The blocks of a file between two times; an error if there are none, or if they do not belong together.

    The key of a file in the case is its name: output.spectra writes spectra.h5.
    """
    if not np.array_equal(blocks.z_face, statistics.z_face):
        raise InputOutputError(f"{path}: has another grid than {layout.STATISTICS_FILE}; one is of another run")
    if len(blocks) == 0:
        raise NoBlocksError(f"{path}: holds no closed block yet; run on past output.{path.stem}.start plus one block")
    try:
        blocks = blocks.between(begin, end)
        blocks.sampled_parameters()  # refuses blocks of different flows
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return blocks


def with_profiles(blocks: Blocks, statistics: Blocks, path: Path, centre: Sequence[str], face: Sequence[str]) -> Blocks:
    """Blocks together with these profiles of the blocks of statistics at their times, and with those of scalars.

    These are the blocks of statistics whose middle lies in a block of the file, else the one that contains the middle
    of that block. Blocks without statistics at their time are left out.
    """
    middle = (statistics.time_begin + statistics.time_end) / 2
    kept: list[int] = []
    scalars = [name for name, values in statistics.scalars.items() if values.ndim == 2]
    sums: dict[str, list[Array]] = {name: [] for name in (*centre, *face, *scalars)}
    profiles = statistics.centre | statistics.face | statistics.scalars
    for n, (begin, end) in enumerate(zip(blocks.time_begin, blocks.time_end, strict=True)):
        within = (middle >= begin) & (middle <= end)
        if not within.any():
            at = (begin + end) / 2
            within = (statistics.time_begin <= at) & (statistics.time_end >= at)
        if not within.any():
            continue
        kept.append(n)
        samples = blocks.samples[n] / statistics.samples[within].sum()
        for name, found in sums.items():
            found.append(profiles[name][within].sum(axis=0) * samples)
    if not kept:
        raise NoBlocksError(
            f"{path}: no block of it is from the times of {layout.STATISTICS_FILE}, which the mean flow is taken from"
        )
    chosen = blocks.pick(np.array(kept))
    return replace(
        chosen,
        centre=chosen.centre | {name: np.array(sums[name]) for name in centre},
        face=chosen.face | {name: np.array(sums[name]) for name in face},
        scalars=chosen.scalars | {name: np.array(sums[name]) for name in scalars},
    )


def require_turbulence(profiles: WallProfiles, directory: Path, what: str) -> None:
    """An error if nothing fluctuates."""
    if profiles.laminar:
        raise UsageError(f"{directory}: the flow is laminar, so it has no {what}")
