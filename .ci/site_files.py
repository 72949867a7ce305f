"""Hook of mkdocs.yml: the site has the pages in their places in the repository, so that links between them work."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

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
