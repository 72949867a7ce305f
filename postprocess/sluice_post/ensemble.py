"""Ensembles: independent runs in folders that ensemble.json names, and the blocks of those with the same physics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sluice_post import layout
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.inputs import read_text
from sluice_post.statistics import Blocks

INITIAL = "initial."  # keys that begin with it do not change the physics
_GROUPS = ("centre", "face", "planes", "scalars")  # of the sums in Blocks


def text_of(value: object) -> str:
    """A value of a key as the command line has it."""
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True)
class Ensemble:
    """The directories of the members, and what they vary: by the name of the member, a column for each key."""

    directory: Path
    members: tuple[Path, ...]
    varied: pd.DataFrame

    def label_of(self, member: str, *, physical: bool = True, initial: bool = True) -> str:
        """`walls.bottom.slip_length=0.1, initial.seed=2`; which keys it has: of the physics, of the initial state."""
        row = self.varied.loc[member]
        keys = [key for key in row.index if (initial if key.startswith(INITIAL) else physical)]
        return ", ".join(f"{key}={text_of(row[key])}" for key in keys)

    def chosen(self, names: Sequence[str]) -> Ensemble:
        """The members of these names, or KEY=VALUE for all that have this value."""
        kept: set[str] = set()
        for name in names:
            key, _, value = name.partition("=")
            found = [member for member in self.varied.index if member == name]
            if key in self.varied:
                found = [member for member in self.varied.index if _equal(self.varied.loc[member, key], value)]
            if not found:
                there = "; ".join(f"{member}: {self.label_of(member)}" for member in self.varied.index)
                raise UsageError(f"{self.directory}: no member '{name}'; there are {there}")
            kept.update(found)
        members = tuple(member for member in self.members if member.name in kept)
        return replace(self, members=members, varied=self.varied.loc[[member.name for member in members]])

    def groups(self) -> dict[str, Ensemble]:
        """The members with the same physics, by the values that they have in common; one group `` without any."""
        names: dict[str, list[str]] = {}
        for member in self.varied.index:
            names.setdefault(self.label_of(member, initial=False), []).append(member)
        return {label: self.chosen(of) for label, of in names.items()}

    def require_one_physics(self) -> None:
        """An error if the members are of different flows, or if two of them are one run."""
        if len(groups := self.groups()) > 1:
            listed = "; ".join(f"{label} ({', '.join(of.varied.index)})" for label, of in groups.items())
            raise UsageError(
                f"{self.directory}: the members are of different flows, which have no common averages. Choose one "
                f"by --members KEY=VALUE or names, in Python by choose(...) or groups: {listed}"
            )
        first: dict[str, str] = {}
        for member in self.varied.index:
            if (other := first.setdefault(self.label_of(member), member)) != member:
                raise UsageError(f"{self.directory}: {other} and {member} are one run, so they are not independent")


def _equal(value: object, text: str) -> bool:
    try:
        return bool(value == json.loads(text))
    except ValueError:
        return text_of(value) == text


def is_ensemble(directory: Path) -> bool:
    """Whether a directory is that of an ensemble."""
    return (directory / layout.ENSEMBLE_FILE).is_file()


def read_ensemble(directory: Path) -> Ensemble:
    """The ensemble in a directory."""
    path = directory / layout.ENSEMBLE_FILE
    try:
        content: Any = json.loads(read_text(path))
        names, varied = [str(name) for name in content["directories"]], dict(content["varied"])
        if len(names) != content["members"] or len(set(names)) != len(names) or not names:
            raise ValueError("`directories` does not have a name for each member")
        if any(Path(name).name != name or name == ".." for name in names):
            raise ValueError("`directories` holds something else than names of folders in this one")
        if any(not isinstance(values, list) or len(values) != len(names) for values in varied.values()):
            raise ValueError("`varied` does not have a value for each member")
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputOutputError(f"{path}: cannot be used ({error})") from error
    table = pd.DataFrame(varied, index=pd.Index(names, name="member"), dtype=object)
    return Ensemble(directory, tuple(directory / name for name in names), table)


def _check_alike(part: Blocks, first: Blocks, names: Sequence[str]) -> None:
    flow, other = first.sampled_parameters(), part.sampled_parameters()
    if different := [key for key in sorted(flow.keys() | other.keys()) if flow.get(key) != other.get(key)]:
        raise UsageError(f"{names[1]} samples another flow than {names[0]}: {', '.join(different)}")
    same_profiles = all(getattr(part, group).keys() == getattr(first, group).keys() for group in _GROUPS)
    same_heights = all(np.array_equal(part.planes_z[name], z) for name, z in first.planes_z.items())
    if not (same_profiles and same_heights and np.array_equal(part.z_face, first.z_face)):
        raise UsageError(f"{names[1]} has another grid, or other profiles or heights, than {names[0]}")


def _together(parts: Sequence[Blocks]) -> Blocks:
    """The blocks of all parts. They are of one flow."""
    first, values = parts[0], dict[str, Any]()
    for name in ("samples", "time_begin", "time_end", "forcing"):
        values[name] = np.concatenate([getattr(part, name) for part in parts])
    for group in _GROUPS:
        of_parts = [getattr(part, group) for part in parts]
        values[group] = {name: np.concatenate([sums[name] for sums in of_parts]) for name in of_parts[0]}
    return replace(
        first,
        parameter_set=np.zeros(sum(map(len, parts)), dtype=np.int64),
        parameter_sets=(first.sampled_parameters(),) if first.parameter_sets else (),
        member=np.repeat(np.arange(len(parts)), [len(part) for part in parts]),
        **values,
    )


def pooled(parts: Sequence[Blocks], names: Sequence[str], *, in_time: bool = True) -> Blocks:
    """The blocks of members of an ensemble as one block for each: sums of all samples, so averages are of all of them.

    `in_time`: keeps the blocks of all members as well, for intervals in time. A single member stays as it is.
    """
    if len(parts) == 1:
        return parts[0]
    for part, name in zip(parts[1:], names[1:], strict=True):
        _check_alike(part, parts[0], (names[0], name))
    whole = _together([part.joined(np.zeros(1, dtype=np.int64)) for part in parts])
    return replace(whole, member=None, independent=True, in_time=_together(parts) if in_time else None)
