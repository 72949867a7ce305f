#!/usr/bin/env python3
"""Checks that all places that name the version of Sluice name the same one. CMakeLists.txt decides."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DECIDES = "CMakeLists.txt"
# A file, and the first line of it that names the version.
PLACES = {
    DECIDES: r"project\(Sluice VERSION ([0-9.]+)",
    "pyproject.toml": r'^version = "([0-9.]+)"',
    "postprocess/sluice_post/__init__.py": r'^__version__ = "([0-9.]+)"',
    "CITATION.cff": r"^version: ([0-9.]+)",
    "CHANGELOG.md": r"^## ([0-9.]+) \(",
    "README.md": r"^Version ([0-9.]+)",
    "docs/installation.md": r"sluice-dns_([0-9.]+)_amd64\.deb",
    "docs/development.md": r"the version ([0-9.]+)\+cuda",
}


def problems(texts: dict[str, str]) -> list[str]:
    """The places that do not name the version that CMakeLists.txt has."""
    found = {file: re.search(pattern, texts[file], re.MULTILINE) for file, pattern in PLACES.items()}
    versions = {file: match[1] if match else "no version" for file, match in found.items()}
    return [
        f"{file} has {version}, {DECIDES} {versions[DECIDES]}"
        for file, version in versions.items()
        if version != versions[DECIDES]
    ]


if __name__ == "__main__":
    sys.exit("\n".join(problems({file: (ROOT / file).read_text() for file in PLACES})) or None)
