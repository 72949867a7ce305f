"""The case files in docs/guide.md, Flows to copy, are what the text says: whole, valid and runnable."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from sluice_run import must, sluice

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
SECTION = GUIDE.read_text().partition("### Flows to copy\n")[2].partition("\n### ")[0]
FLOWS = {
    name: "".join(line.removeprefix("    ") + "\n" for line in block.splitlines())
    for name, block in re.findall(r"^\*([^*]+)\*(?:[^*]|\n)*?\n\n((?:    .*\n)+)", SECTION + "\n", re.MULTILINE)
}


def test_the_guide_has_the_flows() -> None:
    assert len(FLOWS) == 7, list(FLOWS)


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_of_the_guide(tmp_path: Path, name: str) -> None:
    case = tmp_path / "case.yaml"
    case.write_text(FLOWS[name])
    assert len(FLOWS[name].splitlines()) <= 10
    text = must(sluice("check", case)).out
    assert text.endswith("The case is valid.\n"), text
    found = re.search(r"add `([^`]+) --steps 50`", " ".join(SECTION.split()))
    assert found
    must(sluice("run", case, *shlex.split(found[1]), "--steps", 5))
    header, *rows = (tmp_path / "output" / "timeseries.csv").read_text().splitlines()
    assert rows
    assert rows[-1].startswith("5,")
    assert ("temperature_mean" in header) == ("temperature" in FLOWS[name])
    assert ("power_bottom" in header) == ("actuation" in FLOWS[name])
