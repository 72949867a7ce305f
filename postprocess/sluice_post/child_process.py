"""Work in a child process, which may crash: every HDF5 file is written in one."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, TypeVar

from sluice_post.errors import InputOutputError

T = TypeVar("T")


class ChildCrashedError(RuntimeError):
    """The child ended without a result."""


def _work_in_child(work: Callable[[], object], to_parent: int) -> NoReturn:
    """Sends what the work returns or raises; ends without what libraries do at an exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # h5py prints what it cannot raise
        try:
            found: tuple[bool, object] = True, work()
        except BaseException as error:
            found = False, error
        with os.fdopen(to_parent, "wb") as pipe:
            pickle.dump(found, pipe)
    finally:
        os._exit(0)


def in_child(work: Callable[[], T]) -> T:
    """What the work returns or raises, done by a copy of this process.

    HDF5 crashes, at once or when the process exits, after it could not write a file to its end, as on a full disk.
    """
    from_child, to_parent = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(from_child)
        _work_in_child(work, to_parent)
    os.close(to_parent)
    try:
        with os.fdopen(from_child, "rb") as pipe:
            content = pipe.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.waitpid(child, 0)
    if not content:
        raise ChildCrashedError("HDF5 failed, as it does where a disk is full")
    done, found = pickle.loads(content)
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
