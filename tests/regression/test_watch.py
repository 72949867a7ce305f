"""`sluice-post watch` in a browser follows a run from before its start, through a kill and a restart, to its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sluice_run import ENDLESS, checkpoints, finish, kill_all, must, rows, start, step_of, wait_until, write_case

pytest.importorskip("bokeh", reason="the extra `watch` of sluice_post is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
pytest.importorskip("sluice_post")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium: install the package chromium")

CASE = {
    "grid.cells": [48, 32, 64],
    "time.steps": ENDLESS,
    "output.timeseries": {"every": 2},
    "output.checkpoint": {"every": 1.0, "keep": 2},
    "output.statistics": {"start": 0.2, "every": 3, "block": 0.3},
}
READY = "() => window.Bokeh && Bokeh.documents.length > 0 && Bokeh.documents[0].is_idle"
STEPS = "() => Array.from(Bokeh.documents[0].get_model_by_name('re_tau').renderers[0].data_source.data.step)"


@dataclass
class Watch:
    """The command, and where its page is."""

    process: subprocess.Popen[str]
    url: str


@dataclass
class View:
    """A page in the browser, and what it asked for and complained about."""

    page: Any
    addresses: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def load(self, url: str) -> float:
        """Seconds until all graphs are drawn."""
        begin = time.monotonic()
        self.page.goto(url)
        self.page.wait_for_function(READY)
        return time.monotonic() - begin

    def state(self) -> str:
        """The line with the state."""
        return str(self.page.locator(".state-line").inner_text())

    def wait_for(self, text: str, timeout: float = 60) -> None:
        """Until the line with the state has this text."""
        wait_until(lambda: text in self.state(), f"'{text}' on the page, which shows '{self.state()}'", timeout)

    def steps(self) -> list[int]:
        """Of the rows in the graphs."""
        return [int(step) for step in self.page.evaluate(STEPS)]


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    process = subprocess.Popen(
        [sys.executable, "-m", "sluice_post", "watch", str(tmp_path / "out"), "--no-browser"],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        yield Watch(process, line.split()[1])
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def view() -> Iterator[View]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER)
        view = View(browser.new_page(viewport={"width": 1280, "height": 900}))
        view.page.on("request", lambda request: view.addresses.append(request.url))
        view.page.on("pageerror", lambda error: view.errors.append(str(error)))
        view.page.on("console", lambda line: view.errors.append(line.text) if line.type == "error" else None)
        yield view
        browser.close()


def last_step(out: Path) -> int:
    """Of the rows that the file has."""
    line = (out / "timeseries.csv").read_text().rpartition("\n")[0].rpartition("\n")[2]
    return int(line.partition(",")[0])


def files_of(directory: Path) -> dict[str, int]:
    """When each file and folder was changed."""
    return {str(path): path.stat().st_mtime_ns for path in [directory, *directory.rglob("*")]}


def test_a_run_from_before_its_start_to_its_end(tmp_path: Path, watch: Watch, view: View) -> None:
    out, case = tmp_path / "out", write_case(tmp_path, CASE)
    view.load(watch.url)
    view.wait_for("There is no directory")

    run = start(["run", case])
    view.wait_for("In use by process")
    wait_until(lambda: (out / "statistics.h5").is_file() and checkpoints(out), "statistics and a checkpoint")
    view.page.wait_for_selector("text=blocks of statistics")
    view.page.wait_for_selector("text=⟨u⟩")  # what the picture shows

    seen = last_step(out)
    begin = time.monotonic()
    wait_until(lambda: view.steps()[-1] >= seen, "the row on the page")
    delay = time.monotonic() - begin

    kill_all(run)
    finish(run)
    view.wait_for("the run was killed")
    killed, checkpoint = last_step(out), step_of(checkpoints(out)[-1])
    wait_until(lambda: view.steps()[-1] == killed, "the last row")

    run = start(["run", case, "--restart", "auto"])
    view.wait_for("Restarted from a checkpoint")
    wait_until(lambda: last_step(out) > killed, "steps after those that were lost")
    (out / "STOP").touch()
    must(finish(run))
    view.wait_for("Stop requested by file STOP")
    assert view.page.title().startswith("ended")
    expected = rows(out)["step"].astype(int).tolist()
    assert checkpoint in range(expected[0], expected[-1])
    wait_until(lambda: view.steps()[-1] == expected[-1], "the last row")
    assert len(view.steps()) == len(set(view.steps()))
    assert set(view.steps()) <= set(expected)

    before = files_of(out)
    loads = [view.load(watch.url) for _ in range(3)]
    print(f"loaded in {min(loads):.2f} to {max(loads):.2f} s, a new row was shown after {delay:.2f} s")
    assert files_of(out) == before
    assert all(address.startswith((watch.url, "data:")) for address in view.addresses)
    assert not view.errors
    os.kill(watch.process.pid, signal.SIGINT)
    out_text, err_text = watch.process.communicate(timeout=10)
    assert watch.process.returncode == 0, out_text + err_text
