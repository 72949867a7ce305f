"""Numbers as HTML, and the environment of the templates."""

from __future__ import annotations

import re
from math import isfinite, nan
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sluice_post.printed import NO_INTERVAL, digits_of, is_exact, with_interval


def as_html(printed: str) -> Markup:
    """A number of printed.py, with the signs and powers of ten of HTML: `(1.50 ± 0.11)·10<sup>−4</sup>`."""
    text = re.sub(r"(?<=[\d)])e\+?(-?)0*(\d+)", r"·10<sup>\1\2</sup>", str(escape(printed)))
    return Markup(text.replace("+-", "±").replace("-", "−"))


def number(value: float, half_width: float = nan) -> Markup:
    """A number with as many digits as its interval deserves, else five significant ones."""
    if not isfinite(value):
        return Markup("—")
    if isfinite(half_width) and not is_exact(value, half_width):
        shown, _, exponent = digits_of(value, half_width)
        return as_html(f"{shown}e{exponent}" if exponent else shown)
    return as_html(f"{value:.5g}" if value == 0 or 1e-2 <= abs(value) < 1e6 else f"{value:.3e}")


def interval(value: float, half_width: float) -> Markup:
    """The half width of the interval of a number that `number` prints with it; a dash for round-off."""
    if not isfinite(half_width):
        return Markup(NO_INTERVAL)
    if is_exact(value, half_width):
        return Markup("—")
    _, shown, exponent = digits_of(value, half_width)
    return as_html(f"± {shown}e{exponent}" if exponent else f"± {shown}")


def number_and_interval(value: float, half_width: float) -> Markup:
    """Both, in one place."""
    if not isfinite(half_width) or is_exact(value, half_width):
        return number(value)
    return as_html(with_interval(value, half_width, may_be_zero=True))


def value_of_record(value: Any) -> str:
    """A value of run.json: numbers rounded, lists and groups on one line."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return Markup(" × ").join(value_of_record(item) for item in value)
    if isinstance(value, dict):
        pairs = (Markup("{} {}").format(key, value_of_record(item)) for key, item in value.items())
        return Markup(", ").join(pairs)
    return escape(value)


# Of the pages of `report` and `watch`, and of the answers of verdicts.py.
environment = Environment(
    loader=PackageLoader("sluice_post"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
environment.filters.update(number=number, with_interval=number_and_interval, value_of_record=value_of_record)
