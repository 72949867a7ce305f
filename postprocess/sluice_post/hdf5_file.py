"""Reading Sluice's HDF5 files. All that is read has been compared with the hashes stored in the file."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import h5py
import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.hashes import (
    ENDING,
    ENDING_MARK,
    Content,
    byte_hash,
    field_hash,
    metadata_ending,
    metadata_hash,
    ranges_outside,
    values_hash,
)
from sluice_post.inputs import open_regular

Values: TypeAlias = "dict[str, int | float | str]"

# What h5py and NumPy raise for damaged files.
_READING_ERRORS = (OSError, RuntimeError, LookupError, TypeError, ValueError, OverflowError, MemoryError)


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


_SUPERBLOCK = struct.Struct("<8sBB18xQ")  # signature, version, bytes of an address, end of HDF5's data


class _FileBytes:
    """The bytes of an open file: slices of it are read when they are asked for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, os.SEEK_END)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, where: slice, /) -> bytes:
        begin, end, _ = where.indices(self._size)
        self._file.seek(begin)
        return self._file.read(end - begin)


def checked_ranges(content: Content) -> list[tuple[int, int]]:
    """The ranges of bytes without values of fields; all bytes if the file does not have the hash of such ranges.

    Verifies that hash if the file has it: HDF5 may crash on damaged metadata.
    """
    size = len(content)
    if size < _SUPERBLOCK.size:
        return [(0, size)]
    count, stored, mark = ENDING.unpack(content[-ENDING.size :])
    if mark == ENDING_MARK:
        end = size - ENDING.size - 16 * count
        if end >= 0:
            excluded = np.frombuffer(content[end : -ENDING.size], dtype=np.uint64)
            increasing = np.all(excluded[1:] >= excluded[:-1]) and np.all(excluded <= end)
            if increasing and stored == metadata_hash(content, excluded, end):
                return ranges_outside(excluded, end)
        raise ValueError("its contents do not have the hash stored with them")
    signature, version, address_bytes, end = _SUPERBLOCK.unpack(content[: _SUPERBLOCK.size])
    if signature == b"\x89HDF\r\n\x1a\n" and version in (2, 3) and address_bytes == 8 and end < size:
        raise ValueError("its end, with the hash of its contents, is lost")
    return [(0, size)]


_HEAP = b"GCOL\1\0\0\0"


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


def _check_bytes(path: Path) -> None:
    """Verifies what HDF5 does not, without reading the values of fields that have hashes of their own."""
    with open_regular(path) as file:
        content = _FileBytes(file)
        for begin, end in checked_ranges(content):
            _check_heaps(content[begin:end])


def append_metadata_hash(path: Path, excluded: NDArray[np.uint64]) -> None:
    """Ends a file with the hash of its bytes outside these ranges, as Sluice's own files end."""
    with path.open("r+b") as file:
        ending = metadata_ending(_FileBytes(file), excluded)
        file.seek(0, os.SEEK_END)
        file.write(ending)


