#!/usr/bin/env python3
"""Checks that includes point down only: between the floors, and between the rooms of a floor.

A file may include files of its own room and of the rooms listed below it here, except of those in NEVER.
docs/development.md shows the same map.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# From the ground up. A floor sees the floors named beside it, and its rooms see the rooms before them.
# "." is the floor's own folder, whose files stand above its rooms.
FLOORS = {
    "core": ([], ["support", "device", "decomp", "stencil"]),
    "model": (["core"], ["."]),
    "poisson": (["core"], ["tridiagonal", "fft", "divergence", "."]),
    "io": (["core", "model"], ["case", "files"]),
    "solver": (
        ["core", "model", "poisson"],
        [
            "grid",
            "state",
            "correction",
            "walls",
            "diffusion",
            "momentum",
            "physics",
            "transport",
            "statistics",
            "derived",
            ".",
        ],
    ),
    "src": (["core", "model", "poisson", "io", "solver"], ["run", "outputs", "bench", "commands", "."]),
    "python": (["core", "model", "poisson", "io", "solver", "src"], ["bindings"]),
}
# Rooms that must never see other rooms below them: installed alone, they are libraries of their own.
NEVER = {("poisson", "fft"): [("core", "stencil"), ("poisson", "tridiagonal")]}
INCLUDE = re.compile(r'^\s*#include "((?:core|model|poisson|io|solver|src|python)/[^"]+)"', re.MULTILINE)


def place_of(file: str) -> tuple[str, str]:
    """The floor and the room of a file such as core/device/memory.hpp."""
    floor, *rest = file.split("/")
    folder = "/".join(rest[:-1]) or "."
    rooms = FLOORS[floor][1]
    inside = [room for room in rooms if folder == room or folder.startswith(room + "/")]
    if not inside:
        where = ".ci/check_includes.py and docs/development.md"
        raise SystemExit(f"{file}: {folder} is no room of {floor}/; add it to {where}")
    return floor, max(inside, key=len)


def allowed(file: str, included: str) -> bool:
    """Whether the first may include the second."""
    floor, room = place_of(file)
    other_floor, other_room = place_of(included)
    if (other_floor, other_room) in NEVER.get((floor, room), []):
        return False
    if floor != other_floor:
        return other_floor in FLOORS[floor][0]
    rooms = FLOORS[floor][1]
    return rooms.index(other_room) <= rooms.index(room)


def main() -> int:
    """Prints every include that points up or sideways; returns 1 if there is any."""
    listed = subprocess.check_output(["git", "ls-files", *FLOORS], text=True).split()
    kept = [file for file in listed if "/example/" not in file and Path(file).exists()]
    sources = [file for file in kept if file.endswith((".hpp", ".cpp"))]
    wrong = [
        f"{file}: must not include {included}"
        for file in sources
        for included in INCLUDE.findall(Path(file).read_text())
        if not allowed(file, included)
    ]
    print("\n".join(wrong) if wrong else f"{len(sources)} files: includes point down only")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
