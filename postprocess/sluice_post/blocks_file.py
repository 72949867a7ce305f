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
from sluice_post.hashes import byte_hash
from sluice_post.hdf5_file import Hdf5File, Shape, reading

_HEADER = struct.Struct("=8s5Q")  # mark, version, hash of the file, its blocks, words of a record, hash of these
_MARK, _VERSION = b"SluiceJL", 1
_COLUMNS = {
    layout.SAMPLES: "int64",
    layout.TIME_BEGIN: "float64",
    layout.TIME_END: "float64",
    layout.STEP_END: "int64",
    layout.FORCING: "float64",
}


def journal_path(path: Path) -> Path:
    """The journal of a file, which need not exist."""
    return path.with_name(path.name + layout.JOURNAL_SUFFIX)


class BlocksFile(Hdf5File):
    """A file of blocks, open for reading as if it held the blocks of its journal too.

    io/files/stored_blocks.hpp describes the journal.
    """

    def __init__(self, path: Path) -> None:
        # The journal first: a file that a run writes meanwhile holds all that the journal held.
        try:
            self._journal = journal_path(path).read_bytes()
        except FileNotFoundError:
            self._journal = b""
        except OSError as error:
            raise InputOutputError(f"{journal_path(path)}: cannot be read ({error.strerror})") from error
        self._further: dict[str, NDArray[Any]] = {}  # what the journal adds to datasets
        super().__init__(path, layout.STATISTICS_FORMAT)

    def _hashed(self, name: str, shape: Shape | None, *dtypes: str) -> NDArray[Any]:
        further = self._further.get(name)
        if further is None or shape == ():
            return super()._hashed(name, shape, *dtypes)
        if shape and shape[0] is not None:
            shape = (shape[0] - len(further), *shape[1:])
        return np.concatenate([super()._hashed(name, shape, *dtypes), further])

    def _damaged(self, what: str) -> InputOutputError:
        path = journal_path(self.path)
        return InputOutputError(f"{path}: the file is damaged: {what}; move it away to go on without its blocks")

    def _prepare(self) -> None:
        journal = self._journal
        if len(journal) < _HEADER.size:
            return
        mark, version, continued, count, words, stored = _HEADER.unpack(journal[: _HEADER.size])
        if mark != _MARK or version != _VERSION or stored != byte_hash(0, journal[: _HEADER.size - 8]):
            raise self._damaged("it does not begin with the header of a journal of blocks")
        if continued != self.metadata_hash or count != self.integers(layout.SAMPLES).size:
            return  # the file has been written since, and has all blocks
        # A record is the columns and, by name, the profiles of a block.
        with reading(self.path, "the list of profiles"):
            datasets = {name: item for name, item in self.h5.items() if isinstance(item, h5py.Dataset)}
            shapes: dict[str, tuple[int, ...]] = dict.fromkeys(_COLUMNS, ())
            shapes |= {name: item.shape[1:] for name, item in sorted(datasets.items()) if len(item.shape) >= 2}
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        if words != sum(sizes):
            raise self._damaged("its blocks have other profiles than those of the file")
        records = self._records(journal[_HEADER.size :], words, stored)
        parts = np.split(records, np.cumsum(sizes)[:-1], axis=1)
        for (name, shape), part in zip(shapes.items(), parts, strict=True):
            values = np.ascontiguousarray(part).view(_COLUMNS.get(name, "float64"))
            self._further[name] = values.reshape(len(records), *shape)
        if layout.BLOCK in self:
            self._further[layout.BLOCK] = np.arange(count, count + len(records))
        if layout.PARAMETER_SET in self:
            last = self.integers(layout.PARAMETER_SET, count)[-1:]
            self._further[layout.PARAMETER_SET] = np.repeat(last, len(records))

    def _records(self, body: bytes, words: int, before: int) -> NDArray[np.uint64]:
        """The records that were committed: one at the end that is incomplete, or without its hash, was not."""
        size = 8 * (words + 1)
        stored = len(body) // size
        records = np.frombuffer(body[: stored * size], dtype=np.uint64).reshape(stored, words + 1)
        for n, record in enumerate(records):
            before = byte_hash(before, record[:-1].tobytes())
            if before != int(record[-1]):
                if n + 1 < stored or len(body) % size:
                    raise self._damaged("a block in it does not have the hash stored with it")
                return records[:n, :-1]
        return records[:, :-1]
