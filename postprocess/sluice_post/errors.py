"""Errors that end the program with one message and an exit code."""

from __future__ import annotations

from importlib.util import find_spec

EXIT_USAGE = 2
EXIT_INPUT_OUTPUT = 4


class PostError(Exception):
    """What went wrong, where and what to do about it, in one message."""

    exit_code = 1


class UsageError(PostError):
    """The command asks for something that cannot be done."""

    exit_code = EXIT_USAGE


class InputOutputError(PostError):
    """A file is missing, unreadable or not what it should be, or cannot be written."""

    exit_code = EXIT_INPUT_OUTPUT


class NoBlocksError(InputOutputError):
    """A file has no block, or no sample between the chosen times, that can be used."""


def require_installed(extra: str, *modules: str) -> None:
    """An error if a module is missing that an extra of this package brings. The package is on no registry."""
    for module in modules:
        if find_spec(module) is None:
            how = f"In the folder of Sluice's sources: pip install './postprocess[{extra}]'"
            raise UsageError(f"{module} is not installed. {how}")
