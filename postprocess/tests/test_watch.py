"""What `sluice-post watch` reads of a run that goes on."""

import errno
import fcntl
import http.client
import os
import re
import socket
import struct
import subprocess
import sys
import time
from unittest.mock import Mock

import numpy as np
import pytest
import synthetic
from scipy.ndimage import zoom

from sluice_post import layout
from sluice_post.cli import main
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.hashes import byte_hash
from sluice_post.watch.case import read_case
from sluice_post.watch.follow import RunFollower, require_run_directory
from sluice_post.watch.lines import LogFollower, SeriesFollower, Tail
from sluice_post.watch.pictures import MAX_PIXELS, PictureFollower, _pixels
from sluice_post.watch.progress import Pace, readable_duration
from sluice_post.watch.status import CLEAN_ENDS, State, find_status, lock_holder

HEADER = ",".join((*layout.TIMESERIES_COLUMNS, layout.ROW_HASH)) + "\n"

CASE = """
title: A channel
flow: {type: channel, reynolds: {bulk: 5600}}
domain: {size: [6.28, 2.51, 2]}
grid: {cells: [10, 20, 30]}
walls: {bottom: {type: no_slip, velocity: [0, 0, 0]}, top: {type: no_slip, velocity: [0, 0, 0]}}
time: {end: 20, until: none}
"""

STEP_LINE = (
    "step      20  time    2.1766  dt 8.516e-02  Re_tau bottom  196.20 top  202.71  U_b 1.0000  energy 0.53965  "
    "div 1.8e-15  61.5 ns/point  42 s left\n"
)
LOCK = "process 17 on host node01 since 2026-11-23T20:17:42Z\n"


def row(step, re_tau=180.0):
    text = f"{step},{step / 10},0.1,0.9,1,0.004,{re_tau},{re_tau},0.5,1e-14"
    return f"{text},{byte_hash(0, text.encode()) >> 11}\n"


def rows(*steps):
    return "".join(row(step) for step in steps)


class Steps:
    """The rows that a follower of timeseries.csv has read."""

    def __init__(self, folder):
        self.path = folder / "timeseries.csv"
        self.follower = SeriesFollower(self.path)

    def read(self):
        while self.follower.poll():
            pass
        return [] if self.follower.series is None else self.follower.series["step"].tolist()


@pytest.fixture
def steps(tmp_path):
    return Steps(tmp_path)


def case_of(folder, text):
    (folder / "resolved.yaml").write_text(text)
    return read_case(folder / "resolved.yaml")


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def replace(path, text):
    """As a restart does."""
    new = path.with_suffix(".tmp")
    new.write_text(text)
    new.rename(path)


def test_numbers_of_the_case(tmp_path):
    assert read_case(tmp_path / "resolved.yaml") is None
    case = case_of(tmp_path, CASE)
    assert (case.title, case.points, case.height, case.viscosity) == ("A channel", 6000, 2, 2 / 5600)
    assert case.percent_done(50, 5.0) == 25
    assert case.steps_left(50, 5.0, 0.1, None) == pytest.approx(150)
    assert case.steps_left(50, 5.0, 0.1, until=10.0) == pytest.approx(50)
    assert case.friction(180, 1.0) == pytest.approx(2 * (180 * 2 / 5600) ** 2)
    by_steps = case_of(tmp_path, CASE.replace("end: 20", "steps: 400"))
    assert (by_steps.percent_done(100, 5.0), by_steps.steps_left(100, 5.0, 0.1, None)) == (25, 300)
    varying = case_of(tmp_path, CASE.replace("velocity: [0, 0, 0]", 'velocity: ["0.1*sin(t)", 0, 0]', 1))
    assert varying.wall_velocities == ((0, 0), (0, 0))
    assert varying.friction(180, 1) == case.friction(180, 1)
    couette = CASE.replace("bulk: 5600", "wall: 1500").replace("velocity: [0, 0, 0]}}", "velocity: [1, 0, 0]}}")
    assert case_of(tmp_path, couette).friction(93, 0.5) == pytest.approx(2 * (93 / 1500 / 0.5) ** 2)
    assert case_of(tmp_path, "title: [") is None


