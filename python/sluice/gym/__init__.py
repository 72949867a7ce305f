"""Turbulent channel flow as control environments for reinforcement learning. docs/gym.md.

The environments need Gymnasium and PettingZoo: pip install "sluice-dns[gym]". The rest works without them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .config import BodyForce, Config, FlowPlane, Jets, Sensors, SpanwiseMotion, States, WallPressure, WallShear

if TYPE_CHECKING:
    from .controlled_flows import ControlledFlows
    from .env import ChannelEnv
    from .evaluation import Evaluation, evaluate
    from .hydrogym import FlowEnv
    from .parallel import ParallelChannelEnv
    from .states import StateLibrary, WallUnits, library_of
    from .vector import VectorChannelEnv

_MODULES = {
    "ChannelEnv": "env",
    "ControlledFlows": "controlled_flows",
    "Evaluation": "evaluation",
    "FlowEnv": "hydrogym",
    "ParallelChannelEnv": "parallel",
    "StateLibrary": "states",
    "VectorChannelEnv": "vector",
    "WallUnits": "states",
    "evaluate": "evaluation",
    "library_of": "states",
}


def __getattr__(name: str) -> Any:
    """The environments and what else is imported when it is used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if error.name not in ("gymnasium", "pettingzoo"):
            raise
        raise ImportError(
            f'sluice.gym.{name} needs {error.name}, which is not installed: pip install "sluice-dns[gym]"'
        ) from error


def _register() -> None:
    """Makes gymnasium.make("sluice/Channel-v0") work, if Gymnasium is there."""
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:
        return
    if "sluice/Channel-v0" not in registry:
        register(
            "sluice/Channel-v0",
            entry_point="sluice.gym.env:ChannelEnv",
            vector_entry_point="sluice.gym.vector:VectorChannelEnv",
        )


_register()

__all__ = [
    "BodyForce",
    "ChannelEnv",
    "Config",
    "ControlledFlows",
    "Evaluation",
    "FlowEnv",
    "FlowPlane",
    "Jets",
    "ParallelChannelEnv",
    "Sensors",
    "SpanwiseMotion",
    "StateLibrary",
    "States",
    "VectorChannelEnv",
    "WallPressure",
    "WallShear",
    "WallUnits",
    "evaluate",
    "library_of",
]
