"""statistics.h5 and files like it: blocks of horizontally averaged sums, how they are chosen and averaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.blocks_file import BlocksFile
from sluice_post.case_text import with_points
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.hdf5_file import Hdf5File, Values, reading
from sluice_post.parameters import FlowParameters, read_parameters
from sluice_post.printed import count_of
from sluice_post.scalars import sampled_scalars

# Below this variance of w (in u_tau^2) a flow counts as laminar: third and fourth moments would be round-off.
LAMINAR_VARIANCE = 1e-8


@dataclass(frozen=True)
class Means:
    """Time and plane averages of the raw moments.

    `centre` holds nz values per name, `face` nz + 1 with both walls; of spectra, each value is a row of modes. `planes`
    holds spectra in both directions, (height, ky, kx) per name, at the heights `planes_z` of that name. `scalars` holds
    profiles and spectra of scalars under their names in the file, over the whole height; views from a wall have none.
    """

    z: Array
    z_face: Array
    centre: dict[str, Array]
    face: dict[str, Array]
    forcing: float
    samples: int
    planes: dict[str, Array] = field(default_factory=dict)
    planes_z: dict[str, Array] = field(default_factory=dict)
    scalars: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Blocks:
    """Sums over the samples of each block: `centre[name]` is (block, nz), `face[name]` is (block, nz + 1).

    Spectra have the modes as a further axis; `planes[name]`, in both directions, is (block, height, ky, kx).
    `scalars[name]` is a profile of a scalar, at the centres or on the faces.
    """

    z: Array
    z_face: Array
    samples: NDArray[np.int64]
    time_begin: Array
    time_end: Array
    centre: dict[str, Array]
    face: dict[str, Array]
    forcing: Array
    parameter_set: NDArray[np.int64]  # position in `parameter_sets`: which flow was sampled
    parameter_sets: tuple[Values, ...]
    planes: dict[str, Array] = field(default_factory=dict)
    planes_z: dict[str, Array] = field(default_factory=dict)
    scalars: dict[str, Array] = field(default_factory=dict)
    sampling_error: bool | None = None  # whether there is any; None: there is unless the flow is laminar
    # Of an ensemble: the member that each block is of; or that each block is all that a member has sampled, and beside
    # these the blocks of all members.
    member: NDArray[np.int64] | None = None
    independent: bool = False
    in_time: Blocks | None = None

    def __len__(self) -> int:
        return len(self.samples)

    def _of_groups(self, change: Callable[[Any], Any]) -> dict[str, Any]:
        """The sums of all quantities, each changed."""
        groups = {"centre": self.centre, "face": self.face, "planes": self.planes, "scalars": self.scalars}
        return {group: {name: change(sums) for name, sums in of.items()} for group, of in groups.items()}

    def _reordered(self, sums: Callable[[Any], Any], first: Any, last: Any) -> Blocks:
        """Blocks whose sums are made by `sums`; their first and their last parts are these blocks."""
        return replace(
            self,
            samples=sums(self.samples),
            forcing=sums(self.forcing),
            time_begin=self.time_begin[first],
            time_end=self.time_end[last],
            parameter_set=self.parameter_set[first],
            member=None if self.member is None else self.member[first],
            independent=False,
            in_time=None,
            **self._of_groups(sums),
        )

    def pick(self, index: NDArray[np.int64]) -> Blocks:
        """Some of the blocks."""
        return self._reordered(lambda sums: sums[index], index, index)

    def joined(self, starts: NDArray[np.int64]) -> Blocks:
        """Longer blocks of neighbours: one begins with each of these blocks, the first of them 0."""
        ends = np.append(starts[1:], len(self)) - 1
        return self._reordered(lambda sums: np.add.reduceat(sums, starts, axis=0), starts, ends)

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
                f"no block lies inside the times asked for; there are {len(self)} blocks "
                f"from t = {first:g} to t = {last:g}, the first ends at t = {float(self.time_end[0]):g}"
            )
        return self.pick(np.flatnonzero(inside))

    @cached_property
    def laminar(self) -> bool:
        """Whether w fluctuates by less than 1e-4 of the larger friction velocity everywhere."""
        if len(self) == 0 or not {"w", "ww"} | set(layout.FACE_PROFILES) <= self.centre.keys() | self.face.keys():
            return False
        samples, face, centre = self.samples.sum(), self._totals["face"], self._totals["centre"]
        stress = float(np.max(np.hypot(face["tau_xz"][[0, -1]], face["tau_yz"][[0, -1]]))) / samples
        variance = float(np.max(centre["ww"] / samples - (centre["w"] / samples) ** 2))
        return bool(variance < LAMINAR_VARIANCE * stress)

    @property
    def has_sampling_error(self) -> bool:
        """Whether averages have a sampling error. Blocks of a laminar flow differ only because it changes in time."""
        return not self.laminar if self.sampling_error is None else self.sampling_error

    def one(self, number: int) -> Blocks:
        """A single block; negative numbers count from the last."""
        return self.pick(np.array([number]))

    def runs(self) -> list[NDArray[np.int64]]:
        """The numbers of the blocks of each member of an ensemble; else of all blocks."""
        member = np.zeros(len(self), dtype=np.int64) if self.member is None else self.member
        return [np.flatnonzero(member == number) for number in np.unique(member)]

    def ends(self) -> tuple[Blocks, Blocks]:
        """The first and the last block of the run, or of each member of an ensemble."""
        blocks = self.in_time or self
        first, last = (blocks.pick(np.array([run[n] for run in blocks.runs()])) for n in (0, -1))
        return first, last

    @property
    def times(self) -> tuple[float, float]:
        """When the first sample was taken, and the last one."""
        return float(self.time_begin.min()), float(self.time_end.max())

    @property
    def averaging_time(self) -> float:
        """From the first sample to the last one, summed over the members of an ensemble."""
        if self.independent:
            return float((self.time_end - self.time_begin).sum())
        return sum(float(self.time_end[run[-1]] - self.time_begin[run[0]]) for run in self.runs())

    @property
    def count_text(self) -> str:
        """`16 blocks`; of an ensemble, `4 members`."""
        return count_of(len(self), "member" if self.independent else "block")

    @property
    def has_budgets(self) -> bool:
        """Whether the profiles were taken that budgets need."""
        return layout.BUDGET_CENTRE_PROFILES[0] in self.centre

    def sampled_parameters(self) -> Values:
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

    @cached_property
    def _totals(self) -> dict[str, dict[str, Array]]:
        return self._of_groups(lambda sums: sums.sum(axis=0))

    def means(self, without: int | None = None) -> Means:
        """Averages over all samples, or over all but those of one block."""
        self.sampled_parameters()
        left_out = slice(0) if without is None else slice(without, without + 1)
        samples = int(self.samples.sum() - self.samples[left_out].sum())
        averages = {
            group: {name: (total - blocks[name][left_out].sum(axis=0)) / samples for name, total in totals.items()}
            for group, totals in self._totals.items()
            for blocks in [getattr(self, group)]
        }
        forcing = float(self.forcing.sum() - self.forcing[left_out].sum()) / samples
        return Means(self.z, self.z_face, forcing=forcing, samples=samples, planes_z=self.planes_z, **averages)

    def series(self, name: str) -> Array:
        """Block averages of one profile, (block, n)."""
        sums = (self.centre | self.face | self.scalars)[name]
        return sums / self.samples[:, None]


def _parameter_sets(file: Hdf5File, count: int) -> tuple[NDArray[np.int64], tuple[Values, ...]]:
    """The number of each block's parameters, and all of them; blocks of version 0.1, without any, count as alike."""
    first = f"{layout.PARAMETER_SET}_0"
    if layout.PARAMETER_SET not in file and first not in file:
        return np.zeros(count, dtype=np.int64), ()
    numbers = file.integers(layout.PARAMETER_SET, count)
    if numbers.min(initial=0) < 0:
        raise InputOutputError(f"{file.path}: '/{layout.PARAMETER_SET}' holds negative numbers")
    sets = (file.values(f"{layout.PARAMETER_SET}_{n}") for n in range(int(numbers.max(initial=-1)) + 1))
    return numbers, tuple(
        {name: with_points(value) if isinstance(value, str) else value for name, value in one.items()} for one in sets
    )


