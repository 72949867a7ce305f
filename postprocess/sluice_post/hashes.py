"""The hashes that Sluice stores in its HDF5 files: the functions of io/files/hashes.cpp and values.cpp."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

ENDING = struct.Struct("=QQ8s")  # number of ranges that the hash does not cover, hash, mark
ENDING_MARK = b"SluiceMH"

_MASK = (1 << 64) - 1
_BLOCK_BYTES = 1 << 20


def _mix(x: Any) -> Any:
    """The finaliser of splitmix64, of an integer or of each element of an array of uint64."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def byte_hash(seed: int, data: bytes) -> int:
    """A hash of any bytes, chained onto `seed`: of lists, texts and coordinates."""
    value: int = _mix(seed ^ len(data))
    padded = data + bytes(-len(data) % 8)
    for word in np.frombuffer(padded, dtype="<u8").tolist():
        value = _mix(value ^ word)
    return value


def byte_hashes(texts: Sequence[bytes]) -> NDArray[np.uint64]:
    """`byte_hash` of each text with seed 0, of all texts at once."""
    lengths = np.array([len(text) for text in texts], dtype=np.uint64)
    value: NDArray[np.uint64] = _mix(lengths)
    width = -(-int(lengths.max(initial=0)) // 8)
    padded = b"".join(text.ljust(8 * width, b"\0") for text in texts)
    words = np.frombuffer(padded, dtype="<u8").reshape(len(texts), width)
    for n in range(width):
        value = np.where(lengths > 8 * n, _mix(value ^ words[:, n]), value)
    return value


def field_hash(field: NDArray[np.floating], first: int = 0) -> int:
    """The hash of a field: the sum mod 2^64 over its elements of a mix of global index and bits.

    `first`: the index of the first element. The hash of a field is the sum of those of its parts.
    """
    bits = np.ascontiguousarray(field).view(f"u{field.dtype.itemsize}").ravel().astype(np.uint64)
    index = np.arange(first, first + bits.size, dtype=np.uint64)
    return int(_mix(_mix(index) ^ bits).sum(dtype=np.uint64))


def ranges_outside(excluded: NDArray[np.uint64], size: int) -> list[tuple[int, int]]:
    """The ranges of the first `size` bytes of a file between the excluded ones."""
    borders = [0, *excluded.tolist(), size]
    return list(zip(borders[::2], borders[1::2], strict=True))


def metadata_hash(file: BinaryIO, excluded: NDArray[np.uint64], size: int) -> int:
    """The hash of an HDF5 file's first `size` bytes outside the ranges, as io/files/hashes.cpp computes it.

    `excluded`: begin and end of each range, in increasing order.
    """
    value = byte_hash(size, excluded.tobytes())
    for begin, end in ranges_outside(excluded, size):
        file.seek(begin)
        for start in range(begin, end, _BLOCK_BYTES):
            value = byte_hash(value, file.read(min(_BLOCK_BYTES, end - start)))
    return value


def values_hash(values: Mapping[str, int | float | str]) -> int:
    """The hash of named values: of their names, types and bits."""
    value_hash = len(values)
    for name, value in sorted((name.encode("utf-8", "surrogateescape"), value) for name, value in values.items()):
        # The number of each type in the variant io::Value: integer, real, text.
        if isinstance(value, str):
            kind, data = 2, value.encode("utf-8", "surrogateescape")
        elif isinstance(value, float):
            kind, data = 1, np.float64(value).tobytes()
        else:
            kind, data = 0, np.int64(value).tobytes()
        value_hash = byte_hash(byte_hash((value_hash + kind) & _MASK, name), data)
    return value_hash
