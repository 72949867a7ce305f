"""Hooks of mkdocs.yml.

The site has the pages in their places in the repository, so that links between them work. An asterisk that Markdown
takes for emphasis, as in u*, v*, is a warning, which --strict makes an error.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
# Pages, and the files to which they link.
PATTERNS = [
    "*.md",
    "*.cff",
    "LICENSE",
    "docs/**/*",
    "cases/**/*",
    "machines/*",
    "postprocess/*.md",
    "scripts/*",
    "core/example/*",
    "poisson/**/example/*",
    "solver/example/*",
]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """All files of the site, named from the root of the repository instead of from docs/."""
    theme = [file for file in files if file.src_dir != config.docs_dir]
    found = {path for pattern in PATTERNS for path in ROOT.glob(pattern) if path.is_file()}
    names = sorted(str(path.relative_to(ROOT)) for path in found)
    return Files(theme + [File(name, str(ROOT), config.site_dir, config.use_directory_urls) for name in names])


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Warns of emphasis that begins with a blank or a punctuation mark."""
    for words in re.findall(r"<em>([\s,;.:)][^<]*)</em>", html):
        logging.getLogger("mkdocs.plugins.site").warning(f"{page.file.src_uri}: unmeant emphasis: {words[:60]!r}")
