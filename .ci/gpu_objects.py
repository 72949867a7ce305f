#!/usr/bin/env python3
"""Lists the objects of a GPU build whose source may be right for CPUs and wrong for GPUs.

    gpu_objects.py CPU_BUILD GPU_BUILD     # Ninja builds with a compile_commands.json; the former is built

These are the objects with kernels, those of sources that only GPU builds have or that ask for SLUICE_GPU, and those
that could hold a loop over cells, which is an error in a GPU build unless the file is compiled for GPUs; of tests, for
the time that they take, only those with kernels.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tidy_files import includes_of

LOOPS = "core/device/parallel_for.hpp"


def commands_of(build: str) -> list[dict[str, str]]:
    """The compile commands of a build."""
    commands: list[dict[str, str]] = json.loads((Path(build) / "compile_commands.json").read_text())
    return commands


def main() -> None:
    """Prints the objects."""
    known = includes_of(Path(sys.argv[1]).resolve())
    for command in commands_of(sys.argv[2]):
        words = command["command"].split()
        source = Path(command["file"]).resolve().relative_to(Path.cwd())
        has_kernels = "-x" in words and words[words.index("-x") + 1] in ("cu", "hip")
        includes = known.get(str(source))
        may_loop = includes is None or (LOOPS in includes and source.parts[0] != "tests")
        if has_kernels or may_loop or "SLUICE_GPU" in source.read_text():
            print(words[words.index("-o") + 1])


if __name__ == "__main__":
    main()
