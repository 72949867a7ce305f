"""statistics.h5: blocks of horizontally averaged sums, and how blocks are chosen, merged and averaged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.parameters import FlowParameters, attributes_of, open_hdf5, read_parameters

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Means:
    """Time and plane averages of the raw moments.

    `centre` holds nz values per name, `face` nz + 1 with both walls.
    """

    z: Array
    z_face: Array
    centre: dict[str, Array]
    face: dict[str, Array]
    forcing: float  # NaN if not recorded
    samples: int


@dataclass(frozen=True)
class Blocks:
    """Sums over the samples of each block: `centre[name]` is (block, nz), `face[name]` is (block, nz + 1)."""

    z: Array
    z_face: Array
    samples: NDArray[np.int64]
    time_begin: Array
    time_end: Array
    centre: dict[str, Array]
    face: dict[str, Array]
    forcing: Array
    parameter_set: NDArray[np.int64]  # position in `parameter_sets`: which flow was sampled
    parameter_sets: tuple[dict[str, object], ...]

    def __len__(self) -> int:
        return len(self.samples)

    def _pick(self, index: NDArray[np.int64]) -> Blocks:
        return Blocks(
            self.z,
            self.z_face,
            self.samples[index],
            self.time_begin[index],
            self.time_end[index],
            {name: sums[index] for name, sums in self.centre.items()},
            {name: sums[index] for name, sums in self.face.items()},
            self.forcing[index],
            self.parameter_set[index],
            self.parameter_sets,
        )

    def between(self, begin: float | None, end: float | None) -> Blocks:
        """The blocks that lie wholly inside [begin, end]; None leaves that side open."""
        if len(self) == 0:
            return self
        slack = 1e-9 * max(1.0, float(np.max(np.abs(self.time_end))))
        inside = np.ones(len(self), dtype=bool)
        if begin is not None:
            inside &= self.time_begin >= begin - slack
        if end is not None:
            inside &= self.time_end <= end + slack
        if not inside.any():
            first, last = float(self.time_begin[0]), float(self.time_end[-1])
            raise UsageError(
                f"no block of statistics lies inside the times asked for; there are {len(self)} blocks "
                f"from t = {first:g} to t = {last:g}, the first ends at t = {float(self.time_end[0]):g}"
            )
        return self._pick(np.flatnonzero(inside))

    def sampled_parameters(self) -> dict[str, object]:
        """Parameters of the flow that was sampled; empty if not recorded. An error if the blocks differ in them."""
        changes = np.flatnonzero(np.diff(self.parameter_set))
        if len(changes) > 0:
            last = int(changes[0])
            before = self.parameter_sets[self.parameter_set[last]]
            after = self.parameter_sets[self.parameter_set[last + 1]]
            different = [
                f"{name} {before.get(name, 'not recorded')} -> {after.get(name, 'not recorded')}"
                for name in sorted(before.keys() | after.keys())
                if before.get(name) != after.get(name)
            ]
            raise UsageError(
                f"the parameters of the flow change after the block that ends at t = {self.time_end[last]:g}: "
                f"{', '.join(different)}; blocks before and after it cannot be averaged together: choose some "
                f"with --to {self.time_end[last]:g} or --from {self.time_begin[last + 1]:g}"
            )
        if len(self) == 0 or not self.parameter_sets:
            return {}
        return self.parameter_sets[int(self.parameter_set[0])]

    def merged(self, factor: int) -> Blocks:
        """Neighbouring blocks added up `factor` at a time; the last batch takes what is left over."""
        self.sampled_parameters()
        count = len(self) // factor
        if factor == 1 or count == 0:
            return self
        starts = np.arange(count) * factor
        last = np.append(starts[1:], len(self)) - 1

        def add(sums: Array) -> Array:
            return np.add.reduceat(sums, starts, axis=0)

        return Blocks(
            self.z,
            self.z_face,
            np.add.reduceat(self.samples, starts),
            self.time_begin[starts],
            self.time_end[last],
            {name: add(sums) for name, sums in self.centre.items()},
            {name: add(sums) for name, sums in self.face.items()},
            add(self.forcing),
            self.parameter_set[starts],
            self.parameter_sets,
        )

    def means(self, without: int | None = None) -> Means:
        """Averages over all samples, or over all but those of one block."""
        self.sampled_parameters()
        keep = np.ones(len(self))
        if without is not None:
            keep[without] = 0.0
        samples = float(keep @ self.samples)
        return Means(
            self.z,
            self.z_face,
            {name: (keep @ sums) / samples for name, sums in self.centre.items()},
            {name: (keep @ sums) / samples for name, sums in self.face.items()},
            float(keep @ self.forcing) / samples,
            round(samples),
        )

    def series(self, name: str) -> Array:
        """Block averages of one profile, (block, n)."""
        sums = self.face[name] if name in self.face else self.centre[name]
        return sums / self.samples[:, None]


def _dataset(file: h5py.File, path: Path, *names: str) -> Array:
    """The dataset of the first of these names that exists."""
    for name in names:
        if name in file:
            return np.asarray(file[name][()], dtype=float)
    raise InputOutputError(f"{path}: dataset '/{names[0]}' is missing")


def _profiles(
    file: h5py.File, path: Path, names: tuple[str, ...], shape: tuple[int, int]
) -> dict[str, Array]:
    profiles = {}
    for name in names:
        if name not in file and name not in layout.REQUIRED_PROFILES:
            continue
        values = _dataset(file, path, name)
        if values.shape != shape:
            raise InputOutputError(f"{path}: '/{name}' has shape {values.shape} instead of {shape}")
        profiles[name] = values
    return profiles


def _parameter_sets(file: h5py.File, count: int) -> tuple[NDArray[np.int64], tuple[dict[str, object], ...]]:
    """The number of each block's parameters, and all of them; blocks of a file without any count as alike."""
    if layout.PARAMETER_SET not in file:
        return np.zeros(count, dtype=np.int64), ()
    numbers = np.asarray(file[layout.PARAMETER_SET][()], dtype=np.int64)
    groups = [file[f"{layout.PARAMETER_SET}_{n}"] for n in range(int(numbers.max(initial=-1)) + 1)]
    return numbers, tuple(attributes_of(group) for group in groups)


