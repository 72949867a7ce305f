"""Values in the JSON of ``sluice bench``, and the tables made of them."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Sequence
from typing import Any


def number(value: Any, name: str) -> float:
    """The value, if it is a finite number; else ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}")
    return float(value)


def positive(value: Any, name: str) -> float:
    """The value, if it is a number above 0; else ValueError."""
    if number(value, name) <= 0:
        raise ValueError(f"{name} is {value!r}")
    return float(value)


def device_type(device: str) -> str:
    """The device without the number of the NUMA node, which differs between machines of one kind."""
    return re.sub(r", host memory on NUMA node \d+$", "", device)


def text_table(lines: Sequence[Sequence[str]], numbers: Container[int]) -> str:
    """Aligned columns; those of numbers on the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if column in numbers else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def csv_line(values: Iterable[str | int | float | None]) -> str:
    """Values with commas between them; None is empty, and six digits of a float are written."""
    texts = ("" if v is None else f"{v:.6g}" if isinstance(v, float) else str(v) for v in values)
    return ",".join('"' + t.replace('"', '""') + '"' if "," in t or '"' in t else t for t in texts)
