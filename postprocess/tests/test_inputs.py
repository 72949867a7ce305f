"""FIFOs, devices and pipes where a file is read."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from sluice_post import inputs, layout
from sluice_post.errors import InputOutputError
from sluice_post.inputs import open_regular, read_given, read_text
from sluice_post.reference import read_references
from sluice_post.timeseries import read_timeseries

MEANS = (
    "# Re_tau = 100\n#  y  y+  Umean  dUmean/dy  Wmean  dWmean/dy  Pmean\n#\n"
    "0 0 0 100 0 0 0\n0.1 10 8 40 0 0 -0.2\n1.0 100 17 1 0 0 -0.4\n"
)


@pytest.fixture
def fifo(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def write_later(path, text):
    writer = threading.Thread(target=path.write_text, args=(text,), daemon=True)
    writer.start()
    return writer


def test_only_regular_files_of_a_run_are_read(tmp_path, fifo):
    (tmp_path / "file").write_text("text")
    assert read_text(tmp_path / "file") == "text"
    for path, kind in ((fifo, "a FIFO"), (tmp_path, "a directory"), ("/dev/zero", "a device")):
        with pytest.raises(OSError, match=f"it is {kind}, not a regular file"):
            open_regular(type(fifo)(path))
    fifo.rename(tmp_path / layout.TIMESERIES_FILE)
    with pytest.raises(InputOutputError, match="it is a FIFO, not a regular file"):
        read_timeseries(tmp_path / layout.TIMESERIES_FILE)


def test_given_texts_may_come_through_a_pipe(fifo):
    writer = write_later(fifo, "\ufeff" + MEANS)
    assert read_given(fifo) == MEANS
    writer.join()
    assert read_given(fifo) == MEANS  # without another writer


def test_published_data_through_a_pipe(fifo):
    writer = write_later(fifo, MEANS)
    profiles, budgets = read_references([fifo])
    writer.join()
    assert profiles.re_tau == pytest.approx(100)
    assert not budgets


def test_pipes_have_limits(fifo, monkeypatch):
    monkeypatch.setattr(inputs, "_FOR_WRITER", 0.2)
    with pytest.raises(OSError, match=r"no program has opened this pipe for writing in 0.2 s"):
        read_given(fifo)
    monkeypatch.setattr(inputs, "_FOR_TEXT", 0.4)
    held = os.open(fifo, os.O_RDWR)
    with pytest.raises(OSError, match=r"its text has not ended in 0.4 s"):
        read_given(fifo)
    os.close(held)
    monkeypatch.setattr(inputs, "_MAX_BYTES", 1 << 20)
    with pytest.raises(OSError, match="it has more than 1048576 bytes"):
        read_given(type(fifo)("/dev/zero"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch_ends_although_files_are_fifos(tmp_path, number):
    """A FIFO in place of each file that the page reads must not keep it from ending."""
    pytest.importorskip("bokeh", reason="the extra `watch` is not installed")
    names = (layout.TIMESERIES_FILE, layout.LOG_FILE, layout.CASE_FILE, layout.LOCK_FILE)
    for name in (*names, layout.RUN_FILE, layout.STATISTICS_FILE):
        os.mkfifo(tmp_path / name)
    command = [sys.executable, "-m", "sluice_post", "watch", str(tmp_path), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline().startswith(f"{tmp_path}: http://")
            time.sleep(0.3)  # it reads
            process.send_signal(number)
            assert process.wait(timeout=20) == 0, process.stderr.read()
        finally:
            process.kill()
