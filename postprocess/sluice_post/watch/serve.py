"""The server of the page, for this machine only."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import webbrowser
from pathlib import Path

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from bokeh.server.util import bind_sockets
from bokeh.settings import settings
from tornado import web
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.ioloop import IOLoop
from tornado.routing import Router

from sluice_post.ensemble import is_ensemble, read_ensemble
from sluice_post.errors import UsageError
from sluice_post.reference import Reference
from sluice_post.watch.ensemble import EnsembleFollower, EnsemblePage
from sluice_post.watch.follow import RunFollower, require_run_directory
from sluice_post.watch.page import Page

ADDRESS = "127.0.0.1"
# Any port: at the other end of `ssh -L` it may be another one.
_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?", re.IGNORECASE)
POLL_SECONDS = 1.0


async def _follow(follower: RunFollower | EnsembleFollower) -> None:
    """Reads again and again, in another thread, so that the page answers meanwhile."""
    loop = asyncio.get_running_loop()
    while True:
        if not await loop.run_in_executor(None, follower.poll):
            await asyncio.sleep(POLL_SECONDS)


class _OwnHost(Router):
    """Answers requests to this machine alone: a page elsewhere must not read ours under a name that leads here."""

    def __init__(self, application: BokehTornado) -> None:
        self._application = application

    def find_handler(self, request: HTTPServerRequest, **_: object) -> HTTPMessageDelegate:
        """That of the application, or one that refuses."""
        application: web.Application = self._application
        if _HOST.fullmatch(request.headers.get("Host", "")):
            return application.find_handler(request)
        return application.get_handler_delegate(request, web.ErrorHandler, {"status_code": 403})


def _start_server(
    follower: RunFollower | EnsembleFollower, port: int, reference: Reference | None
) -> tuple[BaseServer, int]:
    loop = IOLoop.current()

    def new_page() -> Page | EnsemblePage:
        if isinstance(follower, EnsembleFollower):
            return EnsemblePage(lambda: follower.snapshot)
        return Page(lambda: follower.snapshot, reference)

    ready = [new_page()]  # for the next reader, who does not wait for it to be made

    def make_ready() -> None:
        if not ready:
            ready.append(new_page())

    def build(document: Document) -> None:
        page = ready.pop() if ready else new_page()
        page.show_in(document)
        loop.call_later(2.0, make_ready)

    # Everything comes from this server, whatever the environment says: there may be no network.
    settings.resources = "server"
    settings.allowed_ws_origin = [f"{host}:*" for host in ("localhost", ADDRESS, "[::1]")]
    application = BokehTornado(Application(FunctionHandler(build)))
    http_server = HTTPServer(_OwnHost(application))
    try:
        sockets, bound = bind_sockets(ADDRESS, port)
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be used ({error.strerror or error}); choose another with --port"
        ) from error
    http_server.add_sockets(sockets)
    server = BaseServer(loop, application, http_server)
    server.start()
    return server, bound


def _has_display() -> bool:
    """Whether a browser would open in a window, and not in the terminal."""
    return sys.platform != "linux" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


async def _serve(directory: Path, port: int, browser: bool, reference: Reference | None) -> None:
    follower = EnsembleFollower(read_ensemble(directory)) if is_ensemble(directory) else RunFollower(directory)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    server, bound = _start_server(follower, port, reference)
    url = f"http://{ADDRESS}:{bound}/"
    print(f"{directory}: {url} (Ctrl-C ends the page, not the run)", flush=True)
    if browser and _has_display():
        webbrowser.open(url)
    following, stopping = asyncio.create_task(_follow(follower)), asyncio.create_task(stopped.wait())
    await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
    server.stop()
    if following.done():
        following.result()  # raises what ended it
    following.cancel()


def serve(directory: Path, port: int, browser: bool, reference: Reference | None) -> None:
    """Serves the page until SIGINT or SIGTERM. `port`: 0 for any free one."""
    if not is_ensemble(directory):
        require_run_directory(directory)
    asyncio.run(_serve(directory, port, browser, reference))
