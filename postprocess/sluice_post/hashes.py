"""The hashes that Sluice stores in its HDF5 files: the functions of io/files/hashes.cpp and values.cpp."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

ENDING = struct.Struct("=QQ8s")  # number of ranges that the hash does not cover, hash, mark
ENDING_MARK = b"SluiceMH"

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def _mix(x: int) -> int:
    """The finaliser of splitmix64."""
    x = (x + _STEP) & _MASK
    x = ((x ^ (x >> 30)) * _FIRST) & _MASK
    x = ((x ^ (x >> 27)) * _SECOND) & _MASK
    return x ^ (x >> 31)


def _mix_all(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The same for each element."""
    x = x + np.uint64(_STEP)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed


def byte_hash(seed: int, data: bytes) -> int:
    """A hash of any bytes, chained onto `seed`: of lists, texts and coordinates."""
    value = _mix(seed ^ len(data))
    padded = data + bytes(-len(data) % 8)
    for word in np.frombuffer(padded, dtype="<u8").tolist():
        value = _mix(value ^ word)
    return value


def byte_hashes(texts: Sequence[bytes]) -> NDArray[np.uint64]:
    """`byte_hash` of each text with seed 0, of all texts at once."""
    lengths = np.array([len(text) for text in texts], dtype=np.uint64)
    value = _mix_all(lengths)
    width = -(-int(lengths.max(initial=0)) // 8)
    padded = b"".join(text.ljust(8 * width, b"\0") for text in texts)
    words = np.frombuffer(padded, dtype="<u8").reshape(len(texts), width)
    for n in range(width):
        value = np.where(lengths > 8 * n, _mix_all(value ^ words[:, n]), value)
    return value


def field_hash(field: NDArray[np.floating], first: int = 0) -> int:
    """The hash of a field: the sum mod 2^64 over its elements of a mix of global index and bits.

    `first`: the index of the first element. The hash of a field is the sum of those of its parts.
    """
    bits = np.ascontiguousarray(field).view(f"u{field.dtype.itemsize}").ravel().astype(np.uint64)
    index = np.arange(first, first + bits.size, dtype=np.uint64)
    return int(_mix_all(_mix_all(index) ^ bits).sum(dtype=np.uint64))


class Content(Protocol):
    """The bytes of a file, of which slices are read."""

    def __len__(self) -> int: ...

    def __getitem__(self, where: slice, /) -> bytes: ...


def ranges_outside(excluded: NDArray[np.uint64], size: int) -> list[tuple[int, int]]:
    """The ranges of the first `size` bytes of a file between the excluded ones."""
    borders = [0, *excluded.tolist(), size]
    return list(zip(borders[::2], borders[1::2], strict=True))


def metadata_hash(content: Content, excluded: NDArray[np.uint64], size: int | None = None) -> int:
    """The hash of an HDF5 file's bytes outside the ranges, as io/files/hashes.cpp computes it.

    `excluded`: begin and end of each range, in increasing order. `size`: the bytes to hash; default: all.
    """
    block_bytes = 1 << 20
    size = len(content) if size is None else size
    value = byte_hash(size, excluded.tobytes())
    for begin, end in ranges_outside(excluded, size):
        for start in range(begin, end, block_bytes):
            value = byte_hash(value, content[start : min(start + block_bytes, end)])
    return value


def metadata_ending(content: Content, excluded: NDArray[np.uint64]) -> bytes:
    """What a file of this content ends in: the ranges, their number, the hash, and a mark."""
    found = metadata_hash(content, excluded)
    return excluded.tobytes() + ENDING.pack(excluded.size // 2, found, ENDING_MARK)


# The number of each type in the variant io::Value.
_INTEGER, _REAL, _TEXT = range(3)


def values_hash(values: Mapping[str, int | float | str]) -> int:
    """The hash of named values: of their names, types and bits."""
    value_hash = len(values)
    for name, value in sorted((name.encode("utf-8", "surrogateescape"), value) for name, value in values.items()):
        if isinstance(value, str):
            kind, data = _TEXT, value.encode("utf-8", "surrogateescape")
        elif isinstance(value, float):
            kind, data = _REAL, np.float64(value).tobytes()
        else:
            kind, data = _INTEGER, np.int64(value).tobytes()
        value_hash = byte_hash((value_hash + kind) & _MASK, name)
        value_hash = byte_hash(value_hash, data)
    return value_hash
