"""The text of a case, as resolved.yaml and the attribute `resolved_case` have it, read as YAML 1.2."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import yaml

# Sluice 0.1 wrote 1e-05, which YAML 1.1 takes as text, and on and off are words of our keys, not true and false.
_Loader: Any = type("_Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": {}})
for _kind, _pattern, _first in (
    ("null", r"^(?:~|null|)$", ["~", "n", ""]),
    ("bool", r"^(?:true|false)$", list("tf")),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(_pattern), _first)


@lru_cache(maxsize=16)
def read_yaml(text: str) -> Any:
    """The value that the text stands for; None if it is no YAML. Callers share it: do not change it."""
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def value_at(text: str, *path: str) -> Any:
    """The value of a key of a case, such as `solver`, `order`; None if the case does not have it."""
    value = read_yaml(text)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def title_of(text: str) -> str:
    """The title of a case; empty if it has none."""
    title = value_at(text, "title")
    return "" if title is None else str(title)


def with_points(text: str) -> str:
    """The text with numbers as Sluice writes them now: 1.0e-05 where version 0.1 wrote 1e-05."""
    return re.sub(r"(?<![\w.])([0-9]+)(e[-+][0-9]+)", r"\1.0\2", text)
