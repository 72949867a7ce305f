#!/usr/bin/env python3
"""Lists the sources that clang-tidy must read to see every changed C++ file.

    tidy_files.py BUILD FILE...     # changed sources and headers; paths relative to the current folder

These are the changed sources and, for the changed headers that none of them includes, as few others as possible that
do. What no file of the build includes (it belongs to GPU builds) is named on stderr.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

OWN_RULES = "poisson/tridiagonal/"  # its .clang-tidy checks the headers there, with the sources there alone


def includes_of(build: Path) -> dict[str, set[str]]:
    """What each source of a Ninja build includes."""
    root = Path.cwd()

    def relative(path: str) -> str:
        absolute = (build / path).resolve()
        return str(absolute.relative_to(root)) if absolute.is_relative_to(root) else ""

    commands = json.loads((build / "compile_commands.json").read_text())
    source_of = {command["command"].split(" -o ")[1].split()[0]: relative(command["file"]) for command in commands}
    found: dict[str, set[str]] = {source: set() for source in source_of.values() if source}
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True)
    source = ""
    for line in listed.stdout.splitlines():
        if line.startswith(" "):
            found.get(source, set()).add(relative(line.strip()))
        else:
            source = source_of.get(line.partition(": #deps")[0], "")
    return found


def main() -> None:
    """Prints the sources."""
    includes = includes_of(Path(sys.argv[1]).resolve())
    changed = sys.argv[2:]
    chosen = [file for file in changed if file in includes]
    left = {file for file in changed if file not in includes}

    def sees(source: str) -> set[str]:
        return {h for h in includes[source] & left if source.startswith(OWN_RULES) or OWN_RULES not in h}

    for source in chosen:
        left -= sees(source)
    while left:
        best = max(includes, key=lambda source: (len(sees(source)), -len(includes[source])))
        if not sees(best):
            break
        left -= sees(best)
        chosen.append(best)
    if left:
        print("not in this build:", *sorted(left), file=sys.stderr)
    print("\n".join(chosen))


if __name__ == "__main__":
    main()
