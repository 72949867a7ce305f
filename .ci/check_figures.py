"""Measured figures that several pages quote (docs/figures.yml) are the same in all of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent


def words(text: str) -> str:
    """The text with line breaks and runs of spaces as single spaces."""
    return " ".join(text.split())


def problems(root: Path, figures: list[dict[str, Any]]) -> list[str]:
    """What is wrong: a page that does not quote a figure as docs/figures.yml says it does."""
    found = []
    pages: dict[str, str] = {}
    for figure in figures:
        missing = {"what", "value", "revision", "source", "quoted"} - figure.keys()
        if missing:
            found.append(f"docs/figures.yml: {figure.get('what')} has no {', '.join(sorted(missing))}")
            continue
        for page, quotes in figure["quoted"].items():
            if page not in pages:
                pages[page] = words((root / page).read_text())
            for quote in quotes:
                expected = words(quote.format(value=figure["value"]))
                if "{value}" not in quote or expected not in pages[page]:
                    found.append(f"{page} does not say '{expected}' ({figure['what']})")
    return found


if __name__ == "__main__":
    listed = yaml.safe_load((ROOT / "docs/figures.yml").read_text())
    sys.exit("\n".join(problems(ROOT, listed)) or None)
