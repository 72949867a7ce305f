#!/usr/bin/env python3
"""Lists the kernels that spill registers on an AMD GPU, from the remarks of a build with Clang.

    spills.py LOG     # what the build printed, with -Rpass-analysis=kernel-resource-usage

A kernel that several objects have, or that was compiled for several GPUs, counts once, with the most that it spills.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

REMARK = re.compile(r"remark:\s+(VGPRs|AGPRs|ScratchSize \[bytes/lane\]|VGPRs Spill): (\d+)")


def kernels_in(log: str) -> dict[str, dict[str, int]]:
    """What each kernel takes."""
    kernels: dict[str, dict[str, int]] = {}
    for remarks in log.split("Function Name: ")[1:]:
        name = remarks.split()[0]
        uses = {key: int(value) for key, value in REMARK.findall(remarks)}
        if name not in kernels or uses["VGPRs Spill"] > kernels[name]["VGPRs Spill"]:
            kernels[name] = uses
    return kernels


def main() -> None:
    """Prints the number of kernels and a line for each one that spills."""
    kernels = kernels_in(Path(sys.argv[1]).read_text(errors="replace"))
    spilling = {name: uses for name, uses in kernels.items() if uses["VGPRs Spill"] > 0}
    print(f"{len(kernels)} kernels, {len(spilling)} of them spill registers to memory")
    names = subprocess.run(["c++filt"], input="\n".join(spilling), capture_output=True, text=True, check=True)
    lines = zip(names.stdout.splitlines(), spilling.values(), strict=True)
    for name, uses in sorted(lines, key=lambda line: -line[1]["VGPRs Spill"]):
        registers = f"{uses['VGPRs']} + {uses.get('AGPRs', 0)} registers"
        print(f"{uses['VGPRs Spill']:5} of {registers}, {uses['ScratchSize [bytes/lane]']} bytes: {name}")


if __name__ == "__main__":
    main()
