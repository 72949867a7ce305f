#!/usr/bin/env python3
"""Checks that no call of MPI ignores its status.

A call stands directly in check_mpi(...), is compared with MPI_SUCCESS, or leaves its status in a variable for which one
of the two is true. Any other call says why on its line: // unchecked: REASON.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from check_rules import FLOORS, code_of

NO_STATUS = "Aint|Comm|Count|Datatype|Group|Info|Op|Request|Status|Win|Aint_add|Aint_diff|Wtick|Wtime"
CALL = re.compile(rf"\b(P?MPI_(?!(?:{NO_STATUS})\b)[A-Z][a-z]\w*)\s*\(")
COMPARED = r"\s*[!=]=\s*MPI_SUCCESS\b"
REASON = re.compile(r"// unchecked: \w")


def end_of_call(code: str, begin: int) -> int:
    """Where the parenthesis that opens just before `begin` is closed."""
    depth = 1
    for place in range(begin, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return len(code)


def is_checked(code: str, begin: int, end: int) -> bool:
    """Whether something looks at the status of the call at [begin, end)."""
    before, after = code[:begin].rstrip(), code[end:]
    if before.endswith("check_mpi(") or re.match(COMPARED, after):
        return True
    kept = re.search(r"(\w+)\s*=$", before)
    rest = after.partition("\n}")[0]  # of this function
    return bool(kept and re.search(rf"\b{kept[1]}{COMPARED}|\bcheck_mpi\(\s*{kept[1]}\b", rest))


def unchecked_calls(text: str) -> list[tuple[int, str]]:
    """Line and name of each call that ignores its status and does not say why."""
    code = code_of(text)
    found = []
    for call in CALL.finditer(code):
        end = end_of_call(code, call.end())
        first, last = text.count("\n", 0, call.start()), text.count("\n", 0, end)
        lines = text.split("\n")[first : last + 1]
        if not is_checked(code, call.start(), end) and not any(REASON.search(line) for line in lines):
            found.append((first + 1, call[1]))
    return found


def main() -> int:
    """Prints every unchecked call; returns 1 if there is any."""
    listed = subprocess.check_output(["git", "ls-files", *FLOORS], text=True).split()
    kept = [file for file in listed if "/example/" not in file and Path(file).exists()]
    sources = [file for file in kept if file.endswith((".hpp", ".cpp"))]
    wrong = [
        f'{file}:{line}: {name} is not checked: write check_mpi({name}(...), "{name}"), '
        "or // unchecked: REASON on its line"
        for file in sources
        for line, name in unchecked_calls(Path(file).read_text())
    ]
    print("\n".join(wrong) if wrong else f"{len(sources)} files: every call of MPI is checked")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
