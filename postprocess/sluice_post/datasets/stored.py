"""Fields along time whose values stay in their files until they are indexed; then only those asked for are read."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from sluice_post.hdf5_file import Key

CHUNK_BYTES = 64 * 2**20  # of a Dask chunk, at most, if a time has several planes
_TIMES = "times_of_files"  # in the encoding of a variable


class Piece(Protocol):
    """Consecutive times of a field in one file."""

    @property
    def count(self) -> int:
        """How many times there are."""

    def read(self, times: slice, points: Key) -> NDArray[Any]:
        """The values at some of the times, counted from 0, and at some of the points (z, y, x)."""


class _StoredArray(BackendArray):
    """What xarray indexes: (time, z, y, x)."""

    def __init__(self, pieces: Sequence[Piece], points: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._pieces = list(pieces)
        self._begin = np.cumsum([0, *(piece.count for piece in pieces)])
        self.shape, self.dtype = (int(self._begin[-1]), *points), dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        basic = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, basic, self._read)

    def _read(self, key: tuple[int | slice, ...]) -> NDArray[Any]:
        """For numbers and slices of positive step."""
        along, points = np.arange(self.shape[0])[key[0]], key[1:]
        chosen = np.atleast_1d(along)
        of_points = np.broadcast_to(np.zeros((), self.dtype), self.shape[1:])[points].shape
        found = np.empty((chosen.size, *of_points), self.dtype)
        step = int(chosen[1] - chosen[0]) if chosen.size > 1 else 1
        for piece, begin, end in zip(self._pieces, self._begin[:-1], self._begin[1:], strict=True):
            inside = np.flatnonzero((chosen >= begin) & (chosen < end))
            if inside.size:
                times = slice(int(chosen[inside[0]] - begin), int(chosen[inside[-1]] - begin) + 1, step)
                found[inside[0] : inside[-1] + 1] = piece.read(times, points)
        return found if np.ndim(along) else found[0]


def stored_variable(
    dims: Sequence[str], pieces: Sequence[Piece], points: tuple[int, ...], dtype: np.dtype[Any], **attributes: Any
) -> xr.Variable:
    """A variable (time, *dims) that is in files until xarray indexes it."""
    array = indexing.LazilyIndexedArray(_StoredArray(pieces, points, dtype))
    return xr.Variable(("time", *dims), array, attributes, {_TIMES: tuple(piece.count for piece in pieces)})


def times_of_files(found: xr.Dataset) -> tuple[int, ...]:
    """How many times each file has of the stored variables of a dataset, all in the same files."""
    times: tuple[int, ...] = next(iter(found.values())).encoding[_TIMES]
    return times


def in_chunks(found: xr.Dataset) -> xr.Dataset:
    """With Dask, the stored variables in chunks, each within a file; else as they are."""
    if find_spec("dask") is None:
        return found
    chunked = {}
    for name, values in found.variables.items():
        if (times := values.encoding.get(_TIMES)) is not None:
            plane = int(np.prod(values.shape[2:])) * values.dtype.itemsize
            planes = CHUNK_BYTES // max(1, plane * max(times, default=1))
            chunked[name] = values.chunk({"time": times, values.dims[1]: max(1, min(values.shape[1], planes))})
    in_files: xr.Dataset = found.assign(chunked)
    return in_files
