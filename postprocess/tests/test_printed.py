"""How numbers and their intervals are printed."""

from __future__ import annotations

from math import nan

import pytest

from sluice_post.printed import at_place, digits_of, peak_place, width_text, with_interval
from sluice_post.study_tables import place_text


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (2.63912, 0.0123, "2.639 +- 0.012"),
        (179.2912, 1.3, "179.3 +- 1.3"),
        (2.63912, 0.0999, "2.64 +- 0.10"),
        (1.5e-4, 1.1e-5, "(1.50 +- 0.11)e-4"),
        (1.6e-4, 1.1e-3, "0.0002 +- 0.0011"),
        (1.23456e9, 2e7, "(1.235 +- 0.020)e9"),
        (4321.0, 110.0, "4320 +- 110"),
        (-0.004, 0.11, "0.00 +- 0.11"),
        (0.5, 42000.0, "0 +- 42000"),  # larger intervals: the same decimals
        (123.456, 9999.0, "0 +- 10000"),
        (2.0, 4.2e7, "(0.0 +- 4.2)e7"),  # beyond that one power for both
        (2e-5, 4.2e-4, "(0.2 +- 4.2)e-4"),
        (3.4e7, 5.6e8, "(0.3 +- 5.6)e8"),
        (1.0, 1.7e-17, "1"),
        (0.0, 0.0, "0"),
        (2.63912, None, "2.6391"),
        (179123.4, None, "179120"),
        (1791234.0, None, "1.7912e+06"),
        (2.63912, nan, "2.639 (no interval)"),
        (nan, 0.1, "not defined"),
    ],
)
def test_value_and_interval_have_matching_digits(value: float, half_width: float | None, text: str) -> None:
    assert with_interval(value, half_width, may_be_zero=True) == text


def test_a_number_whose_interval_contains_zero_is_not_determined_unless_it_may_be_zero() -> None:
    assert with_interval(42, 110, " %") == "not determined (40 +- 110 %)"
    assert with_interval(42, 110, " %", may_be_zero=True) == "40 +- 110 %"
    assert with_interval(-42, 41) == "-42 +- 41"


def test_differences_near_zero_are_compared_with_their_scale() -> None:
    assert with_interval(3e-16, 2e-15, " %", sign="+", may_be_zero=True, scale=100.0) == "+0 %"
    assert with_interval(0.25, 0.2, " %", sign="+", may_be_zero=True, scale=100.0) == "+0.25 +- 0.20 %"


def test_digits_for_two_columns_and_of_a_half_width_alone() -> None:
    assert digits_of(1.5e-4, 1.1e-5) == ("1.50", "0.11", -4)
    assert [width_text(width) for width in (0.1, 110, 0.00123, 4.2e-7)] == ["0.10", "110", "0.0012", "4.2e-07"]


def test_the_place_of_a_maximum_has_a_range() -> None:
    assert peak_place(0.83, 0.42, 1.3) == "0.83 (0.42 to 1.3)"
    assert peak_place(1093, 364.5, 12345) == "1090 (364 to 12300)"
    assert peak_place(0.83, 0.83, 0.83) == "0.83"
    assert peak_place(0.83, nan, nan) == "0.83 (no interval)"


def test_a_place_that_is_not_determined() -> None:
    assert place_text(15.2, 0.31) == " at 15.20 ± 0.31"
    assert place_text(15.2, nan) == " at 15.2"
    assert place_text(0.4, 160.0) == ", place not determined (0 ± 160)"
    assert at_place(15.2, 0.31) == " at z+ = 15.20 +- 0.31"
    assert at_place(100.0, 1000.0) == " at a z+ that is not determined (100 +- 1000)"
