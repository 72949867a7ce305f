"""The errors of Sluice: one class for each exit code of the program, with the same messages."""

from __future__ import annotations


class Error(Exception):
    """Any error of Sluice. The class itself stands for a defect in Sluice."""

    exit_code = 1


class UsageError(Error):
    """A case that is not valid, or a call that is not allowed."""

    exit_code = 2


class RestartError(Error):
    """A checkpoint or a file of initial fields cannot be used."""

    exit_code = 3


class FileError(Error):
    """Any other file that cannot be read or written."""

    exit_code = 4


class NumericsError(Error):
    """The flow is not finite, its time step has collapsed, or an iteration has not converged."""

    exit_code = 5


class ResourcesError(Error):
    """Too little memory, a GPU that is missing, or too many processes."""

    exit_code = 6


class StaleViewError(Error):
    """A field is used after a step, after `Simulation.restore` or after the end of its simulation."""

    exit_code = 2


def class_of_code(code: int) -> type[Error]:
    """The class for an exit code of the program."""
    classes = (UsageError, RestartError, FileError, NumericsError, ResourcesError)
    return next((found for found in classes if found.exit_code == code), Error)