class Hdf5File:
    """A file of the given format, open for reading; close it, or use it in a `with` statement.

    All methods raise InputOutputError, with the names of the file and of the object, for what is missing, cannot be
    read, or does not have the hash that was stored with it.
    """

    def __init__(self, path: Path, file_format: str) -> None:
        self.path = path
        if not path.is_file():
            raise InputOutputError(f"{path}: no such file")
        with reading(path, "the HDF5 file"):
            _check_bytes(path)
            self._file = h5py.File(path, "r")
        try:
            self._check_format(file_format)
            self.root = self.values("/")
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Hdf5File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __contains__(self, name: str) -> bool:
        with reading(self.path, f"the list of objects with '/{name}'"):
            return name in self._file

    def values(self, group: str) -> Values:
        """The numbers and texts among the attributes of a group."""
        what = f"the group '/{group.strip('/')}'"
        if group != "/" and group not in self:
            raise InputOutputError(f"{self.path}: {what} is missing; the file is damaged")
        with reading(self.path, what):
            attributes = self._file[group].attrs
            values: Values = {}
            for name, stored in attributes.items():
                value = _scalar(stored)
                if value is not None and name != layout.VALUES_HASH:
                    values[name] = value
            self._compare(what, attributes, layout.VALUES_HASH, values_hash(values))
        return values

    def value(self, name: str) -> int | float | str:
        """A root attribute."""
        if name not in self.root:
            raise InputOutputError(f"{self.path}: the attribute '{name}' is missing")
        return self.root[name]

    def integers(self, name: str, count: int | None = None) -> NDArray[np.int64]:
        """A list of integers, of `count` if given."""
        return self._hashed(name, (count,), "int64")

    def reals(self, name: str, *shape: int) -> NDArray[np.float64]:
        """An array of this shape."""
        return self._hashed(name, shape, "float64")

    def field(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """A field, single or double precision in the file."""
        data, attributes = self._data(name, shape, "float32", "float64")
        with reading(self.path, f"the hash of '/{name}'"):
            self._compare(f"the field '/{name}'", attributes, layout.HASH, field_hash(data))
        return data.astype(np.float64)

    def planes(self, name: str, shape: tuple[int, ...]) -> Iterator[NDArray[np.float64]]:
        """The planes of a field along its first axis, one at a time; the last only if the field has its hash."""
        dataset = self._dataset(name, shape, "float32", "float64")
        total = 0
        for n in range(shape[0]):
            with reading(self.path, f"the field '/{name}'"):
                plane = np.asarray(dataset[n]).astype(dataset.dtype.newbyteorder("="))
            total += field_hash(plane, n * plane.size)
            if n == shape[0] - 1:
                self._compare(f"the field '/{name}'", dataset.attrs, layout.HASH, total % 2**64)
            yield plane.astype(np.float64)

    def plane(self, name: str, shape: tuple[int, ...], number: int) -> NDArray[np.float64]:
        """One plane of a field, not compared with the hash of the field."""
        return self.some(name, shape, (number,)).astype(np.float64)

    def some(self, name: str, shape: tuple[int, ...], key: tuple[int | slice, ...]) -> NDArray[Any]:
        """Some values of a field as they are stored, not compared with the hash of the field."""
        dataset = self._dataset(name, shape, "float32", "float64")
        with reading(self.path, f"the field '/{name}'"):
            return np.asarray(dataset[key]).astype(dataset.dtype.newbyteorder("="))

    def shape_of_reals(self, name: str) -> tuple[tuple[int, ...], int]:
        """The shape of an array of real numbers, and the bytes of a number, without reading it."""
        if name not in self:
            raise InputOutputError(f"{self.path}: the dataset '/{name}' is missing; the file is damaged")
        with reading(self.path, f"the dataset '/{name}'"):
            dataset = self._file[name]
            if not isinstance(dataset, h5py.Dataset) or dataset.dtype.kind != "f":
                raise TypeError("it does not hold real numbers")
            return dataset.shape, dataset.dtype.itemsize

    def line(self, name: str) -> NDArray[np.float64]:
        """A list of real numbers of any length."""
        return self._hashed(name, (None,), "float64")

    def datasets(self) -> list[str]:
        """The names of the datasets in the root."""
        with reading(self.path, "the list of datasets"):
            return [name for name, item in self._file.items() if isinstance(item, h5py.Dataset)]

    def groups(self) -> list[str]:
        """The names of the groups in the root."""
        with reading(self.path, "the list of groups"):
            return [name for name, item in self._file.items() if isinstance(item, h5py.Group)]

    def rows(self, name: str) -> NDArray[Any]:
        """All rows of a dataset of numbers, of whatever shape."""
        if name not in self:
            raise InputOutputError(f"{self.path}: the dataset '/{name}' is missing; the file is damaged")
        with reading(self.path, f"the dataset '/{name}'"):
            dataset = self._file[name]
            if not isinstance(dataset, h5py.Dataset):
                raise TypeError("it is not a dataset")
            if not dataset.shape:
                raise ValueError("it has no rows")
            shape = (None, *dataset.shape[1:])
        return self._hashed(name, shape, "float64", "int64")

    def attributes(self, name: str) -> dict[str, Any]:
        """All attributes of a dataset, as they are."""
        with reading(self.path, f"the attributes of '/{name}'"):
            return dict(self._file[name].attrs)

    def copy_group(self, name: str, target: h5py.File) -> None:
        """Copies a group, or the coordinates in one, to another file."""
        with reading(self.path, f"the group '/{name}'"):
            if not isinstance(self._file[name], h5py.Group):
                raise TypeError("it is not a group")
            self._file.copy(name, target)

    def unhashed(self, name: str, shape: tuple[int | None, ...], dtype: str) -> NDArray[Any]:
        """A dataset whose values are in other files, where they have hashes."""
        return self._data(name, shape, dtype)[0]

    def coordinates(self) -> dict[str, NDArray[np.float64]]:
        """All coordinates in the group /grid of a checkpoint, which have one hash together."""
        lines = {name: self._data(name, (None,), "float64")[0] for name in layout.GRID_LINES}
        with reading(self.path, "the group '/grid'"):
            grid_hash = 0
            for line in lines.values():
                grid_hash = byte_hash(grid_hash, line.tobytes())
            self._compare("the group '/grid'", self._file["grid"].attrs, layout.GRID_HASH, grid_hash)
        return lines

    def _check_format(self, file_format: str) -> None:
        with reading(self.path, "the format"):
            found = _scalar(self._file.attrs.get(layout.ATTR_FORMAT, ""))
            version = _scalar(self._file.attrs.get(layout.ATTR_FORMAT_VERSION, 0))
        if found != file_format:
            raise InputOutputError(f"{self.path}: is not a '{file_format}' file, or is damaged")
        if isinstance(version, int) and version > layout.FORMAT_VERSION:
            raise InputOutputError(
                f"{self.path}: format version {version} is newer than {layout.FORMAT_VERSION}, the newest this "
                "sluice-post knows; install the sluice_post that belongs to the sluice that wrote the file"
            )

    def _hashed(self, name: str, shape: tuple[int | None, ...], *dtypes: str) -> NDArray[Any]:
        """A dataset with a hash of its own."""
        data, attributes = self._data(name, shape, *dtypes)
        with reading(self.path, f"the hash of '/{name}'"):
            self._compare(f"the dataset '/{name}'", attributes, layout.HASH, byte_hash(0, data.tobytes()))
        return data

    def _data(
        self, name: str, shape: tuple[int | None, ...], *dtypes: str
    ) -> tuple[NDArray[Any], h5py.AttributeManager]:
        """A dataset, not yet compared with its hash, and its attributes. None in `shape` is any length."""
        dataset = self._dataset(name, shape, *dtypes)
        with reading(self.path, f"the dataset '/{name}'"):
            return np.asarray(dataset[()]).astype(dataset.dtype.newbyteorder("=")), dataset.attrs

    def _dataset(self, name: str, shape: tuple[int | None, ...], *dtypes: str) -> h5py.Dataset:
        """A dataset of this shape and of one of these types."""
        if name not in self:
            raise InputOutputError(f"{self.path}: the dataset '/{name}' is missing; the file is damaged")
        with reading(self.path, f"the dataset '/{name}'"):
            dataset = self._file[name]
            if not isinstance(dataset, h5py.Dataset):
                raise TypeError("it is not a dataset")
            dtype = dataset.dtype.newbyteorder("=")
            if dtype.name not in dtypes:
                raise TypeError(f"its type is {dtype} instead of {' or '.join(dtypes)}")
            found = dataset.shape or ()
            if len(found) != len(shape) or any(n not in (None, m) for m, n in zip(found, shape, strict=True)):
                expected = ", ".join("any" if n is None else str(n) for n in shape)
                raise ValueError(f"its shape is ({', '.join(map(str, found))}) instead of ({expected})")
            elsewhere = dataset.chunks is not None or dataset.is_virtual
            if not elsewhere and dataset.nbytes > self.path.stat().st_size:
                raise ValueError(f"it has {dataset.nbytes} bytes, more than the file")
        return dataset

    def _compare(self, what: str, attributes: h5py.AttributeManager, name: str, found: int) -> None:
        if name not in attributes:
            raise InputOutputError(f"{self.path}: {what} has no attribute '{name}'; the file is damaged")
        if _scalar(attributes[name]) != found:
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