def test_fluxes_of_conduction(tmp_path):
    scalars = """scalars:
    - {name: "T", prandtl: 0.5, walls: {bottom: {value: 1}, top: {value: -2}}, source: none}
    - {name: "heated", prandtl: 1, walls: {bottom: {value: 1}, top: {value: 0}}, source: {uniform: 1}}
    - {name: "equal", prandtl: 1, walls: {bottom: {value: 1}, top: {value: 1}}, source: none}
    - {name: "varies", prandtl: 1, walls: {bottom: {value: "2 + sin(t)"}, top: {value: 1}}, source: none}
    - {name: "flux", prandtl: 1, walls: {bottom: {flux: 1}, top: {value: 0}}, source: none}
"""
    viscosity, difference, height = 2 / 5600, 3, 2
    fluxes = {"T": pytest.approx(viscosity / 0.5 * difference / height)}
    assert case_of(tmp_path, CASE + scalars).conducted_fluxes == fluxes


def test_further_columns_of_the_series(steps):
    text = row(1).rpartition(",")[0] + ",0.25"
    steps.path.write_text(HEADER.replace("hash", "power,hash") + f"{text},{byte_hash(0, text.encode()) >> 11}\n")
    assert steps.read() == [1]
    assert steps.follower.series["power"].tolist() == [0.25]
    steps.path.write_text(HEADER + row(2))  # another run in the same directory
    assert steps.read() == [2]
    assert "power" not in steps.follower.series.columns


def test_rows_appear_when_their_lines_are_complete(steps):
    assert steps.read() == []
    steps.path.write_text(HEADER[:20])
    assert steps.read() == []
    append(steps.path, HEADER[20:] + row(1) + row(2)[:30])
    assert steps.read() == [1]
    early = steps.follower.series
    append(steps.path, row(2)[30:])
    assert steps.read() == [1, 2]
    append(steps.path, rows(*range(3, 5000)))
    assert steps.read() == list(range(1, 5000))
    assert early["step"].tolist() == [1]
    assert (steps.follower.generation, steps.follower.problem) == (0, "")


def test_a_long_file_is_read_in_parts_and_once(tmp_path):
    path, taken = tmp_path / "log.txt", []
    lines = [f"line {n}" for n in range(1000)]
    path.write_text("\n".join(lines) + "\n")
    tail = Tail(path, part_bytes=256)
    while tail.poll(lambda *part: taken.append(part)):
        pass
    append(path, "another\n")
    tail.poll(lambda *part: taken.append(part))
    assert not any(begun_anew for _, begun_anew in taken)
    assert all(sum(map(len, part)) <= 256 for part, _ in taken)
    assert [line for part, _ in taken for line in part] == [*lines, "another"]


def test_a_restart_cuts_rows_and_goes_on(steps):
    path = steps.path
    path.write_text(HEADER + rows(1, 2, 3, 4))
    steps.read()
    replace(path, HEADER + rows(1, 2))
    assert (steps.read(), steps.follower.generation) == ([1, 2], 1)
    # Cut and grown beyond the old length between two looks, with other numbers in the same place.
    replace(path, HEADER + rows(1) + "".join(row(step, 170.0) for step in range(2, 9)))
    assert (steps.read(), steps.follower.generation) == (list(range(1, 9)), 2)
    assert steps.follower.series["re_tau_top"][-1] == 170
    # A restart that loses nothing.
    replace(path, path.read_text() + rows(9))
    assert (steps.read(), steps.follower.generation) == (list(range(1, 10)), 2)
    path.unlink()
    assert (steps.read(), steps.follower.generation) == ([], 3)


def test_a_damaged_row_is_reported_and_read_again(steps):
    steps.path.write_text(HEADER + rows(1) + "\0" * 40 + "\n")
    assert steps.read() == []
    assert "line 3 is damaged" in steps.follower.problem
    steps.path.write_text(HEADER + rows(1, 2))
    assert (steps.read(), steps.follower.problem) == ([1, 2], "")
    replace(steps.path, "something else\n" * 100)
    assert steps.read() == []
    assert "line 1 is not" in steps.follower.problem


