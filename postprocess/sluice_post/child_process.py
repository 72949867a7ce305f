"""Work in a child process, which may crash: every HDF5 file is written in one."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

from sluice_post.errors import InputOutputError

T = TypeVar("T")


class ChildCrashedError(RuntimeError):
    """The child ended without a result."""


def _send_result(work: Callable[[], object], to_parent: Connection) -> None:
    """Sends whether the work was done, and what it returned or raised."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # h5py prints what it cannot raise
    try:
        to_parent.send((True, work()))
    except BaseException as error:
        to_parent.send((False, error))


def in_child(work: Callable[[], T]) -> T:
    """What the work returns or raises, done by a copy of this process.

    HDF5 crashes, at once or when the process exits, after it could not write a file to its end, as on a full disk.
    """
    fork = multiprocessing.get_context("fork")
    from_child, to_parent = fork.Pipe(duplex=False)
    child = fork.Process(target=_send_result, args=(work, to_parent))
    child.start()
    to_parent.close()
    try:
        done, found = from_child.recv()
    except EOFError:
        raise ChildCrashedError("HDF5 failed, as it does where a disk is full") from None
    finally:
        child.kill()  # it is done, or its result is no longer wanted
        child.join()
    if not done:
        raise found
    return found  # type: ignore[no-any-return]


@contextmanager
def being_written(path: Path) -> Iterator[None]:
    """Within it, what the libraries raise where a file cannot be written becomes an error that names it."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # h5py and zarr raise both where a disk is full
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise InputOutputError(f"{path}: cannot be written ({reason})") from error


def write_whole(path: Path, write: Callable[[Path], T]) -> T:
    """What `write` returns, which makes a file in a child process: the file is there in whole, or as it was before.

    `write` takes the path of a temporary file beside it.
    """
    unfinished = path.with_name(f"{path.name}.tmp")
    try:
        with being_written(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            found = in_child(lambda: write(unfinished))
            unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return found
