"""The recipes of docs/how-to.md, and the case files of other pages, are what the text says: valid and runnable."""

from __future__ import annotations

import copy
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from sluice_run import must, sluice

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("how-to", "from-cans", "from-xcompact3d", "case-file", "flows", "grids", "outputs", "running", "parallel")
# Files that the pieces of cases name.
FILES = {"u_b.csv": "0 1\n6 1.2\n", "pipeline.py": ""}
# A case for pieces: what they set takes the place of these keys.
AROUND: dict[str, Any] = {
    "flow": {"reynolds": {"bulk": 5714}},
    "domain": {"size": ["4*pi", "4*pi/3", 2]},
    "grid": {"cells": [256, 160, 144], "stretching": {"type": "natural", "re_tau": 182}},
    "time": {"end": 1000, "diffusion": "implicit_z"},
    "output": {"statistics": {"start": 100, "block": 20}},
}
SECTIONS = {*AROUND, "title", "walls", "scalars", "initial", "solver", "parallel", "walltime", "watchdog"}


def blocks(page: str) -> list[tuple[str, str]]:
    """The heading above each block of code of a page, and the block."""
    found: list[tuple[str, str]] = []
    heading = ""
    for part in re.split(r"^#+ (.*)\n", (DOCS / f"{page}.md").read_text(), flags=re.MULTILINE):
        code = re.findall(r"(?:^    .*\n)+", part, re.MULTILINE)
        found += [(heading, "".join(line[4:] for line in block.splitlines(keepends=True))) for block in code]
        heading = part if "\n" not in part else heading
    return found


def keys(block: str) -> dict[str, Any]:
    """The keys of a block that is a case file or a piece of one; none if it is something else."""
    try:
        read = yaml.safe_load(block)
    except yaml.YAMLError:
        return {}
    return read if isinstance(read, dict) and read.keys() <= SECTIONS else {}


def cases(*, whole: bool) -> list[Any]:
    """The case files (a flow, its domain, grid and time), or the pieces of one."""
    return [
        pytest.param(block, id=f"{page}: {heading}")
        for page in PAGES
        for heading, block in blocks(page)
        if keys(block) and whole == (keys(block).keys() >= {"flow", "domain", "grid", "time"})
    ]


COMMANDS = sorted(
    {
        line.split("  #")[0].removesuffix(" \\").strip()
        for page in (*PAGES, "first-run", "results")
        for _, block in blocks(page)
        for line in block.replace("\\\n", "").splitlines()
        if re.match(r"(mpirun -n \d+ |srun )?sluice \w", line)
    }
)


def write(folder: Path, text: str) -> Path:
    for name, content in FILES.items():
        (folder / name).write_text(content)
    case = folder / "case.yaml"
    case.write_text(text)
    return case


def test_the_pages_have_cases_and_commands() -> None:
    assert len(cases(whole=True)) >= 12
    assert len(cases(whole=False)) >= 30
    assert len(COMMANDS) >= 20, COMMANDS


def test_every_recipe_is_in_the_list() -> None:
    text = (DOCS / "how-to.md").read_text()
    index = " ".join(text.partition("\n## ")[0].split())
    assert [recipe for recipe in re.findall(r"^##+ (.+)$", text, re.MULTILINE) if f"[{recipe}](#" not in index] == []


@pytest.mark.parametrize("block", cases(whole=False))
def test_a_piece_of_a_case(tmp_path: Path, block: str) -> None:
    case = copy.deepcopy(AROUND)
    for section, value in keys(block).items():
        case[section] = {**case[section], **value} if section in case else value
    text = must(sluice("check", write(tmp_path, yaml.safe_dump(case)), "--np", 4)).out
    assert "The case is valid." in text, text


@pytest.mark.parametrize("block", cases(whole=True))
def test_a_whole_case(tmp_path: Path, block: str) -> None:
    """Each runs, with the settings that docs/how-to.md gives for a try."""
    case = write(tmp_path, block)
    text = must(sluice("check", case)).out
    assert text.endswith("The case is valid.\n"), text
    found = re.search(r"    sluice run case.yaml (.+) --steps 50\n", (DOCS / "how-to.md").read_text())
    assert found
    settings = shlex.split(found[1])
    if keys(block)["flow"].get("type") == "periodic":
        settings = settings[:2]  # its grid must stay uniform
    must(sluice("run", case, *settings, "--output", tmp_path / "out", "--steps", 5))
    header, *rows = (tmp_path / "out" / "timeseries.csv").read_text().splitlines()
    assert rows[-1].startswith("5,")
    assert ("temperature_mean" in header) == ("temperature" in block)
    assert ("power_bottom" in header) == ("actuation" in block)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_the_options(command: str) -> None:
    words = shlex.split(command[command.index("sluice ") :])[1:]
    subcommands = words[:2] if words[0] == "bench" else words[:1]
    text = must(sluice(*subcommands, "--help")).out
    options = [word for word in words if word.startswith("--")]
    assert [option for option in options if not re.search(rf"{option}\b", text)] == []
