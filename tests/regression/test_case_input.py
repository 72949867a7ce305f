"""The case file and --set through the program: errors, alternatives, paths, locale."""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import yaml
from sluice_run import assert_same_content, checkpoints, must, record, rows, sluice, write_case

BROKEN = """\
title: Broken in many places
flow:
  type: chanel
  reynolds: {bulk: 5600, tau: 180}
domain: {size: [6, 3, 2]}
grid:
  cells: [16, twelve, 32]
time: {steps: -3, cfl: 0.9, dt: 0.1}
output:
  directroy: out
  timeseries: {every: 0}
time: {end: 3}
"""


@pytest.mark.parametrize("subcommand", ["check", "run"])
def test_every_error_at_once_with_its_place(tmp_path: Path, subcommand: str) -> None:
    case = tmp_path / "case.yaml"
    case.write_text(BROKEN)
    message = must(sluice(subcommand, case), 2).err
    for place, parts in {
        "3:9": ["flow.type", "chanel", "channel"],
        "4:": ["flow.reynolds", "bulk", "tau"],
        "7:15": ["grid.cells", "twelve"],
        "10:3": ["directroy", "directory"],
        "11:23": ["output.timeseries.every"],
        "12:1": ["time"],
    }.items():
        lines = [line for line in message.splitlines() if line.startswith(f"{case}:{place}")]
        assert lines, f"nothing about {place} in\n{message}"
        assert all(part in "\n".join(lines) for part in parts), lines


def test_text_that_is_not_yaml(tmp_path: Path) -> None:
    case = tmp_path / "case.yaml"
    case.write_text("flow: {type: channel\ntime: ]\n")
    assert f"{case}:2:" in must(sluice("check", case), 2).err


def resolved(directory: Path) -> str:
    """resolved.yaml, which is also in every file of the run."""
    text = (directory / "resolved.yaml").read_text()
    with h5py.File(checkpoints(directory)[-1]) as file:
        stored = file.attrs["resolved_case"]
        assert (stored.decode() if isinstance(stored, bytes) else stored) == text
    return text


def test_setting_an_alternative_removes_the_others(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"time.steps": None, "time.end": 50})
    must(
        sluice(
            "run",
            case,
            "--set",
            "time.dt=0.02",
            "--set",
            "time.steps=7",
            "--set",
            "flow.reynolds.tau=180",
            "--set",
            "grid.stretching={type: uniform}",
        )
    )
    text = resolved(tmp_path / "out")
    assert "cfl" not in text
    assert "end:" not in text
    assert "bulk:" not in text
    assert rows(tmp_path / "out")["dt"].tolist() == [0.02, 0.02, 0.02]
    assert record(tmp_path / "out")["step"] == 7
    with h5py.File(checkpoints(tmp_path / "out")[-1]) as file:
        np.testing.assert_allclose(np.diff(file["grid/z_node"][...]), 2 / 32)


def test_errors_in_set_name_the_setting(tmp_path: Path) -> None:
    case = write_case(tmp_path)
    message = must(sluice("check", case, "--set", "time.cfll=0.5", "--set", "time.steps=many", "--set", "title"), 2).err
    assert "--set time.cfll=0.5" in message
    assert "time.cfl" in message
    assert "--set time.steps=many" in message
    assert "--set title" in message


def test_steps_on_the_command_line_replace_the_end(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"time.steps": None, "time.end": 50})
    must(sluice("run", case, "--steps", 3))
    assert record(tmp_path / "out")["step"] == 3


def test_the_resolved_case_gives_the_same_run(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"time.steps": 6, "domain.size": ["4*pi/3", "pi", 2]})
    must(sluice("run", case))
    must(sluice("run", tmp_path / "out" / "resolved.yaml", "--output", tmp_path / "again"))
    assert_same_content(checkpoints(tmp_path / "out")[-1], checkpoints(tmp_path / "again")[-1])


def test_paths_in_the_case_resolve_against_its_folder(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    faces = folder / "faces.txt"
    faces.write_text("\n".join(repr(2 * k / 32 + 0.01 * math.sin(math.pi * k / 16)) for k in range(33)))
    write_case(
        folder,
        {"time.steps": 1, "grid.stretching": {"type": "file", "file": "faces.txt"}, "output.directory": "results"},
    )
    must(sluice("run", "../folder/case.yaml", cwd=elsewhere))
    assert checkpoints(folder / "results")
    must(sluice("run", "../folder/case.yaml", "--output", "mine", cwd=elsewhere))
    must(sluice("run", "../folder/case.yaml", "--set", "output.directory=set", cwd=elsewhere))
    assert sorted(path.name for path in elsewhere.iterdir()) == ["mine", "set"]
    must(
        sluice(
            "run",
            "../folder/case.yaml",
            "--output",
            "mine",
            "--restart",
            "mine/checkpoints/step_0000001.h5",
            "--steps",
            "2",
            cwd=elsewhere,
        )
    )
    assert checkpoints(elsewhere / "mine")[-1].name == "step_0000002.h5"

    faces.unlink()
    assert str(faces) in must(sluice("run", "../folder/case.yaml", "--overwrite", cwd=elsewhere), 2).err
    assert checkpoints(folder / "results")


@pytest.mark.parametrize(
    "text", ["0.0 0.5 nonsense", "0 1 2", "\n".join(["0.5"] * 33), "x" * 100000], ids=["word", "few", "equal", "long"]
)
def test_a_bad_file_of_faces_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "faces.txt").write_text(text)
    case = write_case(tmp_path, {"grid.stretching": {"type": "file", "file": "faces.txt"}})
    for outcome in [sluice("check", case), sluice("run", case, ranks=2)]:
        assert "faces.txt" in must(outcome, 2).err
        assert len(outcome.err) < 1000


