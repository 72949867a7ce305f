"""The text of a case, as YAML of either version."""

import pytest

from sluice_post.case_text import read_yaml, title_of, value_at, with_points
from sluice_post.checkpoint import order_of, wall_of
from sluice_post.scalars import Scalar, ScalarWall, scalars_in


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('title: "a \\"quoted\\" title: 1 # 2"', 'a "quoted" title: 1 # 2'),
        ('title: "back\\\\slash"', "back\\slash"),
        ('title: "tab\\x09"', "tab\t"),
        ("title: 'it''s'", "it's"),
        ("title: plain # a comment", "plain"),
        ("title: >-\n  two\n  lines", "two lines"),
        ('flow: {type: channel}\n"title": on', "on"),
        ("title: 180", "180"),
        ("title:", ""),
        ("flow:\n  title: inner", ""),
        ("[", ""),
        ("", ""),
    ],
)
def test_titles(text, title):
    assert title_of(text) == title


def test_numbers_and_words_are_those_of_the_case_file():
    text = "{a: 1e-05, b: 1.0e-05, c: -3, d: on, e: none, f: 00:20:00, g: 1.5, h: .5, i: 2E+3, j: true}"
    expected = {"a": 1e-5, "b": 1e-5, "c": -3, "d": "on", "e": "none", "f": "00:20:00", "g": 1.5, "h": 0.5}
    assert read_yaml(text) == {**expected, "i": 2000.0, "j": True}
    assert isinstance(value_at(text, "c"), int)
    assert value_at(text, "a", "b") is None


def test_flow_and_block_style_are_the_same():
    """Also with keys in another order, and a comment that looks like a key."""
    text = """
walls:
  top:
    velocity: [1e-05, 0, 0]
    type: no_slip  # type: free_slip
  bottom: {velocity: [0, 0, 0], actuation: {type: oscillation, amplitude: 1}, type: no_slip}
solver:
  # order: 2
  order: 4
scalars:
- prandtl: 7.1e-01
  walls:
    top: {flux: 1e-05}
    bottom: {value: {times: [0, 1], values: [0, 1]}}
  name: "T"
"""
    assert order_of(text) == 4
    assert wall_of(text, "top").velocity == (1e-5, 0, 0)
    assert wall_of(text, "bottom") is None
    (scalar,) = scalars_in(text)
    assert scalar == Scalar("T", 0.71, ScalarWall("value", formula=scalar.bottom.formula), ScalarWall("flux", 1e-5))
    assert "times" in scalar.bottom.formula


def test_numbers_of_earlier_versions():
    assert with_points("[1e-05, -2e+20, 1.5e-07, 3]") == "[1.0e-05, -2.0e+20, 1.5e-07, 3]"
    assert with_points(with_points("{times: [1e-05]}")) == "{times: [1.0e-05]}"
