"""Post-processing of Sluice runs: profiles in wall units, confidence intervals, figures and the report.

For Python, `sluice_post.open(DIR)` gives the results of a run as xarray datasets, with figures of them, and
`sluice_post.compare([DIR, ...])` a grid study.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sluice_post.opened_run import OpenedRun
    from sluice_post.opened_study import Study

__version__ = "1.0.0"
__all__ = ["compare", "open"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def open(
    directory: str | Path,
    begin: float | None = None,
    end: float | None = None,
    side: str | None = None,
    heights: Sequence[float] | None = None,
) -> OpenedRun:
    """The results of the run, or of the ensemble, in a directory; they are read when they are asked for.

    `begin`, `end`: times; only blocks that lie entirely between them are used. `side`: the wall from which profiles are
    seen, both, bottom or top; default: both, if the halves are symmetric, else bottom. `heights`: z+ of spectra and
    densities.
    """
    from sluice_post.opened_ensemble import open_results

    return open_results(directory, begin, end, side, heights)


def compare(
    directories: Sequence[str | Path],
    reference: str | Path | Sequence[str | Path] | None = None,
    begin: float | None = None,
    end: float | None = None,
) -> Study:
    """Key figures of several runs of one flow with their errors and costs.

    `reference`: the directory of a run or files of published profiles; default: the published simulation of this flow.
    """
    from sluice_post.opened_study import compare_runs

    return compare_runs(directories, reference, begin, end)