def test_the_log_tells_starts_speed_and_the_expected_end(tmp_path):
    path = tmp_path / "log.txt"
    log = LogFollower(path)
    log.poll()
    path.write_text(
        "Sluice: A channel\n10 x 20 x 30 cells on 2 process(es) as 1 x 2 (y x z), mpi_p2p, double precision, a CPU\n"
        f"{STEP_LINE}Statistics of 34 blocks: re_tau 178.21 +- 0.42 % (limit 0.3 %); "
        "time.until will probably be reached at time 1436, after time.end 1000\n"
    )
    log.poll()
    assert log.machine.startswith("10 x 20 x 30 cells on 2")
    assert (log.ns_per_point, log.until, log.restarts) == (61.5, 1436, ())
    append(path, "Sluice: A channel\nRestarted from out/checkpoints/step_0000189.h5: step 189, time 20.0177\n")
    log.poll()
    assert (log.restarted, log.ns_per_point, log.restarts) == (True, None, ((189, 20.0177),))
    append(path, f"{STEP_LINE}Sluice: A channel\nRestarted from x.h5: step 200, time 21\n{STEP_LINE}")
    log.poll()
    assert log.restarts == ((189, 20.0177), (200, 21))
    append(path, f"Sluice: Another one with --overwrite\n{STEP_LINE}")
    log.poll()
    assert log.restarts == ()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(42.4, "42 s"), (119, "119 s"), (120, "0:02:00"), (3757, "1:02:37"), (184440, "2 d 03:14"), (9e7, "1042 d"),
     (float("nan"), "unknown time")],
)  # fmt: skip
def test_time_left_reads_as_in_the_log(seconds, text):
    assert readable_duration(seconds) == text


def test_pace_is_that_of_the_last_minute():
    pace = Pace()
    for second in range(9):
        pace.see(float(second), 10 * second)
    assert pace.seconds_per_step is None  # not seen for long enough
    for second in range(9, 200):
        pace.see(float(second), 10 * second if second < 100 else 1000 + 20 * (second - 100))
    assert pace.seconds_per_step == pytest.approx(1 / 20)
    pace.see(202.0, 500)  # restarted
    assert pace.seconds_per_step is None


def test_states(tmp_path):
    def status(last_step=None, growing=False, **record):
        return find_status(tmp_path, record, last_step, growing, False)

    assert find_status(tmp_path / "none", {}, None, False, False).state is State.WAITING
    assert status().state is State.WAITING
    assert status(7, growing=True).state is State.RUNNING
    assert status(7).state is State.KILLED
    for why in CLEAN_ENDS:
        ended = status(7, growing=True, why_stopped=why, step=7, ended="2026-11-23T20:17:43Z")
        assert ended.state is State.ENDED and "2026-11-23 20:17:43 UTC" in ended.text
    assert status(8, why_stopped=CLEAN_ENDS[0], step=7).state is State.KILLED  # a later start
    failed = status(7, why_stopped="u is not finite", step=7)
    assert failed.state is State.FAILED
    assert "At step 7" in failed.text and "u is not finite" in failed.text


@pytest.mark.parametrize("last_step", [None, 7])
def test_a_run_whose_lock_is_not_seen(tmp_path, last_step):
    """Such as that of another host: it may be running, so that no restart is advised."""
    (tmp_path / "resolved.yaml").write_text(CASE)
    (tmp_path / "lock").write_text(LOCK)
    for growing, state in ((True, State.RUNNING), (False, State.UNKNOWN)):
        status = find_status(tmp_path, {}, last_step, growing, False)
        assert status.state is state
        assert "process 17 on host node01" in status.text
        assert "--restart" not in status.text

    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    for process, state in ((os.getpid(), State.RUNNING), (ended.pid, State.KILLED)):
        (tmp_path / "lock").write_text(f"process {process} on host {socket.gethostname()} since 2026-11-23T20:17:42Z\n")
        assert find_status(tmp_path, {}, last_step, True, False).state is state


def test_a_run_counts_as_running_while_its_files_grow(tmp_path):
    """From the first look on, and with rows that are minutes apart."""

    def state(seconds_ago):
        then = time.time() - seconds_ago
        for name in ("timeseries.csv", "log.txt"):
            os.utime(tmp_path / name, (then, then))
        follower = RunFollower(tmp_path)
        found = [follower.snapshot.status.state]
        while follower.poll():
            pass
        return [*found, follower.snapshot.status.state]

    (tmp_path / "resolved.yaml").write_text(CASE)
    (tmp_path / "lock").write_text(LOCK)
    (tmp_path / "timeseries.csv").write_text(HEADER + rows(10, 20))
    (tmp_path / "log.txt").write_text("Sluice: A channel\n")
    assert state(170) == [State.RUNNING, State.RUNNING]
    assert state(190) == [State.UNKNOWN, State.UNKNOWN]
    # 6000 points at 5 ms: 10 steps take 300 s.
    append(tmp_path / "log.txt", STEP_LINE.replace("61.5", "5000000"))
    assert state(890)[-1] is State.RUNNING
    assert state(910)[-1] is State.UNKNOWN


