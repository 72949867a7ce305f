"""The live page of an ensemble: a line for each member, and Re_tau of all members with the same physics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bokeh.document import Document
from bokeh.models import Div, InlineStyleSheet

from sluice_post.ensemble import Ensemble, pooled
from sluice_post.errors import UsageError
from sluice_post.html_text import environment
from sluice_post.statistics import Blocks
from sluice_post.time_averages import averages_of, case_of, series_blocks
from sluice_post.watch.follow import RunFollower, Snapshot
from sluice_post.watch.page import INTERVAL_MILLISECONDS
from sluice_post.watch.status import State


@dataclass(frozen=True)
class Pooled:
    """Re_tau of the members with the same physics over the last third of their time series; half widths may be NaN."""

    label: str
    members: int
    value: float
    half_width: float
    in_time: float


@dataclass(frozen=True)
class EnsembleSnapshot:
    """The members at one time by their names, and what they have in common; never changed afterwards."""

    ensemble: Ensemble
    members: dict[str, Snapshot]
    pooled: tuple[Pooled, ...]

    @property
    def running(self) -> int:
        """How many members are running."""
        return sum(run.status.state is State.RUNNING for run in self.members.values())


def _blocks_of(run: Snapshot) -> Blocks | None:
    try:
        return None if run.series is None else series_blocks(run.series, None, None, run.directory)
    except UsageError:  # there are too few rows yet
        return None


def _pooled(label: str, group: Ensemble, runs: dict[str, Snapshot]) -> Pooled | None:
    found = {name: blocks for name in group.varied.index if (blocks := _blocks_of(runs[name])) is not None}
    if not found:
        return None
    try:
        averages = averages_of(pooled(list(found.values()), list(found)), case_of(runs[next(iter(found))].directory))
    except UsageError:  # they have no common columns
        return None
    if "re_tau" not in averages:
        return None
    in_time = "re_tau_ci95_time" if len(found) > 1 else "re_tau_ci95"
    widths = [float(averages.get(name, float("nan"))) for name in ("re_tau_ci95", in_time)]
    return Pooled(
        label, len(found), float(averages["re_tau"]), widths[0] if len(found) > 1 else float("nan"), widths[1]
    )


class EnsembleFollower:
    """Reads the directories of all members again and again; `snapshot` is the newest."""

    def __init__(self, ensemble: Ensemble) -> None:
        self._ensemble, self._groups = ensemble, ensemble.groups()
        self._followers = {path.name: RunFollower(path, brief=True) for path in ensemble.members}
        self.snapshot = self._look()

    def poll(self) -> bool:
        """Reads what is new; returns whether there is more of it already."""
        more = [follower.poll() for follower in self._followers.values()]
        self.snapshot = self._look()
        return any(more)

    def _look(self) -> EnsembleSnapshot:
        runs = {name: follower.snapshot for name, follower in self._followers.items()}
        found = (_pooled(label, group, runs) for label, group in self._groups.items())
        return EnsembleSnapshot(self._ensemble, runs, tuple(one for one in found if one is not None))


class EnsemblePage:
    """One reader's view of the ensemble."""

    def __init__(self, newest: Callable[[], EnsembleSnapshot]) -> None:
        self._newest = newest
        css = "".join(environment.get_template(name).render() for name in ("report.css", "watch.css"))
        style = InlineStyleSheet(css=css)
        self._text = Div(name="head", stylesheets=[style], sizing_mode="stretch_width", margin=0)

    def show_in(self, document: Document) -> None:
        """Makes it the content of a document, and keeps it up to date."""
        document.template = environment.get_template("watch_ensemble.html")
        document.title = self.update()
        document.add_root(self._text)

        def update() -> None:
            document.title = self.update()

        document.add_periodic_callback(update, INTERVAL_MILLISECONDS)

    def update(self) -> str:
        """Shows the newest snapshot; returns the title of the document."""
        snapshot = self._newest()
        text = environment.get_template("watch_ensemble_head.html").render(shown=snapshot)
        if text != self._text.text:
            self._text.text = text
        return f"{snapshot.running} of {len(snapshot.members)} running – {snapshot.ensemble.directory.resolve().name}"
