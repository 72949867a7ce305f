"""No module of sluice_post needs itself, not even through others or for types alone."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import sluice_post

PACKAGE = Path(sluice_post.__file__).parent


def name_of(path: Path) -> str:
    """sluice_post.datasets.fields"""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py")}


def imported_by(path: Path) -> set[str]:
    """The modules of sluice_post that a module imports anywhere; `from sluice_post import a` imports sluice_post.a."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= submodules & MODULES.keys() or {str(node.module)}
    return found & MODULES.keys()


def test_modules_do_not_import_each_other() -> None:
    graph = {name: imported_by(path) for name, path in MODULES.items()}
    assert "sluice_post.plots" in graph["sluice_post.opened_run"]
    TopologicalSorter(graph).prepare()  # CycleError names the modules of a cycle
