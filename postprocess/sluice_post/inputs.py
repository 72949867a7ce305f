"""Files that are read. A FIFO or a device in place of a file must not keep the reader waiting for ever."""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from pathlib import Path
from typing import BinaryIO

# Windows has no O_NONBLOCK, and texts unless asked for bytes.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)

_MAX_BYTES = 1 << 28  # of a text that a user gives
_FOR_WRITER = 5.0  # seconds until another program opens a pipe
_FOR_TEXT = 60.0  # seconds until the text has ended
_MOMENT = 0.05  # seconds

_of_pipes: dict[Path, bytes] = {}  # which can be read only once


_KINDS = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}


def _open(path: Path, pipes: bool) -> int:
    """The descriptor of a regular file, or of a pipe or character device if `pipes`."""

    def require_kind(mode: int) -> None:
        stream = pipes and (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode))
        if not (stat.S_ISREG(mode) or stream):
            wanted = "a file or pipe" if pipes else "a regular file"
            raise OSError(errno.EINVAL, f"it is {_KINDS.get(stat.S_IFMT(mode), 'a device')}, not {wanted}", str(path))

    require_kind(path.stat().st_mode)
    descriptor = os.open(path, _FLAGS)
    try:
        require_kind(os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def open_regular(path: Path) -> BinaryIO:
    """Opens a regular file for reading; OSError for anything else."""
    return os.fdopen(_open(path, pipes=False), "rb")


def read_bytes(path: Path) -> bytes:
    """The content of a regular file."""
    with open_regular(path) as file:
        return file.read()


def read_text(path: Path, errors: str = "strict") -> str:
    """The text of a regular file."""
    return read_bytes(path).decode("utf-8", errors)


def _read_stream(path: Path, descriptor: int) -> bytes:
    """All that comes until the end."""
    content, has_writer, begin = bytearray(), False, time.monotonic()
    while True:
        # A pipe that no program has opened for writing yet reads as ended, but does not poll as such.
        ready = bool(select.select([descriptor], [], [], _MOMENT)[0])
        try:
            part = os.read(descriptor, 1 << 16)
            if ready and not part:
                return bytes(content)
            has_writer = has_writer or part != b""
            content += part
        except BlockingIOError:  # a program has it open, but has written nothing new
            has_writer = True
        waited = time.monotonic() - begin
        if len(content) > _MAX_BYTES:
            raise OSError(errno.EFBIG, f"it has more than {_MAX_BYTES} bytes", str(path))
        if not has_writer and waited > _FOR_WRITER:
            message = f"no program has opened this pipe for writing in {_FOR_WRITER:g} s"
            raise OSError(errno.ETIMEDOUT, message, str(path))
        if waited > _FOR_TEXT:
            raise OSError(errno.ETIMEDOUT, f"its text has not ended in {_FOR_TEXT:g} s", str(path))


def read_given(path: Path, errors: str = "strict") -> str:
    """The text of a file that a user gives: a regular file, or a pipe such as <(command).

    OSError if it does not end in time or is larger than any such file. A byte-order mark is left out.
    """
    content = _of_pipes.get(path)
    if content is None:
        descriptor = _open(path, pipes=True)
        try:
            content = _read_stream(path, descriptor)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                _of_pipes[path] = content
        finally:
            os.close(descriptor)
    return content.decode("utf-8-sig", errors)
