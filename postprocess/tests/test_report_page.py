"""The page of a report, for all readers: structure, alternative texts, colours, and width on a phone."""

import itertools
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import synthetic
from matplotlib.figure import Figure

from sluice_post.alt_texts import alt_text, plain_text
from sluice_post.cli import main
from sluice_post.style import figure_style

VOID = {"meta", "img", "br", "hr", "link", "input"}
PHONE = 390
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(HTMLParser):
    """All tags with their attributes and their text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self._open = [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append({"tag": tag, "text": "", **dict(attrs)})
        if tag not in VOID:
            self._open.append(self.tags[-1])

    def handle_endtag(self, tag):
        assert self._open.pop()["tag"] == tag

    def handle_data(self, data):
        for one in self._open:
            one["text"] += data

    def all(self, *names):
        return [one for one in self.tags if one["tag"] in names]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """report.html of a turbulent run."""
    flow = synthetic.Flow(cells=(32, 24, 48))
    directory = synthetic.write_run(tmp_path_factory.mktemp("pages"), flow, blocks=6)
    (directory / "resolved.yaml").write_text("title: " + "a_long_word" * 20 + "\n")
    assert main(["report", str(directory)]) == 0
    return directory / "report.html"


@pytest.fixture(scope="module")
def page(report):
    return Page(report.read_text(encoding="utf-8"))


def test_language_headings_and_links(page):
    assert page.all("html")[0]["lang"] == "en"
    levels = [int(one["tag"][1]) for one in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    targets = {one["id"] for one in page.tags if "id" in one}
    links = [one["href"] for one in page.all("a")]
    assert len(links) >= 5 and {link.removeprefix("#") for link in links} <= targets


def test_tables_have_captions_and_scopes(page):
    tables = page.all("table")
    assert len(tables) >= 3 and len(page.all("caption")) == len(tables)
    assert all(one["text"].strip() for one in page.all("caption", "th"))
    assert {one["scope"] for one in page.all("th")} == {"col", "row"}
    assert all(one.get("tabindex") == "0" and one["aria-label"] for one in page.tags if one.get("class") == "scroll")


def test_alternative_texts_say_what_is_shown_and_the_main_finding(page):
    texts = {one["alt"].partition(". ")[0]: one["alt"] for one in page.all("img")}
    assert len(texts) == len(page.all("img")) == 10
    assert all(re.search(r"against .*: .*\d", text) for text in texts.values()), texts
    found = re.search(r"u_rms⁺ streamwise largest ([\d.]+) at z⁺ = ([\d.]+)", texts["Fluctuations"])
    assert float(found[1]) == pytest.approx(2.66, abs=0.1) and float(found[2]) == pytest.approx(15, abs=2)
    assert not any(sign in text for text in texts.values() for sign in "$\\{}")


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"$u_\mathrm{rms}^+$ streamwise", "u_rms⁺ streamwise"),
        (r"$-\langle uw\rangle^+/u_\tau^2$", "-⟨uw⟩⁺/u_τ^2"),
        (r"$\mathrm{d}U^+/\mathrm{d}z^+$", "dU⁺/dz⁺"),
        (r"$\overline{u}\,\times\,h$", "u × h"),
    ],
)
def test_labels_without_tex(tex, text):
    assert plain_text(tex) == text


def test_alternative_text_of_lines_pictures_and_bars():
    with figure_style():
        figure = Figure()
        upper, lower, third = figure.subplots(3, 1)
    z = np.linspace(0, 2, 201)
    upper.plot(z, np.sin(np.pi * z / 2), label="$u'$")
    upper.plot(z, 1 - z, label="falling")
    upper.plot([0, 1, 2], [9, 9, 9], color="#8A8A8A", label="a law")
    upper.set(xlabel="$z/h$", ylabel="$u$")
    lower.set(xlabel="$x$", ylabel="$y$", title="plane")
    figure.colorbar(lower.pcolormesh(np.arange(6.0).reshape(2, 3)), ax=lower, label="$p^+$")
    third.bar([1, 2], [3, 4], label="one")
    text = alt_text("Title", figure)
    assert text.startswith("Title. u against z/h: u' largest 1 at z/h = 1; falling from 1 at z/h = 0 to -1 at z/h = 2.")
    assert "plane: y against x: colours of p⁺ from 0 to 5." in text
    assert text.endswith("highest bars: one 4.")


def luminance(colour):
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_contrasts_are_those_of_wcag_aa(mode):
    css = (resources.files("sluice_post") / "templates" / "report.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", light))
    if mode == "dark":
        colours |= dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", dark))
    for ink in ("ink", "soft", "accent"):
        for ground in ("ground", "paper", "head", "warn", "fail"):
            if ink == "ink" or ground in ("ground", "paper", "head"):
                bright, dim = sorted((luminance(colours[ink]), luminance(colours[ground])), reverse=True)
                assert (bright + 0.05) / (dim + 0.05) >= 4.5, (ink, ground)


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium: install the package chromium")
def test_no_page_is_wider_than_a_phone(report):
    """Neither the report nor the live page, in both modes; tables that are wider scroll within their boxes."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    pytest.importorskip("bokeh", reason="the extra `watch` is not installed")
    command = [sys.executable, "-m", "sluice_post", "watch", str(report.parent), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, playwright.sync_playwright() as driver:
        try:
            live = re.search(r"http://\S+", server.stdout.readline())[0]
            browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
            for mode in ("light", "dark"):
                view = browser.new_page(viewport={"width": PHONE, "height": 844}, color_scheme=mode)
                view.set_default_timeout(120_000)  # milliseconds: a busy machine takes long to draw the graphs
                for address in (Path(report).resolve().as_uri(), live):
                    view.goto(address)
                    if address == live:
                        view.wait_for_function("window.Bokeh && Bokeh.documents[0] && Bokeh.documents[0].is_idle")
                        graph = view.locator(".bk-Figure").first.bounding_box()
                        assert PHONE * 0.8 < graph["width"] <= PHONE
                    assert view.evaluate("document.documentElement.scrollWidth") <= PHONE
                    ground = view.evaluate("getComputedStyle(document.body).backgroundColor")
                    assert (sum(map(int, re.findall(r"\d+", ground))) < 3 * 60) == (mode == "dark")
                view.close()
            browser.close()
        finally:
            server.terminate()
