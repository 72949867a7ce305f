"""The compiled module, _double or _single: that of the precision of the process's simulations.

The first simulation chooses it. Until then it is the first that this build has: what a program can do without a
simulation is the same in both.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

precisions = tuple(one for one in ("double", "single") if find_spec(f"{__package__}._{one}") is not None)
if not precisions:
    raise ImportError(f"{__package__} has neither of its compiled modules, _double and _single")

_module = import_module(f"._{precisions[0]}", __package__)
_chosen = False


def _module_for(text: str, settings: list[str]) -> ModuleType:
    """The module for a case; the first one if this build has none, whose error then says so."""
    asked = _module.asked_precision(text, settings)
    return import_module(f"._{asked if asked in precisions else precisions[0]}", __package__)


def choose(text: str, settings: list[str]) -> None:
    """Chooses the module for a simulation of this case. Raises UsageError if the process has another precision."""
    global _module, _chosen
    wanted = _module_for(text, settings)
    if _chosen and wanted is not _module:
        from .errors import UsageError

        raise UsageError(
            f"solver.precision is {wanted.precision}, but this process has had a simulation in {_module.precision} "
            "precision: start another process for this case"
        )
    _module, _chosen = wanted, True


def resolved_case(text: str, file: str, settings: list[str]) -> str:
    """The case with its defaults, by the module that would simulate it."""
    return str(_module_for(text, settings).resolved_case(text, file, settings))


def __getattr__(name: str) -> Any:
    return getattr(_module, name)
