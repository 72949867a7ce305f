"""The scalars that a case transports: diffusivity, walls and source, from the text of a resolved case."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sluice_post import layout
from sluice_post.hdf5_file import Values

_NUMBER = r"[-+0-9.eE]+"


@dataclass(frozen=True)
class ScalarWall:
    """A wall at which a value or a flux into the fluid is given, a number or a formula; `kind` is value or flux."""

    kind: str
    amount: float = 0.0
    formula: str = ""


@dataclass(frozen=True)
class Scalar:
    """A transported scalar: dc/dt + div(u c) = kappa lap c + source, kappa = nu/prandtl.

    `source` is none, uniform, streamwise or bulk_value, as in the case, and `source_amount` its number.
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


def _number(name: str, text: str) -> float | None:
    found = re.search(rf"\b{name}: *({_NUMBER})", text)
    return float(found.group(1)) if found else None


def _wall(side: str, text: str) -> ScalarWall | None:
    found = re.search(rf'\b{side}: *\{{(value|flux): *(?:({_NUMBER})|"(.*?)")\}}', text)
    return ScalarWall(found.group(1), float(found.group(2) or 0), found.group(3) or "") if found else None


def scalars_in(text: str) -> tuple[Scalar, ...]:
    """The scalars in `scalars` of a resolved case; those that cannot be read are left out."""
    found = []
    for line in re.findall(r"^ *- *\{(name: .*)\} *$", text, re.MULTILINE):
        name = re.match(r'name: *"?([A-Za-z][A-Za-z0-9_]*)', line)
        bottom, top = _wall("bottom", line), _wall("top", line)
        prandtl = _number("prandtl", line)
        if name is None or bottom is None or top is None or prandtl is None:
            continue
        source = re.search(rf"\bsource: *\{{(\w+): *({_NUMBER})\}}", line)
        kind, amount = (source.group(1), float(source.group(2))) if source else ("none", 0.0)
        found.append(Scalar(name.group(1), prandtl, bottom, top, kind, amount))
    return tuple(found)


def sampled_scalars(sampled: Values) -> tuple[Scalar, ...]:
    """The scalars of Blocks.sampled_parameters."""
    return scalars_in(str(sampled.get(layout.SET_SCALARS, "")))
