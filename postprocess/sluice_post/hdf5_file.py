"""Reading Sluice's HDF5 files. All that is read has been compared with the hashes stored in the file."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

import h5py
import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.hashes import ENDING, ENDING_MARK, byte_hash, field_hash, metadata_hash, ranges_outside, values_hash
from sluice_post.inputs import open_regular

Values: TypeAlias = "dict[str, int | float | str]"
Shape: TypeAlias = "tuple[int | None, ...]"  # None is any length
Key: TypeAlias = "tuple[int | slice, ...]"
File = TypeVar("File", bound="Hdf5File")

# What h5py and NumPy raise for damaged files.
_READING_ERRORS = (OSError, RuntimeError, LookupError, TypeError, ValueError, OverflowError, MemoryError)
_SUPERBLOCK = struct.Struct("<8sBB18xQ")  # signature, version, bytes of an address, end of HDF5's data
_HEAP = b"GCOL\1\0\0\0"


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Makes one error with the names of file and object of whatever goes wrong within."""
    try:
        yield
    except _READING_ERRORS as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error  # str() would quote it
        reason = " ".join(str(text).split()) or type(error).__name__
        raise InputOutputError(
            f"{path}: {what} cannot be read ({reason}); the file is damaged, or Sluice did not write it"
        ) from error


def _excluded_ranges(file: BinaryIO, size: int) -> tuple[NDArray[np.uint64] | None, int | None]:
    """The ranges of bytes with values of fields, and the hash of all others; None if the file has no such hash.

    Verifies that hash if the file has it: HDF5 may crash on damaged metadata.
    """
    if size < _SUPERBLOCK.size:
        return None, None
    file.seek(-ENDING.size, os.SEEK_END)
    count, stored, mark = ENDING.unpack(file.read(ENDING.size))
    if mark == ENDING_MARK:
        end = size - ENDING.size - 16 * count
        if end >= 0:
            file.seek(end)
            excluded = np.frombuffer(file.read(16 * count), dtype=np.uint64)
            increasing = np.all(excluded[1:] >= excluded[:-1]) and np.all(excluded <= end)
            if increasing and stored == metadata_hash(file, excluded, end):
                return excluded, stored
        raise ValueError("its contents do not have the hash stored with them")
    file.seek(0)
    signature, version, address_bytes, end = _SUPERBLOCK.unpack(file.read(_SUPERBLOCK.size))
    if signature == b"\x89HDF\r\n\x1a\n" and version in (2, 3) and address_bytes == 8 and end < size:
        raise ValueError("its end, with the hash of its contents, is lost")
    return None, None