def _check(blocks: Blocks, path: Path) -> None:
    if len(blocks.z_face) != len(blocks.z) + 1:
        raise InputOutputError(
            f"{path}: {len(blocks.z)} cell centres in /{layout.GRID_Z} need {len(blocks.z) + 1} faces, walls "
            f"included, but /{layout.GRID_Z_FACE} gives {len(blocks.z_face)}"
        )
    for name, values in {**blocks.centre, **blocks.face}.items():
        if not np.all(np.isfinite(values)):
            raise InputOutputError(f"{path}: '/{name}' holds values that are not finite")


def read_statistics(path: Path) -> tuple[FlowParameters, Blocks]:
    """Flow and blocks of a statistics file. Blocks without samples are left out; there may be none at all.

    The flow is that of the latest start of the run; FlowParameters.with_sampled gives that of chosen blocks.
    """
    with open_hdf5(path) as file:
        parameters = read_parameters(file, path)
        z = _dataset(file, path, layout.GRID_Z)
        z_face = _dataset(file, path, layout.GRID_Z_FACE)
        if len(z_face) == len(z):  # upper faces of the cells only: the bottom wall is at z = 0
            z_face = np.concatenate([[0.0], z_face])
        samples = np.asarray(_dataset(file, path, layout.SAMPLES), dtype=np.int64)
        count, nz = len(samples), len(z)
        forcing = (
            _dataset(file, path, layout.FORCING).reshape(count)
            if layout.FORCING in file
            else np.full(count, np.nan)
        )
        blocks = Blocks(
            z,
            z_face,
            samples,
            _dataset(file, path, *layout.TIME_BEGIN),
            _dataset(file, path, *layout.TIME_END),
            _profiles(file, path, layout.CENTRE_PROFILES, (count, nz)),
            _profiles(file, path, layout.FACE_PROFILES, (count, nz + 1)),
            forcing,
            *_parameter_sets(file, count),
        )
    _check(blocks, path)
    return parameters, blocks._pick(np.flatnonzero(samples > 0))
