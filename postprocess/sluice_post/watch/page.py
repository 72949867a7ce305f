"""The page: a Bokeh document that shows the newest snapshot of a run."""

from __future__ import annotations

import time
from collections.abc import Callable

from bokeh.document import Document
from bokeh.models import Div, InlineStyleSheet

from sluice_post.html_text import environment
from sluice_post.reference import Reference
from sluice_post.watch.follow import Snapshot
from sluice_post.watch.history import History
from sluice_post.watch.picture_graph import PictureGraph
from sluice_post.watch.profile_graphs import Profiles
from sluice_post.watch.progress import readable_duration
from sluice_post.watch.status import State

INTERVAL_MILLISECONDS = 500  # between looks at the newest snapshot

environment.filters["duration"] = readable_duration


class Page:
    """One reader's view of the run. Making it takes a quarter of a second, and needs no document yet."""

    def __init__(self, newest: Callable[[], Snapshot], reference: Reference | None) -> None:
        self._newest, self._reference = newest, reference
        css = "".join(environment.get_template(name).render() for name in ("report.css", "watch.css"))
        style = InlineStyleSheet(css=css)
        self._history, self._profiles, self._picture = History(style), Profiles(reference), PictureGraph(style)
        self._texts = {
            name: Div(name=name, stylesheets=[style], sizing_mode="stretch_width", margin=0)
            for name in ("head", "profiles_head", "picture_head")
        }
        for name, graph in self._profiles.graphs.items():
            graph.name = name
        self.update()

    def show_in(self, document: Document) -> None:
        """Makes it the content of a document, and keeps it up to date."""
        document.template = environment.get_template("watch.html")
        # First of all: models that belong to a document take ten times as long to change.
        document.title = self.update()
        with document.models.freeze():
            roots = (*self._texts.values(), *self._profiles.graphs.values(), self._history.root, *self._picture.roots)
            for root in roots:
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
        state, progress = snapshot.status.state, snapshot.progress
        open_end = state in (State.RUNNING, State.UNKNOWN)
        age = time.time() - snapshot.last_row if open_end and snapshot.last_row is not None else None
        ended = state in (State.ENDED, State.FAILED, State.KILLED)
        for name, text in self._texts.items():
            template = environment.get_template(f"watch_{name}.html")
            text.text = template.render(
                run=snapshot, state=state.value, age=age, reference=self._reference, ended=ended
            )
        if state is State.RUNNING and progress is not None and progress.percent is not None:
            return f"{progress.percent:.1f} % – {snapshot.name}"
        return f"{state.value} – {snapshot.name}"