def test_a_decimal_comma_changes_nothing(tmp_path: Path) -> None:
    """Needs a locale with a decimal comma, from the system or made by localedef."""
    made = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True, check=False
    )
    if made.returncode not in (0, 1) or not (tmp_path / "de_DE.UTF-8").exists():
        pytest.skip("no locale with a decimal comma")
    environment = {"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8"}
    number = subprocess.run(
        ["printf", "%.1f", "1,5"],
        env={**environment, "PATH": "/usr/bin:/bin"},
        text=True,
        capture_output=True,
        check=False,
    ).stdout
    if number != "1,5":
        pytest.skip("the locale does not work")
    case = write_case(tmp_path, {"time.steps": 6})
    must(sluice("run", case))
    must(sluice("run", case, "--output", tmp_path / "comma", env=environment))
    assert must(sluice("check", case)).out == must(sluice("check", case, env=environment)).out
    assert resolved(tmp_path / "out") == resolved(tmp_path / "comma").replace('comma"', 'out"')
    assert (tmp_path / "out" / "timeseries.csv").read_bytes() == (tmp_path / "comma" / "timeseries.csv").read_bytes()
    assert_same_content(checkpoints(tmp_path / "out")[-1], checkpoints(tmp_path / "comma")[-1])


def test_checkpoint_none_still_saves_the_end(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"output.checkpoint": "none"})
    must(sluice("run", case))
    assert [file.name for file in checkpoints(tmp_path / "out")] == ["step_0000024.h5"]


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """All values in maps and lists that are neither."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {name: leaf for key, item in items for name, leaf in leaves(item, f"{path}.{key}").items()}
    return {path: value}


def test_readers_of_yaml_1_1_find_numbers_where_we_wrote_them(tmp_path: Path) -> None:
    """`1e-05` is text to them: a number needs a point and the sign of its exponent."""
    changes: dict[str, Any] = {
        "flow.reynolds": {"viscosity": 1e-5},
        "flow.forcing": {"bulk_velocity": {"times": [0, 2e-5, 3e20], "values": [1, 2e-5, 4e20]}},
        "flow.spanwise_forcing": {"pressure_gradient": 1e-6},
        "walls.top": {"velocity": [3e-6, 2e-7, 0]},
        "scalars": [{"name": "T", "prandtl": 1e-3, "walls": {"bottom": {"value": 2e-6}, "top": {"flux": 1e-9}}}],
        "time": {"steps": 1, "dt": 1e-6},
        "output.checkpoint": {"every": 1e-6},
        "output.probes": [{"name": "a", "x": [2e-7, 1], "y": 1e-5, "z": 1, "every": 2}],
        "initial": {"type": "zero"},
    }
    must(sluice("run", write_case(tmp_path, changes)))
    found = leaves(yaml.safe_load((tmp_path / "out/resolved.yaml").read_text()))
    numbers = re.compile(r"[-+]?[.0-9]+(e[-+]?[0-9]+)?", re.IGNORECASE)
    wrong = [name for name, value in found.items() if isinstance(value, str) and numbers.fullmatch(value)]
    assert wrong == []
    for name, value in {
        ".flow.reynolds.viscosity": 1e-5,
        ".flow.forcing.bulk_velocity.values.1": 2e-5,
        ".flow.forcing.bulk_velocity.times.2": 3e20,
        ".walls.top.velocity.1": 2e-7,
        ".scalars.0.prandtl": 1e-3,
        ".output.probes.0.x.0": 2e-7,
    }.items():
        assert found[name] == value, name


def test_the_template_has_numbers_to_readers_of_yaml_1_1() -> None:
    text = re.sub(r"^( *)# ?(?=[a-z_]+:)", r"\1", must(sluice("init")).out, flags=re.MULTILINE)
    assert not re.findall(r"(?<![\w.])[0-9]+e[-+]?[0-9]+|[0-9]e[0-9]", text)
