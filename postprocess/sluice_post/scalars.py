"""The scalars that a case transports: diffusivity, walls and source, from the text of a resolved case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sluice_post import layout
from sluice_post.case_text import read_yaml
from sluice_post.hdf5_file import Values


@dataclass(frozen=True)
class ScalarWall:
    """A wall at which a value or a flux into the fluid is given, a number or a formula; `kind` is value or flux."""

    kind: str
    amount: float = 0.0
    formula: str = ""


@dataclass(frozen=True)
class Scalar:
    """A transported scalar: dc/dt + div(u c) = kappa lap c + source, kappa = nu/prandtl.

    `source` is none or the key of the source in the case, such as uniform, and `source_amount` its number.
    """

    name: str
    prandtl: float
    bottom: ScalarWall
    top: ScalarWall
    source: str = "none"
    source_amount: float = 0.0

    @property
    def parity_of_walls(self) -> int:
        """1 if both walls have the same condition, -1 if opposite ones about the scalar's middle, else 0."""
        if self.bottom == self.top:
            return 1
        if self.bottom.formula or self.top.formula:
            return 0
        opposite = self.bottom.kind == "value" or self.bottom.amount == -self.top.amount
        return -1 if self.bottom.kind == self.top.kind and opposite else 0

    @property
    def mirror_parity(self) -> int:
        """The same of walls and source together, in a flow that is its own mirror image: sources are even."""
        return self.parity_of_walls if self.source == "none" or self.parity_of_walls == 1 else 0


def _amount(value: Any) -> tuple[float, str] | None:
    """A number, or the formula or table in time that is given in place of one."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value), ""
    return (0.0, str(value)) if isinstance(value, (str, dict)) else None


def _wall(walls: Any, side: str) -> ScalarWall | None:
    given = walls.get(side) if isinstance(walls, dict) else None
    for kind in ("value", "flux"):
        if isinstance(given, dict) and (amount := _amount(given.get(kind))):
            return ScalarWall(kind, *amount)
    return None


def _scalar(given: Any) -> Scalar | None:
    if not isinstance(given, dict):
        return None
    bottom, top = (_wall(given.get("walls"), side) for side in ("bottom", "top"))
    prandtl = _amount(given.get("prandtl"))
    if bottom is None or top is None or prandtl is None or prandtl[1] or not given.get("name"):
        return None
    source, amount = "none", 0.0
    if isinstance(given.get("source"), dict):
        for kind, value in given["source"].items():
            number = _amount(value)
            if number and not number[1]:
                source, amount = str(kind), number[0]
    return Scalar(str(given["name"]), prandtl[0], bottom, top, source, amount)


def scalars_in(text: str) -> tuple[Scalar, ...]:
    """The scalars of a resolved case, or of the list `scalars` of one; those that cannot be read are left out."""
    case = read_yaml(text)
    listed = case.get(layout.SET_SCALARS) if isinstance(case, dict) else case
    found = [_scalar(given) for given in listed] if isinstance(listed, list) else []
    return tuple(scalar for scalar in found if scalar is not None)


def sampled_scalars(sampled: Values) -> tuple[Scalar, ...]:
    """The scalars of Blocks.sampled_parameters."""
    return scalars_in(str(sampled.get(layout.SET_SCALARS, "")))
