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
    def is_between_walls(self) -> bool:
        """Whether Nu is that of two walls at different values, which is 1 in conduction; else that of a heated channel.

        Without a source, what enters at one wall leaves at the other.
        """
        return self.source == "none"

    @property
    def parity_of_walls(self) -> int:
        """1 if both walls have the same condition, -1 if opposite ones about the scalar's middle, else 0."""
        if self.bottom == self.top:
            return 1
        if self.bottom.formula or self.top.formula or self.bottom.kind != self.top.kind:
            return 0
        return -1 if self.bottom.kind == "value" or self.bottom.amount == -self.top.amount else 0

    @property
    def mirror_parity(self) -> int:
        """The same of walls and source together, in a flow that is its own mirror image: sources are even."""
        return self.parity_of_walls if self.source == "none" or self.parity_of_walls == 1 else 0


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _wall(given: Any) -> ScalarWall | None:
    for kind, value in given.items() if isinstance(given, dict) else ():
        if kind in ("value", "flux") and (number := _number(value)) is not None:
            return ScalarWall(kind, number)
        if kind in ("value", "flux") and isinstance(value, (str, dict)):  # a formula, or a table in time
            return ScalarWall(kind, formula=str(value))
    return None


def _scalar(given: Any) -> Scalar | None:
    given = given if isinstance(given, dict) else {}
    walls, source = ({} if not isinstance(of := given.get(key), dict) else of for key in ("walls", "source"))
    bottom, top, prandtl = _wall(walls.get("bottom")), _wall(walls.get("top")), _number(given.get("prandtl"))
    if bottom is None or top is None or prandtl is None or not given.get("name"):
        return None
    amounts = {str(kind): number for kind, value in source.items() if (number := _number(value)) is not None}
    kind, amount = list(amounts.items())[-1] if amounts else ("none", 0.0)
    return Scalar(str(given["name"]), prandtl, bottom, top, kind, amount)


def scalars_in(text: str) -> tuple[Scalar, ...]:
    """The scalars of a resolved case, or of the list `scalars` of one; those that cannot be read are left out."""
    case = read_yaml(text)
    listed = case.get(layout.SET_SCALARS) if isinstance(case, dict) else case
    found = [_scalar(given) for given in listed] if isinstance(listed, list) else []
    return tuple(scalar for scalar in found if scalar is not None)


def sampled_scalars(sampled: Values) -> tuple[Scalar, ...]:
    """The scalars of Blocks.sampled_parameters."""
    return scalars_in(str(sampled.get(layout.SET_SCALARS, "")))