Shapes = dict[str, tuple[int, ...]]  # of what a block holds, by name


def read_blocks(
    path: Path, contents: Callable[[Hdf5File, FlowParameters], tuple[Shapes, Shapes]]
) -> tuple[FlowParameters, Blocks]:
    """Flow and blocks of a file; `contents` says what it holds at the centres and on the faces.

    Blocks without samples are left out; there may be none at all. The flow is that of the latest start of the run;
    sampled_flow gives that of chosen blocks.
    """
    with BlocksFile(path) as file:
        parameters = read_parameters(file)
        nz = parameters.cells[2]
        samples = file.integers(layout.SAMPLES)
        count = samples.size
        centre, face = contents(file, parameters)
        numbers, sets = _parameter_sets(file, count)
        blocks = Blocks(
            file.reals(layout.GRID_Z, nz),
            file.reals(layout.GRID_Z_FACE, nz + 1),
            samples,
            file.reals(layout.TIME_BEGIN, count),
            file.reals(layout.TIME_END, count),
            {name: file.reals(name, count, *shape) for name, shape in centre.items()},
            {name: file.reals(name, count, *shape) for name, shape in face.items()},
            file.reals(layout.FORCING, count),
            numbers,
            sets,
            *_planes(file, parameters, count),
            _scalars(file, parameters.cells, sets, count),
        )
    for name, values in (blocks.centre | blocks.face | blocks.planes | blocks.scalars).items():
        if not np.all(np.isfinite(values)):
            raise InputOutputError(f"{path}: '/{name}' holds values that are not finite")
    return parameters, blocks.pick(np.flatnonzero(samples > 0))