@pytest.mark.skipif(not hasattr(fcntl, "F_OFD_SETLK"), reason="locks of open files are those of Linux")
def test_the_lock_of_a_run_is_seen_and_not_taken(tmp_path):
    path = tmp_path / "lock"
    assert lock_holder(tmp_path) == ""
    path.write_text(LOCK)
    assert lock_holder(tmp_path) == ""
    with path.open("r+b") as file:
        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
        assert lock_holder(tmp_path).startswith("process 17 on host node01")
        assert "2026-11-23 20:17:42 UTC" in find_status(tmp_path, {}, None, False, False).text
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)  # still ours
    assert lock_holder(tmp_path) == ""


def test_the_newest_picture_of_each_slice(tmp_path, flow):
    follower, damaged = PictureFollower(tmp_path), tmp_path / "slices" / "parts" / "z0.083_0000900.h5"

    def look(*scales):
        follower.poll(2.0, *scales)
        return follower.pictures

    scales = (flow.re_tau, flow.u_tau)
    assert look(None, None) == {}
    synthetic.write_slices(tmp_path, "z0.083", flow, 0.083, [1.0])
    synthetic.write_slices(tmp_path, "z1", flow, 1.0, [1.0])
    assert list(look(None, None)) == ["z0.083", "z1"]
    first = follower.pictures["z1"]
    assert "t U/h = 1" in first.caption
    synthetic.write_slices(tmp_path, "z0.083", flow, 0.083, [1.0, 5.0])
    damaged.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    look(*scales)
    assert damaged.name in follower.problems["z0.083"]
    damaged.unlink()
    near, again = look(*scales).values()
    assert follower.problems == {}
    assert "z<sup>+</sup> = 14.9" in near.caption and "t U/h = 5" in near.caption
    assert again is not first  # now in wall units
    assert look(*scales)["z1"] is again
    assert again.pixels.dtype == np.uint8
    assert 100 < again.pixels.mean() < 155  # fluctuations: as many above as below their mean


@pytest.mark.parametrize("field", ["w", "p"])
def test_a_slice_without_u_shows_its_first_field(tmp_path, flow, field):
    """Also normal to z."""
    values = np.ones(flow.cells[:2])
    values[0] = 3.0
    x, y = ((np.arange(n) + 0.5) * length / n for n, length in zip(flow.cells[:2], flow.size[:2], strict=True))
    lines = {"x": x, "y": y, "z_face" if field == "w" else "z": np.array([0.083])}
    synthetic.write_series(
        tmp_path / "slices", "z0.083", np.array([2.0]), np.array([200]), {field: values.T[None, None]}, lines,
        {"normal": "z", "at": 0.083}, 300,
    )  # fmt: skip
    follower = PictureFollower(tmp_path)
    follower.poll(2.0, flow.re_tau, flow.u_tau)
    assert follower.problems == {}
    picture = follower.pictures["z0.083"]
    assert picture.caption.startswith(f"{field}/" if field == "w" else "p/ρ")
    assert "at z/h = 0.083, t U/h = 2" in picture.caption
    assert (picture.axes, picture.size) == (("x/h", "y/h"), pytest.approx(flow.size[:2]))
    assert (picture.low, picture.high) == (1.0, 3.0)
    assert picture.pixels[:, 0].min() >= 254 and picture.pixels[:, -1].max() <= 1


@pytest.mark.parametrize("shape", [(500, 1), (1, 500), (1, 1), (3000, 2)])
def test_pictures_of_long_planes_stay_small(shape, monkeypatch):
    values, zoomed = np.linspace(0, 1, shape[0] * shape[1]).reshape(shape), []
    monkeypatch.setattr(
        "sluice_post.watch.pictures.ndimage.zoom", lambda *a, **b: zoomed.append(zoom(*a, **b)) or zoomed[-1]
    )
    pixels = _pixels(values, 0.0, 1.0)
    assert max(max(array.shape) for array in [pixels, *zoomed]) <= max(MAX_PIXELS, *shape)
    assert max(pixels.shape) <= MAX_PIXELS
    assert pixels[0, 0] == 0


