"""docs/papers.md: each statement has its number and a state, the table of counts is right, and named tests exist."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/papers.md"
STATES = ("yes", "in part", "no", "does not apply")


def cells(line: str) -> list[str]:
    """The cells of a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def known_tests(root: Path) -> set[str]:
    """Names of test programs and pytest files, and of the tests in them: Suite.Name, test_name."""
    listed = subprocess.check_output(["git", "ls-files", "tests", "postprocess/tests"], cwd=root, text=True)
    names = set()
    for file in listed.split():
        if file.endswith((".cpp", ".py")) and (root / file).is_file():
            text = (root / file).read_text()
            names |= {Path(file).stem, Path(file).name}
            names |= {f"{suite}.{name}" for suite, name in re.findall(r"\bTEST(?:_[FP])?\((\w+), (\w+)", text)}
            names |= set(re.findall(r"^def (test_\w+)", text, re.MULTILINE))
    return names


def problems(page: str, tests: set[str]) -> list[str]:
    """What is wrong with the page."""
    found = []
    counts: dict[str, Counter[str]] = {}
    claimed: dict[str, list[str]] = {}
    paper = ""
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("## ["):
            paper = line[3 : line.index("]") + 1]
            counts[paper] = Counter()
        elif not paper and re.match(r"\| (\[.*\]|together) \| \d", line):
            claimed[cells(line)[0]] = cells(line)[1:]
        elif re.match(r"\| \d+ \|", line):
            row = cells(line)
            count = counts[paper].total() + 1
            state = next((s for s in STATES if len(row) == 5 and re.match(rf"{s}\b", row[2])), "")
            counts[paper][state] += 1
            if row[0] != str(count):
                found.append(f"{PAGE}:{number}: statement {row[0]} of {paper} is number {count}")
            if not state:
                found.append(f"{PAGE}:{number}: not five cells, the third of which begins with a state")
            named = re.findall(r"`(test_\w+(?:\.py)?)`|\b([A-Z]\w*\.[A-Z]\w+)\b", row[-1])
            found += [f"{PAGE}:{number}: there is no test {name}" for name in map("".join, named) if name not in tests]
    counts["together"] = sum(counts.values(), Counter())
    for name, of_paper in counts.items():
        right = [str(of_paper.total()), *(str(of_paper[state]) for state in STATES)]
        if claimed.get(name) != right:
            found.append(f"{PAGE}: the counts should be | {' | '.join([name, *right])} |")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(problems((ROOT / PAGE).read_text(), known_tests(ROOT))) or None)
