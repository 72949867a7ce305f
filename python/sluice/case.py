"""Cases: what a simulation computes."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _core
from .errors import UsageError


def cases_folder() -> Path:
    """The folder of the cases that come with Sluice."""
    installed = Path(__file__).parent / "cases"
    return installed if installed.is_dir() else Path(_core.cases_directory)


def shipped_cases() -> list[str]:
    """The names of the cases that come with Sluice."""
    return sorted(file.parent.name for file in cases_folder().glob("*/case.yaml"))


def _plain(value: object) -> object:
    """NumPy's numbers and arrays, and paths, as JSON has them."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a case cannot hold {value!r}")


def _yaml(value: object) -> str:
    """A value as JSON, which is also YAML."""
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, allow_nan=False, ensure_ascii=False, default=_plain)


class Case:
    """A case, with the keys of the case file (docs/case-reference.md).

    `source`: the name of a case that comes with Sluice, such as "retau180"; the path of a case file; or a dict of
    dicts with the keys of a case file. Relative paths in a case file start from its folder, in a dict from the
    working directory.

    `case["grid.cells"] = [32, 32, 32]` sets a key and removes its alternatives: setting time.dt removes time.cfl. Keys
    are checked all together when a simulation starts, or by `check`. `case["grid.cells"]` reads a key.
    """

    def __init__(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        self._settings: list[str] = []
        if isinstance(source, Mapping):
            self._text = _yaml(source)
            self._file = "<dict>"
            return
        path = Path(source)
        if isinstance(source, str) and source in shipped_cases():
            path = cases_folder() / source / "case.yaml"
        elif isinstance(source, str) and path.name == source and not path.suffix and not path.exists():
            raise UsageError(
                f"there is no case '{source}' in {cases_folder()}; there are: {', '.join(shipped_cases())}"
            )
        self._text = _core.read_case_text(str(path))
        self._file = str(path)

    def __setitem__(self, key: str, value: object) -> None:
        """Sets a key by its path, such as "time.end", to a number, text, bool, None, list or dict."""
        self._settings.append(f"{key}={_yaml(value)}")

    def __getitem__(self, key: str) -> Any:
        """The value of a key in the resolved case, with defaults: a number, text, bool, list, or a dict for a section.

        None if the case has no value for it. Changes to it do not change the case. Raises KeyError if there is no such
        key, and UsageError like `check`.
        """
        if not isinstance(key, str):
            raise TypeError(f"the keys of a case are texts such as 'time.end', not {key!r}")
        if not _core.is_key(key):
            near = " or ".join(repr(one) for one in _core.nearest_keys(key))
            raise KeyError(f"there is no key {key!r} in cases" + (f"; did you mean {near}?" if near else ""))
        value = _core.yaml_values(self.resolved(), self._file)
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def check(self) -> None:
        """Raises UsageError with all problems of the case, if there are any."""
        self.resolved()

    def resolved(self) -> str:
        """The whole case as YAML, with every default filled in. Raises UsageError like `check`."""
        return _core.resolved_case(self._text, self._file, self._settings)

    def copy(self) -> Case:
        """A case that can be changed without changing this one."""
        return copy.deepcopy(self)

    def _with(self, settings: list[str]) -> Case:
        """A copy with further settings KEY=VALUE."""
        case = self.copy()
        case._settings.extend(settings)
        return case

    def _source(self) -> tuple[str, str, list[str]]:
        return self._text, self._file, self._settings

    @classmethod
    def _from_source(cls, text: str, file: str, settings: list[str]) -> Case:
        """The case of _source()."""
        case = cls({})
        case._text, case._file, case._settings = text, file, list(settings)
        return case
