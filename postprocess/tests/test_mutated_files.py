"""Files that Hypothesis has changed: each is refused with a message that names it, or gives the same results."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from sluice_post.errors import InputOutputError
from sluice_post.hdf5_file import append_metadata_hash
from sluice_post.slices import latest_streak_slice
from sluice_post.statistics import read_statistics
from sluice_post.timeseries import read_timeseries

PAGE = 512

PLACE = st.integers(0, 2**20)
CHANGES = st.one_of(
    st.tuples(st.just("flip"), PLACE, st.integers(0, 7)),
    st.tuples(st.just("write"), PLACE, st.binary(min_size=1, max_size=16)),
    st.tuples(st.just("insert"), PLACE, st.binary(min_size=1, max_size=16)),
    st.tuples(st.just("remove"), PLACE, st.integers(1, 2 * PAGE)),
    st.tuples(st.just("repeat"), PLACE, st.integers(1, 2 * PAGE)),
    st.tuples(st.just("zero"), PLACE, st.integers(1, 8)),
    st.tuples(st.just("cut"), PLACE, st.none()),
)


def changed(content: bytes, changes: list) -> bytes:
    for kind, place, what in changes:
        at = place % max(1, len(content))
        head, tail = content[:at], content[at:]
        if kind == "flip" and tail:
            content = head + bytes([tail[0] ^ 1 << what]) + tail[1:]
        elif kind == "write":
            content = (head + what + tail[len(what) :])[: len(content)]
        elif kind == "insert":
            content = head + what + tail
        elif kind == "remove":
            content = head + tail[what:]
        elif kind == "repeat":
            content = head + tail[:what] + tail
        elif kind == "zero":
            begin, end = at // PAGE * PAGE, min(len(content), (at // PAGE + what) * PAGE)
            content = content[:begin] + bytes(end - begin) + content[end:]
        elif kind == "cut":
            content = head
    return content


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("intact")
    synthetic.write_run(directory, synthetic.Flow(cells=(8, 6, 12)), blocks=3)
    series = directory / "timeseries.csv"
    series.write_bytes(b"".join(series.read_bytes().splitlines(keepends=True)[:40]))
    append_metadata_hash(directory / "statistics.h5", np.zeros(0, np.uint64))
    return directory


def check(file: Path, changes: list, read: Callable[[], object], same: Callable[[object, object], None]) -> None:
    """Refused, or read without any change."""
    content = file.read_bytes()
    expected = read()
    try:
        file.write_bytes(changed(content, changes))
        try:
            found = read()
        except InputOutputError as error:
            assert str(file) in str(error)
            assert "\n" not in str(error)
            return
        same(found, expected)
    finally:
        file.write_bytes(content)


def same_members(found: object, expected: object) -> None:
    for member in fields(expected):  # type: ignore[arg-type]
        np.testing.assert_equal(getattr(found, member.name), getattr(expected, member.name), member.name)


@given(changes=st.lists(CHANGES, min_size=1, max_size=6))
def test_statistics(run: Path, changes: list) -> None:
    file = run / "statistics.h5"

    def same(found: tuple, expected: tuple) -> None:
        for one, other in zip(found, expected, strict=True):
            same_members(one, other)

    check(file, changes, lambda: read_statistics(file), same)


@given(changes=st.lists(CHANGES, min_size=1, max_size=6))
def test_slice(run: Path, changes: list) -> None:
    file = next((run / "slices" / "parts").glob("*.h5"))

    def read() -> object:
        plane, notes = latest_streak_slice(run, 2.0, 180.0)
        if plane is None:
            raise InputOutputError(notes[0])
        assert not notes
        return plane

    check(file, changes, read, same_members)


@given(changes=st.lists(CHANGES, min_size=1, max_size=6))
def test_time_series(run: Path, changes: list) -> None:
    """Whole rows may be missing, as after a kill; none may have changed."""
    file = run / "timeseries.csv"

    def same(found: object, expected: object) -> None:
        if found is None:
            return
        rows = {tuple(row) for row in zip(*expected.columns.values(), strict=True)}
        assert all(tuple(row) in rows for row in zip(*found.columns.values(), strict=True))

    check(file, changes, lambda: read_timeseries(file), same)