def _profiles(file: Hdf5File, parameters: FlowParameters) -> tuple[Shapes, Shapes]:
    nz = parameters.cells[2]
    centre: tuple[str, ...] = layout.CENTRE_PROFILES
    face: tuple[str, ...] = layout.FACE_PROFILES
    if any(name in file for name in layout.BUDGET_CENTRE_PROFILES + layout.BUDGET_FACE_PROFILES):
        centre, face = centre + layout.BUDGET_CENTRE_PROFILES, face + layout.BUDGET_FACE_PROFILES
    return dict.fromkeys(centre, (nz,)), dict.fromkeys(face, (nz + 1,))


def _scalars(file: Hdf5File, cells: tuple[int, int, int], sets: tuple[Values, ...], count: int) -> dict[str, Array]:
    """The profiles and spectra of scalars, as far as the file holds any: all of a group are there, or none."""
    nz = cells[2]

    def profiles(centre: tuple[str, ...], face: tuple[str, ...]) -> Shapes:
        return {**dict.fromkeys(centre, (nz,)), **dict.fromkeys(face, (nz + 1,))}

    square, flux = layout.SCALAR_SPECTRA
    groups = (
        profiles(layout.SCALAR_CENTRE_PROFILES, layout.SCALAR_FACE_PROFILES),
        profiles(layout.SCALAR_BUDGET_CENTRE_PROFILES, layout.SCALAR_BUDGET_FACE_PROFILES),
        profiles(layout.SCALAR_FORCE_CENTRE_PROFILES, layout.SCALAR_FORCE_FACE_PROFILES),
        _spectra_shapes((square,), nz, cells) | _spectra_shapes((flux,), nz + 1, cells),
    )
    found: dict[str, Array] = {}
    for name in sorted({scalar.name for values in sets for scalar in sampled_scalars(values)}):
        for group in groups:
            if any(f"{name}{ending}" in file for ending in group):
                found |= {
                    f"{name}{ending}": file.reals(f"{name}{ending}", count, *shape) for ending, shape in group.items()
                }
    return found


def _planes(file: Hdf5File, parameters: FlowParameters, count: int) -> tuple[dict[str, Array], dict[str, Array]]:
    """Spectra in both directions and their heights, as far as the file holds any."""
    nx, ny, _ = parameters.cells
    planes, planes_z = {}, {}
    for quantity in (*layout.CENTRE_SPECTRA, *layout.FACE_SPECTRA):
        name = layout.PLANE_SPECTRUM.format(quantity)
        if name not in file:
            continue
        z = file.line(layout.PLANES_Z if quantity in layout.CENTRE_SPECTRA else layout.PLANES_Z_FACE)
        planes[name] = file.reals(name, count, z.size, ny // 2 + 1, nx // 2 + 1)
        planes_z[name] = z
    return planes, planes_z


def _spectra_shapes(quantities: tuple[str, ...], points: int, cells: tuple[int, int, int]) -> Shapes:
    return {
        layout.SPECTRUM.format(quantity, axis): (points, count // 2 + 1)
        for quantity in quantities
        for axis, count in zip(layout.SPECTRA_AXES, cells[:2], strict=True)
    }


def _spectra(_: Hdf5File, parameters: FlowParameters) -> tuple[Shapes, Shapes]:
    cells, nz = parameters.cells, parameters.cells[2]
    return _spectra_shapes(layout.CENTRE_SPECTRA, nz, cells), _spectra_shapes(layout.FACE_SPECTRA, nz + 1, cells)


def sampled_flow(path: Path, parameters: FlowParameters, blocks: Blocks) -> FlowParameters:
    """The flow that chosen blocks of a file sample, which may be that of an earlier start of the run."""
    sampled = blocks.sampled_parameters()
    with reading(path, "the parameters of its blocks"):
        return parameters.with_sampled(sampled)


def read_statistics(path: Path) -> tuple[FlowParameters, Blocks]:
    """Flow and blocks of statistics.h5."""
    return read_blocks(path, _profiles)


def read_spectra(path: Path) -> tuple[FlowParameters, Blocks]:
    """Flow and blocks of spectra.h5."""
    return read_blocks(path, _spectra)
