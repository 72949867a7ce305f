#!/usr/bin/env python3
"""Counts how far ideas spread over the C++ sources, so that a change can be compared with the state before.

count.py [CUDA_BUILD]    # with a GPU build's folder also the kernels that it holds
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from check_rules import FLOORS, code_of

LISTED = subprocess.check_output(["git", "ls-files", *FLOORS], text=True).split()
SOURCES = {
    file: Path(file).read_text()
    for file in LISTED
    if file.endswith((".hpp", ".cpp")) and "/example/" not in file and Path(file).exists()
}
CODE = {file: code_of(text) for file, text in SOURCES.items()}


def files_with(pattern: str, leave_out: str = "$^") -> list[str]:
    """The files whose code, without comments, matches."""
    return [file for file, code in CODE.items() if re.search(pattern, code) and not re.search(leave_out, file)]


def occurrences(pattern: str) -> int:
    """How often the code matches."""
    return sum(len(re.findall(pattern, code)) for code in CODE.values())


def kernels(build: Path) -> int:
    """Instantiations of kernels in the objects of a GPU build, those of tests apart."""
    objects = [str(file) for file in build.rglob("*.o") if "/tests/" not in str(file)]
    names = subprocess.run(["nm", "-C", *objects], capture_output=True, text=True, check=False).stdout
    return names.count("guard variable for __device_stub")


def main() -> int:
    """Prints the counts."""
    lengths = [text.count("\n") for text in SOURCES.values()]
    vorticity = "center_(loops|quantities)"  # where rotation is that of the fluid
    run_time_order = r"== Order::|with_order|with_constants"
    pending = [file for file in files_with(r"(?i)pending") if not file.startswith("io/")]
    rows = [
        ("files", len(SOURCES)),
        ("lines", sum(lengths)),
        ("files of at most 40 lines", sum(length <= 40 for length in lengths)),
        ("files of more than 400 lines", sum(length > 400 for length in lengths)),
        ("files that name rotation", len(files_with(r"(?i)\brotation|coriolis", vorticity))),
        ("files that name buoyancy", len(files_with(r"(?i)buoyan"))),
        ("files that name opposition control", len(files_with(r"(?i)opposition"))),
        ("files that name actuations", len(files_with(r"(?i)actuation"))),
        ("files that name pending corrections", len(pending)),
        ("files that branch on the order", len(files_with(run_time_order))),
        ("files that name the order", len(files_with(r"\bOrder\b|<order|with_order|with_constants"))),
        ("static_casts", occurrences("static_cast<")),
        ("const_casts", occurrences("const_cast<")),
    ]
    if len(sys.argv) > 1:
        rows.append(("instantiations of kernels", kernels(Path(sys.argv[1]))))
    for what, number in rows:
        print(f"{what:36} {number:7,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