def test_a_directory_that_is_filled_later(tmp_path, flow):
    directory = tmp_path / "out"
    follower = RunFollower(directory)
    follower.poll()
    assert follower.snapshot.status.state is State.WAITING
    assert follower.snapshot.progress is None
    directory.mkdir()
    (directory / "resolved.yaml").write_text(CASE)
    (directory / "timeseries.csv").write_text(HEADER + rows(1, 2))
    follower.poll()
    snapshot = follower.snapshot
    assert snapshot.name == "A channel"
    assert (snapshot.progress.step, snapshot.progress.percent) == (2, 1.0)
    assert snapshot.progress.u_tau == pytest.approx(180 * 2 / 5600)
    assert snapshot.live is None
    profiles = synthetic.turbulent_profiles(flow)
    synthetic.write_statistics(directory / "statistics.h5", flow, synthetic.noisy_blocks(flow, profiles, 3, 3))
    follower.poll()
    live = follower.snapshot.live
    assert live.blocks == 3
    assert live.profiles.re_tau == pytest.approx(flow.re_tau, rel=0.05)
    follower.poll()
    assert follower.snapshot.live is live  # not read again
    assert snapshot.live is None  # as it was


def test_a_file_system_that_fails_for_a_while(tmp_path, monkeypatch):
    (tmp_path / "timeseries.csv").write_text(HEADER + rows(1, 2))
    follower = RunFollower(tmp_path)
    follower.poll()
    with monkeypatch.context() as broken:
        broken.setattr(
            "sluice_post.watch.follow.read_record", Mock(side_effect=OSError(errno.ESTALE, "Stale file handle"))
        )
        assert not follower.poll()
        assert "Stale file handle" in follower.snapshot.problems[0]
        assert follower.snapshot.progress.step == 2
    follower.poll()
    assert follower.snapshot.problems == ()


def test_what_is_no_run(tmp_path, capsys):
    require_run_directory(tmp_path / "none")
    require_run_directory(tmp_path)
    (tmp_path / "notes.txt").write_text("something else")
    with pytest.raises(InputOutputError, match="holds files, but none of a run"):
        require_run_directory(tmp_path)
    with pytest.raises(UsageError, match="not a directory"):
        require_run_directory(tmp_path / "notes.txt")
    (tmp_path / "timeseries.csv").write_text(HEADER)
    require_run_directory(tmp_path)


@pytest.mark.parametrize("name", ["pathlib.Path.iterdir", "sluice_post.watch.follow.read_record"])
def test_a_directory_that_cannot_be_read(tmp_path, capsys, monkeypatch, name):
    pytest.importorskip("bokeh", reason="the extra `watch` is not installed")
    monkeypatch.setattr(name, Mock(side_effect=PermissionError(errno.EACCES, "Permission denied", str(tmp_path))))
    assert main(["watch", str(tmp_path), "--no-browser"]) == 4
    assert capsys.readouterr().err == f"sluice-post: {tmp_path}: Permission denied\n"


def test_the_extra_is_asked_for(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sluice_post.errors.find_spec", lambda name: None)
    assert main(["watch", str(tmp_path)]) == 2
    assert "pip install './postprocess[watch]'" in capsys.readouterr().err


def status_of(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_names_of_this_machine_are_answered(tmp_path):
    """A name elsewhere that leads to this address must not read the page (DNS rebinding)."""
    pytest.importorskip("bokeh", reason="the extra `watch` is not installed")
    command = [sys.executable, "-m", "sluice_post", "watch", str(tmp_path), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())[1])
            own = (f"127.0.0.1:{port}", f"localhost:{port}", "localhost:8000", "LOCALHOST", f"[::1]:{port}")
            others = (
                f"evil.example:{port}",
                "evil.example",
                "127.0.0.1.evil.example",
                "localhost.evil.example",
                "0.0.0.0",
            )
            paths = ("/", "/static/js/bokeh.min.js", "/autoload.js?bokeh-autoload-element=1", "/nowhere")
            for path, allowed in zip(paths, (200, 200, 200, 404), strict=True):
                assert [status_of(port, path, Host=host) for host in own] == [allowed] * len(own), path
                assert [status_of(port, path, Host=host) for host in others] == [403] * len(others), path
            upgrade = {"Upgrade": "websocket", "Connection": "Upgrade"}
            upgrade |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x" * 16}
            assert status_of(port, "/ws", **upgrade, Host=f"evil.example:{port}") == 403
        finally:
            process.terminate()
            process.communicate(timeout=20)
    assert process.returncode == 0
