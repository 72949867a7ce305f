"""The new lines of a text file that a run appends to, or replaces when it restarts."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from sluice_post.inputs import open_regular

_MARK_BYTES = 256


class Tail:
    """Reads a growing file in parts of whole lines. The file may appear late, be cut, replaced or removed."""

    def __init__(self, path: Path, part_bytes: int = 1 << 22) -> None:
        self._path = path
        self._part_bytes = part_bytes
        self._offset = 0
        self._mark = b""  # what the file has before the offset
        self._part = b""

    def read(self) -> tuple[list[str], bool]:
        """The next whole lines, and whether they are the first ones because the file is not the one read before.

        The same lines again until they are accepted: on network file systems, new data can be zeros for a moment.
        """
        begun_anew = False
        try:
            with open_regular(self._path) as file:
                if not self._continues(file):
                    begun_anew = True
                    self._offset, self._mark = 0, b""
                file.seek(self._offset)
                part = file.read(self._part_bytes)
        except (FileNotFoundError, NotADirectoryError):
            begun_anew = self._offset > 0
            self._offset, self._mark, part = 0, b"", b""
        self._part = part[: part.rfind(b"\n") + 1]
        return self._part.decode(errors="replace").split("\n")[:-1], begun_anew

    def accept(self) -> bool:
        """Moves on behind the lines read; returns whether there may be more of them already."""
        self._offset += len(self._part)
        self._mark = (self._mark + self._part[-_MARK_BYTES:])[-_MARK_BYTES:]
        return 2 * len(self._part) > self._part_bytes

    def _continues(self, file: BinaryIO) -> bool:
        file.seek(self._offset - len(self._mark))
        return file.read(len(self._mark)) == self._mark
