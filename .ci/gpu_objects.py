#!/usr/bin/env python3
"""Lists the objects of a GPU build whose compilation a CPU build has not tried.

    gpu_objects.py CPU_BUILD GPU_BUILD     # both with a compile_commands.json

These are the objects that nvcc makes, the sources of GPU builds alone, and the sources that ask for SLUICE_CUDA.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def commands_of(build: str) -> list[dict[str, str]]:
    """The compile commands of a build."""
    commands: list[dict[str, str]] = json.loads((Path(build) / "compile_commands.json").read_text())
    return commands


def main() -> None:
    """Prints the objects."""
    known = {command["file"] for command in commands_of(sys.argv[1])}
    for command in commands_of(sys.argv[2]):
        words = command["command"].split()
        by_nvcc = words[words.index("-x") + 1] == "cu" if "-x" in words else False
        if by_nvcc or command["file"] not in known or "SLUICE_CUDA" in Path(command["file"]).read_text():
            print(words[words.index("-o") + 1])


if __name__ == "__main__":
    main()
