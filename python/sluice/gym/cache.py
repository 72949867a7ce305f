"""Directories that are made once: one process makes each, the others wait; a half-made one is never seen."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import FileError

log = logging.getLogger("sluice.gym")


def cache_directory(given: str | os.PathLike[str] | None = None) -> Path:
    """The given directory, else $SLUICE_GYM_CACHE, else $XDG_CACHE_HOME/sluice, else ~/.cache/sluice."""
    if given is not None:
        return Path(given)
    own = os.environ.get("SLUICE_GYM_CACHE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "sluice"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of a file. The system releases it when the process ends, however it ends."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            log.info("waiting for another process that holds %s", path)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """The folder, which `make` fills if it is not there. Raises FileError if it cannot be written.

    `make` gets another folder beside it, which then gets its name: the folder is there whole or not at all.
    """
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent / f"{folder.name}.lock"):
            if not folder.is_dir():
                for left in folder.parent.glob(f"{folder.name}.part-*"):  # of a process that was killed
                    shutil.rmtree(left, ignore_errors=True)
                part = Path(tempfile.mkdtemp(prefix=f"{folder.name}.part-", dir=folder.parent))
                try:
                    make(part)
                    part.rename(folder)
                except BaseException:
                    shutil.rmtree(part, ignore_errors=True)
                    raise
    except OSError as error:
        raise FileError(f"the library of initial states {folder} cannot be made: {error}") from error
    return folder
