"""statistics.h5 and files like it, with the journal that holds their newest blocks while a run goes on."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.errors import InputOutputError
from sluice_post.hashes import ENDING, ENDING_MARK, byte_hash
from sluice_post.hdf5_file import Hdf5File, reading

_HEADER = struct.Struct("=8s5Q")  # mark, version, hash of the file, its blocks, words of a record, hash of these
_MARK = b"SluiceJL"
_VERSION = 1
_COLUMNS = (
    (layout.SAMPLES, "int64"),
    (layout.TIME_BEGIN, "float64"),
    (layout.TIME_END, "float64"),
    (layout.STEP_END, "int64"),
    (layout.FORCING, "float64"),
)


def journal_path(path: Path) -> Path:
    """The journal of a file, which need not exist."""
    return path.with_name(path.name + layout.JOURNAL_SUFFIX)


def _bytes_if_there(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be read ({error.strerror})") from error


def _metadata_hash(path: Path) -> int | None:
    """The hash at the end of an HDF5 file; None if it has none."""
    with reading(path, "the HDF5 file"):
        content = path.read_bytes() if path.stat().st_size < ENDING.size else _end_of(path)
    if len(content) < ENDING.size:
        return None
    _, stored, mark = ENDING.unpack(content)
    return int(stored) if mark == ENDING_MARK else None


def _end_of(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-ENDING.size, 2)
        return file.read()


class BlocksFile(Hdf5File):
    """A file of blocks, open for reading as if it held the blocks of its journal too.

    io/files/stored_blocks.hpp describes the journal.
    """

    def __init__(self, path: Path) -> None:
        # The journal first: a file that a run writes meanwhile holds all that the journal held.
        self._journal = _bytes_if_there(journal_path(path))
        found = _metadata_hash(path) if self._journal and path.is_file() else None
        super().__init__(path, layout.STATISTICS_FORMAT)
        self._further: dict[str, NDArray[Any]] = {}
        try:
            if len(self._journal) >= _HEADER.size:
                self._read_journal(found)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> BlocksFile:
        return self

    def _hashed(self, name: str, shape: tuple[int | None, ...], *dtypes: str) -> NDArray[Any]:
        further = self._further.get(name)
        if further is None or not shape:
            return super()._hashed(name, shape, *dtypes)
        count = shape[0] if shape[0] is None else shape[0] - len(further)
        return np.concatenate([super()._hashed(name, (count, *shape[1:]), *dtypes), further])

    def _damaged(self, what: str) -> InputOutputError:
        path = journal_path(self.path)
        return InputOutputError(f"{path}: the file is damaged: {what}; move it away to go on without its blocks")

    def _read_journal(self, file_hash: int | None) -> None:
        mark, version, continued, count, words, stored = _HEADER.unpack(self._journal[: _HEADER.size])
        if mark != _MARK or version != _VERSION or stored != byte_hash(0, self._journal[: _HEADER.size - 8]):
            raise self._damaged("it does not begin with the header of a journal of blocks")
        samples = self.integers(layout.SAMPLES)
        if continued != file_hash or count != samples.size:
            return  # the file has been written since, and has all blocks
        shapes = self._profile_shapes()
        if words != len(_COLUMNS) + sum(int(np.prod(shape)) for shape in shapes.values()):
            raise self._damaged("its blocks have other profiles than those of the file")
        records = self._records(words, stored)
        for n, (name, dtype) in enumerate(_COLUMNS):
            self._further[name] = np.ascontiguousarray(records[:, n]).view(dtype)
        begin = len(_COLUMNS)
        for name, shape in sorted(shapes.items()):
            end = begin + int(np.prod(shape))
            values = np.ascontiguousarray(records[:, begin:end]).view("float64")
            self._further[name] = values.reshape(len(records), *shape)
            begin = end
        if layout.BLOCK in self:
            self._further[layout.BLOCK] = np.arange(count, count + len(records))
        if layout.PARAMETER_SET in self:
            last = super()._hashed(layout.PARAMETER_SET, (count,), "int64")[-1:]
            self._further[layout.PARAMETER_SET] = np.repeat(last, len(records))

    def _profile_shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the profiles of a block, by name."""
        with reading(self.path, "the list of profiles"):
            return {
                name: item.shape[1:]
                for name, item in self._file.items()
                if isinstance(item, h5py.Dataset) and len(item.shape) >= 2
            }

    def _records(self, words: int, before: int) -> NDArray[np.uint64]:
        """The records that were committed: one at the end that is incomplete, or without its hash, was not."""
        body = self._journal[_HEADER.size :]
        size = 8 * (words + 1)
        stored = len(body) // size
        records = np.frombuffer(body[: stored * size], dtype=np.uint64).reshape(stored, words + 1)
        for n, record in enumerate(records):
            before = byte_hash(before, record[:-1].tobytes())
            if before != int(record[-1]):
                if n + 1 < stored or len(body) % size:
                    raise self._damaged("a block in it does not have the hash stored with it")
                return records[:n]
        return records
