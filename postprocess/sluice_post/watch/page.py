"""The page: a Bokeh document that shows the newest snapshot of a run."""

from __future__ import annotations

import time
from collections.abc import Callable

from bokeh.document import Document
from bokeh.models import Div, InlineStyleSheet

from sluice_post.html import environment
from sluice_post.reference import Reference
from sluice_post.watch.follow import Snapshot
from sluice_post.watch.history import History
from sluice_post.watch.picture_graph import PictureGraph
from sluice_post.watch.profile_graphs import Profiles
from sluice_post.watch.progress import readable_duration
from sluice_post.watch.status import State

INTERVAL_MILLISECONDS = 500  # between looks at the newest snapshot

environment.filters["duration"] = readable_duration


def _style() -> InlineStyleSheet:
    return InlineStyleSheet(
        css="".join(environment.get_template(name).render() for name in ("report.css", "watch.css"))
    )


class Page:
    """One reader's view of the run. Making it takes a quarter of a second, and needs no document yet."""

    def __init__(self, newest: Callable[[], Snapshot], reference: Reference | None) -> None:
        self._newest = newest
        style = _style()
        self._history, self._profiles, self._picture = History(), Profiles(reference), PictureGraph(style)
        self._reference = reference
        self._texts = {
            name: Div(name=name, stylesheets=[style], sizing_mode="stretch_width", margin=0)
            for name in ("head", "profiles_head", "picture_head")
        }
        self._graphs = {**self._history.graphs, **self._profiles.graphs, "picture": self._picture.graph}
        for name, graph in self._graphs.items():
            graph.name = name
        self._picture.choice.name, self._picture.caption.name = "choice", "caption"
        self._history.further.name = "further"
        self.update()

    def show_in(self, document: Document) -> None:
        """Makes it the content of a document, and keeps it up to date."""
        document.template = environment.get_template("watch.html")
        # First of all: models that belong to a document take ten times as long to change.
        document.title = self.update()
        with document.models.freeze():
            for root in (
                *self._texts.values(),
                *self._graphs.values(),
                self._history.further,
                self._picture.choice,
                self._picture.caption,
            ):
                document.add_root(root)

        def update() -> None:
            document.title = self.update()

        document.add_periodic_callback(update, INTERVAL_MILLISECONDS)

    def update(self) -> str:
        """Shows the newest snapshot; returns the title of the document."""
        snapshot = self._newest()
        self._history.update(snapshot)
        self._profiles.update(snapshot.live)
        self._picture.update(snapshot.pictures)
        for graph in self._profiles.graphs.values():
            graph.visible = snapshot.live is not None
        running = snapshot.status.state is State.RUNNING
        ended = snapshot.status.state in (State.ENDED, State.FAILED, State.KILLED)
        open_end = snapshot.status.state in (State.RUNNING, State.UNKNOWN)
        age = time.time() - snapshot.last_row if open_end and snapshot.last_row is not None else None
        for name, text in self._texts.items():
            text.text = environment.get_template(f"watch_{name}.html").render(
                run=snapshot, state=snapshot.status.state.value, age=age, reference=self._reference, ended=ended
            )
        progress = snapshot.progress
        if running and progress is not None and progress.percent is not None:
            return f"{progress.percent:.1f} % – {snapshot.name}"
        return f"{snapshot.status.state.value} – {snapshot.name}"
