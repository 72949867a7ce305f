"""POD and SPOD of samples that come one after the other, with a limited rank and so with a limited memory.

Samples may come from a running simulation or from stored slices (modes_command.py). Spectral proper orthogonal
decomposition: Towne, Schmidt & Colonius, J. Fluid Mech. 847, 821 (2018); one block after the other: Schmidt & Towne,
Comput. Phys. Commun. 237, 98 (2019). With homogeneous directions, each wavenumber is decomposed for itself: these are
the modes of statistics that do not change under translations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import get_window

from sluice_post.array_space import ArraySpace, on_host, space_of
from sluice_post.errors import UsageError
from sluice_post.mode_points import ModePoints
from sluice_post.rank_limited import Decomposed, RankLimited

if TYPE_CHECKING:
    import xarray as xr

EVEN = 1e-6  # of a time step: by how much times of SPOD may deviate


class _Stream(ABC):
    """Samples one by one; the first says on which device everything is."""

    def __init__(self, points: ModePoints, rank: int, mean: bool) -> None:
        if rank < 1:
            raise UsageError(f"rank {rank}: must be at least 1")
        self.points, self.rank, self._removes_mean = points, rank, mean
        self.samples = 0
        self.begin = self.end = float("nan")  # times of the first and the last sample
        self._space, self._factors = ArraySpace(), None  # those of the first sample

    def add(self, time: float, sample: Any) -> None:
        """Takes one sample: an array (component, *dims), or a list of arrays (*dims), one for each component.

        Samples of a library with the array API stay on their device; others are copied to NumPy arrays.
        """
        self._check_time(time)
        if self._factors is None:
            self._space = space_of(sample[0] if isinstance(sample, (list, tuple)) else sample)
            self._factors = self._space.put(self.points.factors())
        values = self.points.prepare(sample, self._space, self._factors)
        if self.samples == 0:
            self._allocate()
            self.begin = time
        self.end = time
        self._take(values)
        self.samples += 1

    def _check_time(self, time: float) -> None:
        if self.samples > 0 and not time > self.end:
            raise UsageError(f"the sample at time {time:g} is not later than the one before, at {self.end:g}")

    @abstractmethod
    def _allocate(self) -> None: ...

    @abstractmethod
    def _take(self, values: Any) -> None: ...

    def _zeros(self, *shape: int) -> Any:
        return self._space.zeros(shape, self.points.is_complex)

    def _values_memory(self, samples: int) -> int:
        """Bytes of so many prepared samples, of one while it is prepared, and of the factors that multiply it."""
        points, item = self.points, 16 if self.points.is_complex else 8
        factors = 5 * 16 if points.is_complex else 3 * 8
        return (item * samples + factors) * points.count * points.size + 16 * int(np.prod(points.shape))

    def _about(self) -> dict[str, Any]:
        """Attributes of the result."""
        return {
            "samples": self.samples,
            "begin": self.begin,
            "end": self.end,
            "rank": self.rank,
            "homogeneous": " ".join(self.points.homogeneous) or "none",
            "mean": "removed" if self._removes_mean else "not removed",
        }


class StreamingPOD(_Stream):
    """Proper orthogonal decomposition of the samples, about the mean of all of them unless `mean` is False.

    `coordinates`, `components`, `homogeneous`, `weights`: see ModePoints. At most `rank` modes are kept at any time (of
    each wavenumber), and the energy that this leaves out is known: the result has `total_energy` exactly and an upper
    bound `energy_error` for what the energies are too low by. There is none while the samples have no more than `rank`
    independent fluctuations.
    """

    def __init__(
        self,
        coordinates: Mapping[str, ArrayLike],
        components: Sequence[str] = ("u",),
        rank: int = 10,
        homogeneous: Sequence[str] = (),
        mean: bool = True,
        weights: ArrayLike | None = None,
    ) -> None:
        super().__init__(ModePoints(coordinates, components, homogeneous, weights), rank, mean)
        self._batch = max(2, rank)  # samples that are decomposed together

    def memory(self) -> int:
        """Bytes that this needs at most, with the result. Nothing is allocated before the first sample."""
        shape = (self.points.count, 1, self.points.size)
        kept = RankLimited.memory(shape, self.rank, self._batch, self.points.is_complex)
        return kept + self._values_memory(self._batch)

    def _allocate(self) -> None:
        points = self.points
        centred = (points.has_mean() & self._removes_mean)[:, None]
        self._kept = RankLimited(self._space, (points.count, 1, points.size), self.rank, points.is_complex, centred)
        self._waiting = self._zeros(points.count, 1, points.size, self._batch)
        self._count = 0  # of waiting samples

    def _take(self, values: Any) -> None:
        self._waiting[:, 0, :, self._count] = values
        self._count += 1
        if self._count == self._batch:
            self._decompose()

    def _decompose(self) -> None:
        if self._count > 0:
            self._kept.add(lambda chosen: self._waiting[chosen, ..., : self._count], self._count)
        self._count = 0

    def result(self) -> xr.Dataset:
        """The modes of all samples up to now; see datasets/modes.py. More samples may follow."""
        from sluice_post.datasets.modes import modes_dataset

        if self.samples < 2:
            raise UsageError(f"POD needs at least 2 samples; there are {self.samples}")
        self._decompose()
        mean = on_host(self._kept.mean)[:, 0] if self._removes_mean else None
        found = self._kept.result()
        # Wavenumbers are along the first axis of what is decomposed, so that pieces of them are.
        arrays = found.vectors, found.energy, found.total, found.error
        found = Decomposed(*(values[None, :, 0] for values in arrays))
        return modes_dataset(self.points, found, self.samples, None, mean, {"method": "POD"} | self._about())


class StreamingSPOD(_Stream):
    """Spectral POD: the modes of each frequency, of Fourier transforms of overlapping blocks of samples.

    Samples must be equidistant in time. `block`: samples of a block; `overlap`: of which as many begin the next, by
    default half; `window`: a name that scipy.signal.get_window knows, or `block` weights. `mean`: the mean of all
    samples is removed. A sum of waves of exp(i (kx x + ky y - 2 pi f t)): real samples have frequencies from 0 on; with
    homogeneous directions both signs, positive for waves that travel downstream. At most `rank` modes of each frequency
    and wavenumber are kept; see StreamingPOD.
    """

    def __init__(
        self,
        coordinates: Mapping[str, ArrayLike],
        components: Sequence[str] = ("u",),
        rank: int = 10,
        block: int = 256,
        overlap: int | None = None,
        window: str | ArrayLike = "hann",
        homogeneous: Sequence[str] = (),
        mean: bool = True,
        weights: ArrayLike | None = None,
    ) -> None:
        super().__init__(ModePoints(coordinates, components, homogeneous, weights), rank, mean)
        self.block = block
        self.overlap = block // 2 if overlap is None else overlap
        if block < 4 or not 0 <= self.overlap < block:
            raise UsageError(
                f"block {block}, overlap {self.overlap}: a block has at least 4 samples and more than overlap"
            )
        try:
            self._window = get_window(window, block) if isinstance(window, str) else np.asarray(window, float)
        except ValueError as error:
            raise UsageError(f"window {window!r}: {error}") from error
        if self._window.shape != (block,):
            raise UsageError(f"window: must have {block} values")
        self._window_name = window if isinstance(window, str) else "given"
        number = np.arange(block) if self.points.is_complex else np.arange(block // 2 + 1)
        signed = np.where(number < (block + 1) // 2, number, number - block)
        self._number = np.sort(signed) if self.points.is_complex else number  # of periods in a block
        self._dt = float("nan")

    @property
    def blocks(self) -> int:
        """How many blocks are complete."""
        return max(0, (self.samples - self.overlap) // (self.block - self.overlap))

    def memory(self) -> int:
        """Bytes that this needs at most, with the result. Nothing is allocated before the first sample."""
        kept = RankLimited.memory((self._number.size, self.points.count, self.points.size), self.rank, 1, True)
        kernel = 4 * 16 * self.block * self._number.size
        # A piece of frequencies at a time is transformed: it is less than the pieces that `kept` counts.
        return kept + kernel + self._values_memory(self.block + 1)

    def _check_time(self, time: float) -> None:
        super()._check_time(time)
        if self.samples == 1:
            self._dt = time - self.end
        elif self.samples > 1:
            step, noise = time - self.end, 8 * np.finfo(float).eps * abs(time)
            if abs(step - self._dt) > EVEN * self._dt + noise:
                raise UsageError(
                    f"samples are not equidistant in time: {step:.9g} before t = {time:.9g}, {self._dt:.9g} before. "
                    "SPOD needs steps of equal length: in the case `time.dt`, not `time.cfl`, and slices whose `every` "
                    "is a multiple of it"
                )

    def _allocate(self) -> None:
        values = self.points.count, self.points.size
        self._buffer = self._zeros(self.block, *values)  # a ring
        self._sum = self._zeros(*values)
        response = np.abs(self._transform() @ self._window)
        centred = (response > 1e-12 * response.max())[:, None] & self.points.has_mean() & self._removes_mean
        self._kept = RankLimited(self._space, (self._number.size, *values), self.rank, True, centred)

    def _transform(self) -> NDArray[Any]:
        """(frequencies, block)"""
        turns = np.outer(self._number, np.arange(self.block)) % self.block
        found: NDArray[Any] = np.exp(2j * np.pi * turns / self.block)
        return found

    def _kernel(self) -> NDArray[Any]:
        """(frequencies, block): the transform with the window, of which squares are densities over the frequency."""
        density = self._dt / np.sum(self._window**2)
        twice = (self._number > 0) & (2 * self._number != self.block) & (not self.points.is_complex)
        scale = np.sqrt(density * np.where(twice, 2, 1))
        found: NDArray[Any] = self._transform() * self._window * scale[:, None]
        return found

    def _take(self, values: Any) -> None:
        self._buffer[self.samples % self.block, ...] = values
        self._sum = self._sum + values
        end = self.samples + 1 - self.block  # of the samples before the block that is now complete
        if end >= 0 and end % (self.block - self.overlap) == 0:
            kernel = np.roll(self._kernel(), (self.samples + 1) % self.block, axis=1)
            self._kept.add(lambda chosen: self._transformed(kernel[chosen]), 1)

    def _transformed(self, kernel: NDArray[Any]) -> Any:
        """(frequencies, count, size, 1) of the buffer."""
        space, tensordot = self._space, self._space.xp.tensordot
        if self.points.is_complex:
            return tensordot(space.put(kernel), self._buffer, axes=1)[..., None]
        real, imaginary = (
            tensordot(space.put(np.ascontiguousarray(part)), self._buffer, axes=1)
            for part in (kernel.real, kernel.imag)
        )
        return (real + imaginary * space.put(np.asarray(1j)))[..., None]

    def result(self) -> xr.Dataset:
        """The modes of all complete blocks up to now; see datasets/modes.py. More samples may follow."""
        from sluice_post.datasets.modes import modes_dataset

        if self.blocks < 2:
            raise UsageError(
                f"SPOD needs at least 2 blocks of {self.block} samples; {self.samples} samples have {self.blocks}"
            )
        mean = on_host(self._sum) / self.samples if self._removes_mean else None
        response = self._kernel().sum(axis=1)
        centred = self._kept.centred

        def shift(chosen: slice) -> Any:
            """What the mean of the transforms differs by from the transform of the mean, for all blocks together."""
            of_mean = self._space.put(response[chosen, None, None]) * (self._sum / self.samples)
            difference = (self._kept.mean[chosen, ...] - of_mean) * centred[chosen, ...]
            return (difference * float(np.sqrt(self.blocks)))[..., None]

        found = self._kept.result(shift if self._removes_mean else None)
        about = {"method": "SPOD", "block": self.block, "overlap": self.overlap, "window": self._window_name}
        about |= {"blocks": self.blocks, "dt": self._dt}
        frequency = self._number / (self.block * self._dt)
        return modes_dataset(self.points, found, self.blocks, frequency, mean, about | self._about())
