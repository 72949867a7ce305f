"""The leading part of the singular value decomposition of matrices whose columns come one after the other.

Incremental decomposition with update of the mean: Brand, Lin. Alg. Appl. 415, 20 (2006); Ross, Lim, Lin & Yang, Int. J.
Comput. Vis. 77, 125 (2008). scikit-learn's IncrementalPCA is the same for one real matrix in NumPy; here there are
many, complex ones among them, maybe on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sluice_post.array_space import ArraySpace, on_host
from sluice_post.arrays import Array

# Of some of the matrices along the first axis: (groups, count, size, new).
Columns: TypeAlias = Callable[[slice], Any]

PIECE_BYTES = 32 * 2**20  # of the work arrays, unless the matrices of one group need more


@dataclass(frozen=True)
class Decomposed:
    """Left singular vectors and squared singular values, in decreasing order."""

    vectors: NDArray[Any]  # (groups, count, size, rank), NaN where there is no energy
    energy: Array  # (groups, count, rank)
    total: Array  # (groups, count): the sum of all, also of those beyond the rank
    error: Array  # (groups, count): an energy is too low by at most this, because the rank was limited


class RankLimited:
    """The decomposition of `groups` x `count` matrices of `size` rows.

    Matrices in `centred` are those of columns less the mean of all columns.
    """

    def __init__(
        self, space: ArraySpace, shape: tuple[int, int, int], rank: int, is_complex: bool, centred: NDArray[np.bool_]
    ) -> None:
        groups, count, size = self._shape = shape
        self._space, self._rank, self._is_complex = space, rank, is_complex
        self._kept = space.zeros((*shape, min(rank, size)), is_complex)  # vectors times singular values
        self._used = 0  # of the columns of _kept
        self.mean = space.zeros(shape, is_complex)
        self.columns = 0
        # (groups, count, 1): 1 or 0
        self.centred = space.put(np.broadcast_to(centred, (groups, count)).astype(float)[..., None])
        self._left_out = np.zeros((groups, count))
        self._error = np.zeros((groups, count))

    @staticmethod
    def memory(shape: tuple[int, int, int], rank: int, new: int, is_complex: bool) -> int:
        """Bytes, if `new` columns come at a time, with the result."""
        groups, count, size = shape
        item = 16 if is_complex else 8
        kept = min(rank, size)
        lasting = groups * count * (size * (2 * kept + 1) * item + 64 + 48 * kept)
        return lasting + _piece(shape, kept + new + 1, item) * _work(shape, kept + new + 1, item)

    def add(self, columns: Columns, new: int) -> None:
        """Adds `new` columns to each matrix."""
        for chosen in self._pieces(new + 1):
            self._add(chosen, columns(chosen), new)
        self._used = min(self._rank, self._shape[2], self._used + new + (0 if new == 1 else 1))
        self.columns += new

    def _pieces(self, new: int) -> Iterator[slice]:
        step = _piece(self._shape, min(self._rank, self._shape[2]) + new, 16 if self._is_complex else 8)
        return (slice(first, first + step) for first in range(0, self._shape[0], step))

    def _add(self, chosen: slice, columns: Any, new: int) -> None:
        """The scatter of old and new columns about their common mean is that of both sets and of their means."""
        xp, before = self._space.xp, self.columns
        centred = self.centred[chosen, ...]
        of_new = xp.sum(columns, axis=-1) * (centred / new)
        change = (of_new - self.mean[chosen, ...]) * centred
        self.mean[chosen, ...] = self.mean[chosen, ...] + change * (new / (before + new))
        columns = columns - of_new[..., None]
        between = (change * float(np.sqrt(before * new / (before + new))))[..., None]
        if new == 1:  # one of both is 0
            columns = columns + between
        used, width = self._used, columns.shape[-1]
        stack = self._space.zeros((*columns.shape[:-1], used + width + (new > 1)), self._is_complex)
        stack[..., :used] = self._kept[chosen, ..., :used]
        stack[..., used : used + width] = columns
        if new > 1:
            stack[..., -1:] = between
        vectors, values = self._decompose(stack)
        kept = min(self._rank, values.shape[-1])
        self._kept[chosen, ..., :kept] = vectors[..., :kept] * self._space.put(values[..., None, :kept])
        self._left_out[chosen] += np.sum(values[..., kept:] ** 2, axis=-1)
        self._error[chosen] += np.max(values[..., kept:] ** 2, axis=-1, initial=0.0)

    def _decompose(self, stack: Any) -> tuple[Any, Array]:
        """The left singular vectors and, on the host, the singular values."""
        linalg = self._space.xp.linalg
        orthogonal, triangle = linalg.qr(stack, mode="reduced")
        vectors, values, _ = linalg.svd(triangle, full_matrices=False)
        return orthogonal @ vectors, np.asarray(on_host(values))

    def result(self, further: Columns | None = None) -> Decomposed:
        """The decomposition of the columns up to now and, in this result only, of one further column of each."""
        groups, count, size = self._shape
        kept = min(self._rank, size, self._used + (further is not None))
        found = Decomposed(
            np.full((groups, count, size, kept), np.nan, complex if self._is_complex else float),
            np.zeros((groups, count, kept)),
            np.zeros((groups, count)),
            self._error.copy(),
        )
        for chosen in self._pieces(1):
            stack = self._kept[chosen, ..., : self._used]
            if further is not None:
                old, stack = stack, self._space.zeros((*stack.shape[:-1], self._used + 1), self._is_complex)
                stack[..., : self._used] = old
                stack[..., self._used :] = further(chosen)
            vectors, values = self._decompose(stack)
            found.energy[chosen] = values[..., :kept] ** 2
            found.total[chosen] = np.sum(values**2, axis=-1) + self._left_out[chosen]
            found.error[chosen] += np.max(values[..., kept:] ** 2, axis=-1, initial=0.0)
            nothing = values[..., :kept] <= 1e-13 * np.max(values, axis=-1, keepdims=True, initial=0.0)
            found.vectors[chosen] = on_host(vectors[..., :kept])
            _set_phase(found.vectors[chosen])
            np.copyto(found.vectors[chosen], np.nan, where=nothing[..., None, :])
        return found


def _set_phase(vectors: NDArray[Any]) -> None:
    """Gives them the phase, or the sign, with which their largest value is real and positive."""
    place = np.argmax(np.abs(vectors), axis=-2, keepdims=True)
    largest = np.take_along_axis(vectors, place, axis=-2)
    size = np.abs(largest)
    vectors *= np.divide(np.conj(largest), size, out=np.ones_like(largest), where=size > 0)


def _work(shape: tuple[int, int, int], columns: int, item: int) -> int:
    """Bytes that the decomposition of a group takes: some copies of its matrices and of their triangles."""
    _, count, size = shape
    return item * count * columns * (5 * size + 4 * min(size, columns))


def _piece(shape: tuple[int, int, int], columns: int, item: int) -> int:
    """How many groups are decomposed at a time."""
    return max(1, min(shape[0], PIECE_BYTES // max(1, _work(shape, columns, item))))
