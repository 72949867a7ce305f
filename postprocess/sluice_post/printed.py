"""Numbers as people read them: a value and the half width of its 95 % interval, with matching digits.

Every number with an interval is printed by this module. The interval has two significant digits, and the value ends at
the same decimal, also where the interval is the larger one. Both are in fixed notation, and beyond 0.001 and 10^6 have
one power of ten in common. Four cases have no interval:

- exact, or known to round-off (`half_width` is None, or tiny): the value alone;
- the interval is not known, as for a single block (`half_width` is NaN): `2.639 (no interval)`;
- the interval contains 0 although the quantity cannot be 0: `not determined (40 +- 110)`;
- the value is not defined (NaN): `not defined`.
"""

from __future__ import annotations

import re
from math import floor, inf, isfinite, log10

ROUND_OFF = 1e-9  # an interval that is narrower, relative to the value, is no sampling error
NO_INTERVAL = "no interval"
NOT_DETERMINED = "not determined"
NOT_DEFINED = "not defined"
_SMALL, _LARGE = 1e-3, 1e6  # beyond these, a power of ten is set apart
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_PRINTED = re.compile(rf"(\({_NUMBER} \+- {_NUMBER}\)(?=e)|{_NUMBER}(?: \+- {_NUMBER})?)(?:e([+-]?\d+))?")


def is_exact(value: float, half_width: float | None, scale: float = 0.0) -> bool:
    """Whether a number has no sampling error, only round-off. `scale`: of numbers that are differences near 0."""
    return half_width is None or half_width <= ROUND_OFF * max(abs(value), scale)


def is_determined(value: float, half_width: float | None) -> bool:
    """Whether an interval leaves out 0; so does one that is not known."""
    return half_width is None or not half_width >= abs(value) or is_exact(value, half_width)


def rounded(value: float, digits: int, sign: str = "") -> str:
    """A number with so many significant digits, in fixed notation up to 10^6."""
    text = f"{value:{sign}.{digits}g}"
    return f"{float(text):{sign}.0f}" if "e+" in text and abs(float(text)) < _LARGE else text


def _fixed(value: float, half_width: float, sign: str = "") -> str:
    """A number that ends at the second significant digit of the half width."""
    decimals = 1 - floor(log10(float(f"{half_width:.1e}")))
    return f"{round(value, decimals) + 0.0:{sign}.{max(decimals, 0)}f}"  # never -0


def digits_of(value: float, half_width: float, sign: str = "") -> tuple[str, str, int]:
    """Value and half width with matching digits, and the power of ten that multiplies both: 0, or set apart."""
    largest = max(abs(value), half_width)
    exponent = 0 if _SMALL <= largest < _LARGE else floor(log10(largest))
    value, half_width = value / 10.0**exponent, half_width / 10.0**exponent
    return _fixed(value, half_width, sign), _fixed(half_width, half_width), exponent


def width_text(half_width: float) -> str:
    """A half width alone, or a bound, with two significant digits."""
    if 1e-2 * _SMALL <= half_width < _LARGE:
        return _fixed(half_width, half_width)
    return f"{half_width:.1e}" if 0 < half_width < inf else f"{half_width:g}"


def exact_text(value: float, sign: str = "", scale: float = 0.0, digits: int = 5) -> str:
    """A number that has no interval; 0 if it is no more than round-off of `scale`."""
    return rounded(0.0 if abs(value) <= ROUND_OFF * scale else value, digits, sign)


def with_interval(
    value: float,
    half_width: float | None,
    unit: str = "",
    *,
    sign: str = "",
    may_be_zero: bool = False,
    scale: float = 0.0,
    plus_minus: str = "+-",
) -> str:
    """For example `2.639 +- 0.012`, `40 +- 110 %`, `(1.50 +- 0.11)e-4`; the other cases are those of the module.

    `may_be_zero`: for differences, correlations and other numbers that say something even if their interval contains 0.
    """
    if not isfinite(value):
        return NOT_DEFINED
    if half_width is None or is_exact(value, half_width, scale):
        return exact_text(value, sign, scale) + unit
    if not isfinite(half_width):
        return f"{exact_text(value, sign, scale, 4)}{unit} ({NO_INTERVAL})"
    shown, width, exponent = digits_of(value, half_width, sign)
    text = f"{shown} {plus_minus} {width}"
    text = f"({text})e{exponent}{unit}" if exponent else text + unit
    return text if may_be_zero or is_determined(value, half_width) else f"{NOT_DETERMINED} ({text})"


def in_math(printed: str) -> str:
    r"""What `with_interval` prints, with its numbers in the math mode of LaTeX: `$181.84 \pm 0.48$`."""

    def math(found: re.Match[str]) -> str:
        power = "" if found[2] is None else rf" \times 10^{{{int(found[2])}}}"
        return f"${found[1]}{power}$".replace("+-", r"\pm")

    return _PRINTED.sub(math, printed)


def at_place(place: float, half_width: float | None, *, heading: bool = False, plus_minus: str = "+-") -> str:
    """Text to follow the value of a peak: ` at z+ = 15.2 +- 0.3`, or that its place is not determined.

    `heading`: whether a heading says already that places are z+.
    """
    text = with_interval(place, half_width, plus_minus=plus_minus)
    if is_determined(place, half_width):
        return f" at {text}" if heading else f" at z+ = {text}"
    return f", place {text}" if heading else f" at a z+ that is {text}"


def count_of(count: int, what: str) -> str:
    """`1 block`, `2 blocks`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def peak_place(place: float, low: float, high: float, digits: int = 3) -> str:
    """Where a maximum is, and the range in which it may be: `0.83 (0.42 to 1.3)`; no range if it is nowhere else."""
    text = rounded(place, digits)
    if not (isfinite(low) and isfinite(high)):
        return f"{text} ({NO_INTERVAL})"
    return text if low == high else f"{text} ({rounded(low, digits)} to {rounded(high, digits)})"
