"""A run directory for Python: its results as xarray datasets, its figures, and comparisons with published data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

import xarray as xr

from sluice_post import layout
from sluice_post.comparison import Comparison, compare_with
from sluice_post.datasets import fields, profiles, scalars
from sluice_post.evaluated_run import EvaluatedRun, Selection
from sluice_post.plots import RunPlots
from sluice_post.probe_parts import find_series
from sluice_post.slices import slice_labels
from sluice_post.time_averages import averages_of, case_of

Key = TypeVar("Key")


class LazyDatasets(Mapping[Key, xr.Dataset], Generic[Key]):
    """Datasets by name, each read when it is first asked for."""

    def __init__(self, names: Sequence[Key], read: Callable[[Key], xr.Dataset]) -> None:
        self._names, self._read = list(names), read
        self._found: dict[Key, xr.Dataset] = {}

    def __getitem__(self, name: Key) -> xr.Dataset:
        if name not in self._names:
            raise KeyError(f"{name!r}; there are {', '.join(map(str, self._names)) or 'none'}")
        if name not in self._found:
            self._found[name] = self._read(name)
        return self._found[name]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self._names))})"


class OpenedRun(EvaluatedRun):
    """The results of a run. Everything is read and evaluated when it is first asked for, and then kept.

    All errors are PostError with the name of the file. Intervals are 95 % intervals of the sampling error
    (README.md, Uncertainty).
    """

    def __repr__(self) -> str:
        return f"OpenedRun({str(self.directory)!r}, {self.selection})"

    def _with(self, selection: Selection) -> OpenedRun:
        return OpenedRun(self.directory, selection)

    def between(self, begin: float | None = None, end: float | None = None) -> OpenedRun:
        """The same run between two times."""
        return self._with(replace(self.selection, begin=begin, end=end))

    def seen_from(self, side: str) -> OpenedRun:
        """The same run seen from another wall: both, bottom or top."""
        return self._with(replace(self.selection, side=side))

    def at_heights(self, *heights: float) -> OpenedRun:
        """The same run with spectra and densities at these heights z+; inf is the centre."""
        return self._with(replace(self.selection, heights=heights))

    @property
    def plot(self) -> RunPlots:
        """The figures, as in `run.plot.mean_velocity(ax)`."""
        return RunPlots(self)

    @cached_property
    def profiles(self) -> xr.Dataset:
        """Profiles in wall units with intervals: (z) at cell centres, (z_face) on faces; see datasets/profiles.py."""
        return profiles.profiles_dataset(self.wall_profiles)

    @cached_property
    def block_means(self) -> xr.Dataset:
        """Raw moments averaged over each block, (time, z) or (time, z_face), in the units of the run."""
        return profiles.blocks_dataset(self.blocks)

    @cached_property
    def scalars(self) -> Mapping[str, xr.Dataset]:
        """Profiles of scalars by the names of evaluated_scalars; see scalar_profiles.py."""
        return {name: found.data for name, found in self.evaluated_scalars.items()}

    @cached_property
    def scalar_budgets(self) -> Mapping[str, Mapping[str, xr.Dataset]]:
        """The budgets of cc, uc and wc of each scalar, in wall units, terms with intervals."""
        return {name: evaluated.data for name, evaluated in self.evaluated_scalar_budgets.items()}

    @cached_property
    def budgets(self) -> Mapping[str, xr.Dataset]:
        """The budgets of k, uu, vv, ww and uw by name, in wall units, terms with intervals."""
        return self.evaluated_budgets.data

    @cached_property
    def spectra(self) -> xr.Dataset:
        """Spectra, two-point correlations and integral lengths; see spectra.py."""
        return self.evaluated_spectra.dataset

    @cached_property
    def scalar_spectra(self) -> Mapping[str, xr.Dataset]:
        """Spectra of scalars and of their wall-normal flux by the names of evaluated_scalars."""
        found = self.evaluated_scalar_spectra
        return {name: evaluated.dataset for name, evaluated in found.items()}

    @cached_property
    def densities(self) -> xr.Dataset:
        """Probability densities, quadrants and holes; see evaluated_densities.py."""
        return self.evaluated_densities.dataset

    @cached_property
    def phases(self) -> xr.Dataset:
        """Averages by phase and first harmonics over the whole height, in U and h; see phases.py."""
        return self.evaluated_phases

    @cached_property
    def key_figures(self) -> xr.Dataset:
        """Re_tau, C_f, U_c+, peaks and the rest, numbers with intervals."""
        return scalars.key_figures_dataset(self.table)

    @cached_property
    def time_averages(self) -> xr.Dataset:
        """Re_tau, C_f, bulk velocity, force and energy over the selected times, else the last third of the series."""
        return averages_of(self.series_blocks, case_of(self.directory))

    @cached_property
    def time_series(self) -> xr.Dataset:
        """The columns of timeseries.csv against `time`, between the selected times."""
        times = slice(self.selection.begin, self.selection.end)
        found: xr.Dataset = scalars.time_series_dataset(self.series).sel(time=times)
        return found

    @cached_property
    def slices(self) -> Mapping[str, xr.Dataset]:
        """All times of each slice by its label, such as z0.083: fields (time, z, y, x) at their own points.

        Fields are read when they are used, part by part.
        """
        return self._sampled(slice_labels(self.directory), layout.SLICE_FOLDER)

    @cached_property
    def probes(self) -> Mapping[str, xr.Dataset]:
        """The samples of each probe by its name: fields (time, z, y, x) at their own points."""
        return self._sampled(find_series(self.directory, layout.PROBE_FOLDER), layout.PROBE_FOLDER)

    def _sampled(self, names: Sequence[str], folder: str) -> Mapping[str, xr.Dataset]:
        begin, end = self.selection.begin, self.selection.end
        return LazyDatasets(names, lambda name: fields.series_dataset(self.directory, name, folder, begin, end))

    @cached_property
    def fields(self) -> Mapping[str, xr.Dataset]:
        """All times of each output.fields by its name, and of the "checkpoints": (time, z, y, x) at their own points.

        Values are read when they are used, and only those used.
        """
        begin, end, series = self.selection.begin, self.selection.end, fields.field_series(self.directory)
        return LazyDatasets(list(series), lambda name: fields.field_series_dataset(name, series[name], begin, end))

    @cached_property
    def checkpoints(self) -> Mapping[int, xr.Dataset]:
        """The flow at each checkpoint by its step: u, v, w and p, (z, y, x), read from the file when used."""
        paths = {int(path.stem.removeprefix("step_")): path for path in self.directory.glob(layout.CHECKPOINT_PATTERN)}
        return LazyDatasets(sorted(paths), lambda step: fields.checkpoint_dataset(paths[step]))

    def compare(self, *references: str | Path, quantities: Sequence[str] | None = None) -> Comparison:
        """Differences from published files, in %, with the intervals of the run: key figures, profiles, budgets.

        Without files: the key figures of the published simulation of this flow.
        `quantities`: of the profiles; None: all.
        """
        return compare_with(self, [Path(path) for path in references], quantities)


def open_run(
    directory: str | Path,
    begin: float | None = None,
    end: float | None = None,
    side: str | None = None,
    heights: Sequence[float] | None = None,
) -> OpenedRun:
    """The run in a directory; see Selection for the arguments."""
    return OpenedRun(Path(directory), Selection.of(begin, end, side, heights))