def _check_heaps(content: bytes) -> None:
    """Walks the heaps with the texts of attributes: they have no checksums, and HDF5 can read damaged ones forever.

    A heap is its signature, its size, and objects: index, size and data; index 0 is the free space at the end.
    """
    begin = content.find(_HEAP)
    while begin >= 0:
        damaged = ValueError("the texts of its attributes are damaged")
        end = begin + int.from_bytes(content[begin + 8 : begin + 16], "little")
        position = begin + 16
        while position + 16 <= end <= len(content):
            index, size = struct.unpack_from("<H6xQ", content, position)
            if index == 0 and position + size != end:
                raise damaged
            position += size if index == 0 else 16 + -(-size // 8) * 8
        if not position <= end <= len(content):
            raise damaged
        begin = content.find(_HEAP, begin + 8)


def _check_bytes(path: Path) -> tuple[NDArray[np.uint64] | None, int | None]:
    """Verifies what HDF5 does not, without values of fields, which have hashes of their own; see _excluded_ranges."""
    with open_regular(path) as file:
        size = file.seek(0, os.SEEK_END)
        excluded, stored = _excluded_ranges(file, size)
        ranges = [(0, size)] if excluded is None else ranges_outside(excluded, size - ENDING.size - excluded.nbytes)
        for begin, end in ranges:
            file.seek(begin)
            _check_heaps(file.read(end - begin))
    return excluded, stored


def append_metadata_hash(path: Path, excluded: NDArray[np.uint64]) -> None:
    """Ends a file with the hash of its bytes outside these ranges, as Sluice's own files end."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        ending = ENDING.pack(excluded.size // 2, metadata_hash(file, excluded, size), ENDING_MARK)
        file.seek(size)
        file.write(excluded.tobytes() + ending)


class Hdf5File:
    """A file of the given format, open for reading; close it, or use it in a `with` statement.

    All methods raise InputOutputError, with the names of the file and of the object, for what is missing, cannot be
    read, or does not have the hash that was stored with it. `root` has the root attributes, `h5` is h5py's file,
    `metadata_hash` the hash at its end, if it has one, and `excluded` the ranges of bytes that this does not cover.
    """

    def __init__(self, path: Path, file_format: str) -> None:
        self.path = path
        if not path.is_file():
            raise InputOutputError(f"{path}: no such file")
        with reading(path, "the HDF5 file"):
            self.excluded, self.metadata_hash = _check_bytes(path)
            self.h5 = h5py.File(path, "r")
        try:
            self._check_format(file_format)
            self.root = self.values("/")
            self._prepare()
        except BaseException:
            self.h5.close()
            raise

    def _prepare(self) -> None:
        """Reads what a kind of file needs at once."""

    def __enter__(self: File) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.h5.close()

    def __contains__(self, name: str) -> bool:
        with reading(self.path, f"the list of objects with '/{name}'"):
            return name in self.h5

    def values(self, group: str) -> Values:
        """The numbers and texts among the attributes of a group."""
        what = f"the group '/{group.strip('/')}'"
        if group != "/" and group not in self:
            raise InputOutputError(f"{self.path}: {what} is missing; the file is damaged")
        with reading(self.path, what):
            attributes = self.h5[group].attrs.items()
            scalars = {name: _scalar(value) for name, value in attributes if name != layout.VALUES_HASH}
            values = {name: value for name, value in scalars.items() if value is not None}
        self._compare(what, group, layout.VALUES_HASH, values_hash(values))
        return values

    def value(self, name: str) -> int | float | str:
        """A root attribute."""
        if name not in self.root:
            raise InputOutputError(f"{self.path}: the attribute '{name}' is missing")
        return self.root[name]

    def integers(self, name: str, count: int | None = None) -> NDArray[np.int64]:
        """A list of integers, of `count` if given."""
        return self._hashed(name, (count,), "int64")

    def reals(self, name: str, *shape: int | None) -> NDArray[np.float64]:
        """An array of this shape."""
        return self._hashed(name, shape, "float64")

    def line(self, name: str) -> NDArray[np.float64]:
        """A list of real numbers of any length."""
        return self.reals(name, None)

    def rows(self, name: str) -> NDArray[Any]:
        """All rows of a dataset of numbers, of whatever shape."""
        return self._hashed(name, None, "float64", "int64")

    def field(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """A field, single or double precision in the file."""
        data = self.some(name, shape)
        self._compare(f"the field '/{name}'", name, layout.HASH, field_hash(data))
        return data.astype(np.float64)

    def planes(self, name: str, shape: tuple[int, ...]) -> Iterator[NDArray[np.float64]]:
        """The planes of a field along its first axis, one at a time; the last only if the field has its hash."""
        total = 0
        for n in range(shape[0]):
            plane = self.some(name, shape, (n,))
            total += field_hash(plane, n * plane.size)
            if n == shape[0] - 1:
                self._compare(f"the field '/{name}'", name, layout.HASH, total % 2**64)
            yield plane.astype(np.float64)

    def some(self, name: str, shape: tuple[int, ...], key: Key = ()) -> NDArray[Any]:
        """Some values of a field as they are stored, or all, not compared with the hash of the field."""
        return self.unhashed(name, shape, "float32", "float64", key=key)

    def unhashed(self, name: str, shape: Shape | None, *dtypes: str, key: Key = ()) -> NDArray[Any]:
        """The values of a dataset, not compared with its hash."""
        dataset = self.dataset(name, shape, *dtypes)
        with reading(self.path, f"the dataset '/{name}'"):
            return np.asarray(dataset[key]).astype(dataset.dtype.newbyteorder("="))

    def dataset(self, name: str, shape: Shape | None, *dtypes: str) -> h5py.Dataset:
        """A dataset of this shape and of one of these types. The shape None is any that has rows."""
        if name not in self:
            raise InputOutputError(f"{self.path}: the dataset '/{name}' is missing; the file is damaged")
        with reading(self.path, f"the dataset '/{name}'"):
            dataset = self.h5[name]
            if not isinstance(dataset, h5py.Dataset):
                raise TypeError("it is not a dataset")
            dtype = dataset.dtype.newbyteorder("=")
            if dtype.name not in dtypes:
                raise TypeError(f"its type is {dtype} instead of {' or '.join(dtypes)}")
            found = dataset.shape or ()
            if shape is None and not found:
                raise ValueError("it has no rows")
            wanted = found if shape is None else shape
            if len(found) != len(wanted) or any(n not in (None, m) for m, n in zip(found, wanted, strict=True)):
                expected = ", ".join("any" if n is None else str(n) for n in wanted)
                raise ValueError(f"its shape is ({', '.join(map(str, found))}) instead of ({expected})")
            elsewhere = dataset.chunks is not None or dataset.is_virtual
            if not elsewhere and dataset.nbytes > self.path.stat().st_size:
                raise ValueError(f"it has {dataset.nbytes} bytes, more than the file")
        return dataset

    def coordinates(self) -> dict[str, NDArray[np.float64]]:
        """All coordinates in the group /grid of a checkpoint, which have one hash together."""
        lines = {name: self.unhashed(name, (None,), "float64") for name in layout.GRID_LINES}
        grid_hash = 0
        for line in lines.values():
            grid_hash = byte_hash(grid_hash, line.tobytes())
        self._compare("the group '/grid'", "grid", layout.GRID_HASH, grid_hash)
        return lines

    def _check_format(self, file_format: str) -> None:
        with reading(self.path, "the format"):
            found = _scalar(self.h5.attrs.get(layout.ATTR_FORMAT, ""))
            version = _scalar(self.h5.attrs.get(layout.ATTR_FORMAT_VERSION, 0))
        if found != file_format:
            raise InputOutputError(f"{self.path}: is not a '{file_format}' file, or is damaged")
        if isinstance(version, int) and version > layout.FORMAT_VERSION:
            raise InputOutputError(
                f"{self.path}: format version {version} is newer than {layout.FORMAT_VERSION}, the newest this "
                "sluice-post knows; install the sluice_post that belongs to the sluice that wrote the file"
            )

    def _hashed(self, name: str, shape: Shape | None, *dtypes: str) -> NDArray[Any]:
        """A dataset with a hash of its own."""
        data = self.unhashed(name, shape, *dtypes)
        self._compare(f"the dataset '/{name}'", name, layout.HASH, byte_hash(0, data.tobytes()))
        return data

    def _compare(self, what: str, place: str, hash_name: str, found: int) -> None:
        with reading(self.path, f"the hash of {what}"):
            attributes = self.h5[place].attrs
            stored = _scalar(attributes[hash_name]) if hash_name in attributes else None
        if stored is None:
            raise InputOutputError(f"{self.path}: {what} has no attribute '{hash_name}'; the file is damaged")
        if stored != found:
            raise InputOutputError(f"{self.path}: {what} is damaged: it does not have the hash stored with it")


def _scalar(value: Any) -> int | float | str | None:
    """The single number or text of an attribute; None for lists and other types."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.flat[0]
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.floating):
        return float(value)
    return int(value) if isinstance(value, int | np.integer) else None
