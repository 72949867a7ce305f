"""The JSON schema that `sluice init --schema` prints accepts what `sluice check` accepts, and finds mistakes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from sluice_run import case_with, must, sluice

CASES = sorted((Path(__file__).parents[2] / "cases").glob("*/case.yaml"))


class Loader(yaml.SafeLoader):
    """Words such as on and off as YAML 1.2 and editors have them."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads(must(sluice("init", "--schema")).out)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def faults(validator: Any, case: dict[str, Any]) -> list[str]:
    return [f"{list(fault.absolute_path)}: {fault.message}" for fault in validator.iter_errors(case)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_shipped_cases_are_valid(validator: Any, case: Path) -> None:
    assert faults(validator, yaml.load(case.read_text(), Loader)) == []


def test_the_template_is_valid(validator: Any) -> None:
    assert faults(validator, yaml.load(must(sluice("init")).out, Loader)) == []


VALUES = [
    ("walltime", "4h"),
    ("ensemble", {"members": 2, "seeds": [1, 5], "vary": {"flow.reynolds.bulk": [5000, 5600]}}),
    ("ensemble", "none"),
    ("flow.forcing", {"power": {"times": [0, 1], "values": [1, 2], "period": "2*pi"}}),
    ("walltime", "100:00:00"),
    ("walltime", "none"),
    ("solver.order", 4),
    ("solver.order", "2"),
    ("output.statistics.budgets", "off"),
    ("output.statistics.budgets", True),
    ("output.statistics.budgets", "no"),
    ("watchdog", False),
    ("watchdog", "yes"),
    ("output.statistics", "none"),
    ("output.probes", [{"name": "line", "y": [0, "pi/2"], "z": 1, "every": 2}]),
    ("output.log", None),
    ("walls", {"top": "free_slip", "bottom": {"velocity": [0.5, 0, 0]}}),
    ("time.until", {"re_tau": "0.3%", "cf": 0.01}),
    ("parallel", {"grid": [1, 2], "exchange": {"rows": "mpi_p2p"}}),
    ("flow.reynolds", {"viscosity": 3.5e-4}),
    ("initial", {"type": "fields", "file": "start.h5"}),
]
MISTAKES = [
    ("Re_tau", 180),
    ("flow.type", "chanel"),
    ("flow.reynolds", 5600),
    ("flow.reynolds", {"bulk": 5600, "tau": 180}),
    ("flow.reynolds", {}),
    ("flow.reynolds.bulk", "2*2800"),
    ("grid.cells", "32x32x32"),
    ("grid.cells", [32, 32]),
    ("grid.cells", [1, 32, 32]),
    ("grid.stretching", {"type": "uniform", "factor": 2}),
    ("time.cfl", 2),
    ("time.dt", 0.1),
    ("time.end", 5),
    ("walltime", "4w"),
    ("initial", {"type": "fields"}),
    ("output.slices", [{"normal": "q", "at": 1, "every": 1}]),
    ("output.probes", [{"name": "line", "y": 1}]),
    ("output.statistics.budgets", "maybe"),
    ("output.statistics.budgets", 1),
    ("flow.forcing", False),
]


def changed(path: str, value: object) -> dict[str, Any]:
    case = copy.deepcopy(case_with())
    *sections, name = path.split(".")
    node = case
    for section in sections:
        node = node.setdefault(section, {})
    node[name] = value
    return case


@pytest.mark.parametrize(("path", "value"), VALUES)
def test_values_that_are_allowed(validator: Any, tmp_path: Path, path: str, value: object) -> None:
    case = changed(path, value)
    assert faults(validator, case) == []
    (tmp_path / "case.yaml").write_text(json.dumps(case))
    must(sluice("check", tmp_path / "case.yaml", *(["--np", 2] if path == "parallel" else [])))


@pytest.mark.parametrize(("path", "value"), MISTAKES)
def test_mistakes_that_are_found(validator: Any, tmp_path: Path, path: str, value: object) -> None:
    case = changed(path, value)
    assert faults(validator, case)
    (tmp_path / "case.yaml").write_text(json.dumps(case))
    must(sluice("check", tmp_path / "case.yaml"), 2)
