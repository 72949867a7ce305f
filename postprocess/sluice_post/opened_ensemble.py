"""An ensemble for Python: the results of all its members together, of each, and beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from sluice_post.datasets.variables import variable
from sluice_post.ensemble import Ensemble, is_ensemble, pooled, read_ensemble, text_of
from sluice_post.errors import UsageError
from sluice_post.evaluated_run import Selection
from sluice_post.opened_run import OpenedRun, open_run
from sluice_post.parameters import FlowParameters
from sluice_post.statistics import Blocks
from sluice_post.time_averages import averages_of, case_of


def _of_one_run(what: str) -> Any:
    """A property that only a single run has."""

    def refuse(ensemble: OpenedEnsemble) -> None:
        members = ", ".join(str(member.directory) for member in ensemble.members)
        raise UsageError(f"{ensemble.directory}: is an ensemble, but {what} are of one run; its runs are {members}")

    return property(refuse, doc=f"An error: {what} are of one run.")


class OpenedEnsemble(OpenedRun):
    """The results of all members together, with the interface of a run; README.md, Ensembles.

    NAME_ci95 is the half width of the 95 % interval across members. Profiles, key figures and averages of time series
    also have NAME_ci95_time, from the changes in time within each member.
    """

    def __init__(self, ensemble: Ensemble, selection: Selection) -> None:
        self.directory, self.selection, self.ensemble = ensemble.directory, selection, ensemble

    def __repr__(self) -> str:
        return f"OpenedEnsemble({str(self.directory)!r}, {', '.join(self.varied.index)}, {self.selection})"

    def _with(self, selection: Selection) -> OpenedEnsemble:
        return OpenedEnsemble(self.ensemble, selection)

    @property
    def varied(self) -> pd.DataFrame:
        """The values of the keys that differ, by the name of the member."""
        return self.ensemble.varied

    @cached_property
    def members(self) -> list[OpenedRun]:
        """Each run by itself."""
        return [OpenedRun(directory, self.selection) for directory in self.ensemble.members]

    @cached_property
    def groups(self) -> Mapping[str, OpenedEnsemble]:
        """The members with the same physics, by the values that they have in common, such as `flow.reynolds.bulk=1`."""
        return {label: OpenedEnsemble(of, self.selection) for label, of in self.ensemble.groups().items()}

    def choose(self, *members: str) -> OpenedEnsemble:
        """Members by their names, or by KEY=VALUE all that have this value."""
        return OpenedEnsemble(self.ensemble.chosen(members), self.selection)

    def by_member(self, name: str = "key_figures") -> xr.Dataset:
        """A dataset of each run, such as key_figures, profiles or time_averages, along `member`; with its intervals."""
        datasets = []
        for member in self.members:
            found = getattr(member, name)
            if not isinstance(found, xr.Dataset):
                raise UsageError(f"{name} is not one dataset of each run")
            indexes = [index for index in found.indexes if str(index).endswith("_plus")]
            datasets.append(found.drop_indexes(indexes))
        index = variable("member", list(self.varied.index), "name of the member", "")
        try:
            together: xr.Dataset = xr.concat(
                datasets, index, "all", "different", "equals", join="exact", combine_attrs="drop_conflicts"
            )
        except ValueError as error:
            raise UsageError(
                f"{self.directory}: {name} of the members cannot stand beside each other: {error}"
            ) from error
        for key in self.varied:
            values = [value if isinstance(value, int | float) else text_of(value) for value in self.varied[key]]
            together = together.assign_coords({key: variable("member", values, f"key {key} of the case", "")})
        return together

    def _pool(self, blocks_of: Callable[[OpenedRun], Blocks], *, in_time: bool = True) -> Blocks:
        """The blocks of each member, together."""
        self.ensemble.require_one_physics()
        names = [str(member.directory) for member in self.members]
        return pooled([blocks_of(member) for member in self.members], names, in_time=in_time)

    @cached_property
    def _statistics(self) -> tuple[FlowParameters, Blocks]:
        blocks = self._pool(lambda run: run.blocks)
        return self.members[0].parameters, blocks

    @cached_property
    def spectra_blocks(self) -> Blocks:
        """A block of spectra for each member."""
        return self._pool(lambda run: run.spectra_blocks, in_time=False)

    @cached_property
    def phase_blocks(self) -> tuple[float, Blocks]:
        """The period, and a block of averages by phase for each member."""
        blocks = self._pool(lambda run: run.phase_blocks[1], in_time=False)
        return self.members[0].phase_blocks[0], blocks

    @cached_property
    def series_blocks(self) -> Blocks:
        """A block of time series for each member."""
        return self._pool(lambda run: run.series_blocks)

    @cached_property
    def time_averages(self) -> xr.Dataset:
        """Re_tau, C_f, bulk velocity, force and energy of all members."""
        return averages_of(self.series_blocks, case_of(self.ensemble.members[0]))

    block_means, checkpoints, fields = (_of_one_run(what) for what in ("means of blocks", "checkpoints", "fields"))
    slices, probes, evaluated_densities = (_of_one_run(what) for what in ("slices", "probes", "densities"))
    series, time_series = (_of_one_run("time series") for _ in range(2))


def open_results(
    directory: str | Path,
    begin: float | None = None,
    end: float | None = None,
    side: str | None = None,
    heights: Sequence[float] | None = None,
) -> OpenedRun:
    """The run or the ensemble in a directory; see Selection for the arguments."""
    if is_ensemble(Path(directory)):
        return OpenedEnsemble(read_ensemble(Path(directory)), Selection.of(begin, end, side, heights))
    return open_run(directory, begin, end, side, heights)
