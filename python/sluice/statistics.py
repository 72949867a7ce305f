"""Averages over planes and time, sampled while a simulation is stepped."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import _core

if TYPE_CHECKING:
    import xarray


class Statistics:
    """Statistics in memory: sums of averages over planes parallel to the walls, on every process.

    From the first use of `Simulation.statistics` on, each step takes a sample where the keys of output.statistics in
    the case ask for one, with and without an output directory: every `every` steps from time `start`, in blocks of
    time. If the case has no output.statistics, only `sample` takes samples. It holds what statistics.h5 holds
    (docs/file-formats.md), but only of the samples since its first use.
    """

    def __init__(self, session: _core.Session) -> None:
        self._session = session
        _core.begin_statistics(session)

    @property
    def samples(self) -> int:
        """The number of samples so far."""
        return _core.count_statistics(self._session)

    def sample(self) -> None:
        """Takes a sample of the flow as it is now, beside those that are due. Collective."""
        _core.sample_statistics(self._session)

    def reset(self) -> None:
        """Drops all samples. All processes must call it."""
        _core.reset_statistics(self._session)

    @property
    def z(self) -> npt.NDArray[np.float64]:
        """Heights of cell centres, (nz), in units of h."""
        return np.asarray(_core.statistics_heights(self._session)[0])

    @property
    def z_face(self) -> npt.NDArray[np.float64]:
        """Heights of faces with both walls, (nz + 1), in units of h."""
        return np.asarray(_core.statistics_heights(self._session)[1])

    def means(self) -> dict[str, npt.NDArray[np.float64]]:
        """Means over planes and all samples by their names in statistics.h5, such as "u", "uu" and "uw".

        In the units U and h, not in wall units; raw moments, not fluctuations: the variance of u is uu - u**2. Arrays
        (nz) at the heights `z`, or (nz + 1) at `z_face`. Local. Raises UsageError if there are no samples.
        """
        return {name: np.asarray(mean) for name, mean in _core.mean_statistics(self._session).items()}

    def profiles(
        self, unfinished: bool = False, begin: float | None = None, end: float | None = None, side: str | None = None
    ) -> xarray.Dataset:
        """Profiles in wall units with 95 % intervals, as `sluice_post.open(DIR).profiles` has them from files.

        Of complete blocks (output.statistics.block), as in files; `unfinished`: also of the samples since the last one
        ended. `begin`, `end` and `side` as in sluice_post.open. Local. Raises UsageError if there are no such samples,
        sluice_post's errors, and ImportError without sluice_post.
        """
        try:
            import sluice_post
        except ImportError as error:
            raise ImportError(
                "profiles in wall units need sluice_post, which is not installed. In the folder of Sluice's sources: "
                "pip install './postprocess[xarray]'. Statistics.means works without it"
            ) from error
        with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
            _core.write_statistics(self._session, str(Path(folder) / "statistics.h5"), unfinished)
            found: xarray.Dataset = sluice_post.open(folder, begin, end, side).profiles
            return found
