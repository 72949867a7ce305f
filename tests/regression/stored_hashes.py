"""Makes the hashes in a checkpoint or statistics.h5 right again after another program has changed its values."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

MASK = 2**64 - 1


def mix64(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def byte_hash(seed: int, data: bytes) -> int:
    """As in io/files/hashes.cpp."""
    value = mix64(seed ^ len(data))
    for (word,) in struct.iter_unpack("<Q", data + bytes(-len(data) % 8)):
        value = mix64(value ^ word)
    return value


def values_hash(group: h5py.Group) -> int:
    """As in io/files/values.cpp."""
    values: dict[str, tuple[int, bytes]] = {}
    for name, value in group.attrs.items():
        if name == "values_hash":
            continue
        if isinstance(value, str):
            values[name] = (2, value.encode())
        elif isinstance(value, np.integer):
            values[name] = (0, struct.pack("<q", value))
        else:
            values[name] = (1, struct.pack("<d", value))
    if group.name != "/":
        for name, dataset in group.items():
            kind = 3 if dataset.dtype.kind == "i" else 4
            values[name] = (kind, dataset[...].tobytes())
    total = len(values)
    for name in sorted(values):
        kind, data = values[name]
        total = byte_hash(byte_hash((total + kind) & MASK, name.encode()), data)
    return total


def field_hash(field: np.ndarray) -> int:
    """As in io/files/hashes.cpp."""
    bits = field.ravel().view(f"u{field.dtype.itemsize}").tolist()
    return sum(mix64(mix64(index) ^ value) for index, value in enumerate(bits)) & MASK


def set_field(file: Path, name: str, change: Callable[[np.ndarray], None]) -> None:
    """Changes a field in double precision, and makes all hashes right again."""
    with h5py.File(file, "a") as h5:
        field = h5[name][...]
        change(field)
        h5[name][...] = field
        before, after = f"{name} {int(h5[name].attrs['hash']):016x}", f"{name} {field_hash(field):016x}"
        h5[name].attrs["hash"] = np.uint64(field_hash(field))
        assert before in h5.attrs["contents"]
        h5.attrs["contents"] = h5.attrs["contents"].replace(before, after)
    set_hashes(file)


def set_hashes(file: Path) -> None:
    """Makes the hashes of the values right again."""
    with h5py.File(file, "a") as h5:
        for group in (h5, *h5.values()):
            if "values_hash" in group.attrs:
                group.attrs["values_hash"] = np.uint64(values_hash(group))
