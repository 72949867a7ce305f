"""Damaged files: each is refused with one message that names it, or is read without any change of a number.

Hypothesis changes their bytes; objects are removed, or are of another shape or type.
"""

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, fields
from io import StringIO
from pathlib import Path

import h5py
import numpy as np
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from sluice_post.cli import main
from sluice_post.errors import EXIT_INPUT_OUTPUT, InputOutputError
from sluice_post.hdf5_file import append_metadata_hash
from sluice_post.html import report_page
from sluice_post.results import evaluate
from sluice_post.run import load_run
from sluice_post.slices import latest_streak_slice
from sluice_post.timeseries import read_timeseries

FLIPS = 200
LENGTHS = 50
SUBSTITUTES = {
    "timeseries.csv": [(b",", b";"), (b"0", b"nan"), (b"0", b""), (b"\n", b"\r"), (b"time", b"step"), (b",", b'"')],
    "run.json": [
        *((b"[", b"{"), (b'"', b"'"), (b"2", b"null"), (b"{", b"[{"), (b"41.2", b"NaN"), (b"41.2", b'"x"')),
        *((b'"momentum"', b"[]"), (b'{"host": "node01", "device": "CPU"}', b"[1]"), (b"7100000.0", b'"fast"')),
        *((b"7100000.0", b"1e999"), (b"[2, 2]", b"{}"), (b"4", b"9" * 5000), (b"4", b"[" * 100000)),
    ],
}


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
def intact(tmp_path_factory):
    directory = tmp_path_factory.mktemp("intact")
    flow = synthetic.Flow(cells=(8, 6, 12))
    synthetic.write_run(directory, flow, blocks=3)
    series = directory / "timeseries.csv"
    series.write_bytes(b"".join(series.read_bytes().splitlines(keepends=True)[:40]))
    synthetic.write_parameter_sets(directory / "statistics.h5", [0, 0, 0], [synthetic.parameters_of(flow)])
    return directory


@pytest.fixture
def run(intact, tmp_path):
    return shutil.copytree(intact, tmp_path / "run")


@pytest.fixture(scope="module")
def hashed(intact, tmp_path_factory):
    """With the hash of all bytes of statistics.h5; and what `sluice-post profiles` prints."""
    run = shutil.copytree(intact, tmp_path_factory.mktemp("hashed") / "run")
    append_metadata_hash(run / "statistics.h5", np.zeros(0, np.uint64))
    return run, profiles_of(run)[1]


@contextmanager
def with_changes(path: Path, changes: list) -> Iterator[None]:
    content = path.read_bytes()
    path.write_bytes(changed(content, changes))
    try:
        yield
    finally:
        path.write_bytes(content)


def flipped(content, chosen):
    """The content with one bit flipped."""
    changed = bytearray(content)
    position = chosen.randrange(len(changed))
    changed[position] ^= 1 << chosen.randrange(8)
    return bytes(changed)


@dataclass
class Tally:
    """What became of the damaged files of one test."""

    refused: int = 0
    unchanged: int = 0
    messages: set = field(default_factory=set)


def profiles_of(run):
    """Exit code, output and error of `sluice-post profiles`."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = main(["profiles", str(run)])
    return code, out.getvalue(), err.getvalue()


def check_statistics(run, expected, tally):
    """The damaged statistics.h5 is refused with one message, or gives the expected profiles."""
    code, out, err = profiles_of(run)
    if code == 0:
        assert out == expected
        tally.unchanged += 1
        return
    assert code == EXIT_INPUT_OUTPUT
    assert out == ""
    assert err.startswith(f"sluice-post: {run / 'statistics.h5'}: ")
    assert err.count("\n") == 1
    tally.refused += 1
    tally.messages.add(err)


@given(changes=st.lists(CHANGES, min_size=1, max_size=6))
def test_changed_statistics(hashed, changes):
    run, expected = hashed
    with with_changes(run / "statistics.h5", changes):
        check_statistics(run, expected, Tally())


def test_truncated_statistics(run):
    path = run / "statistics.h5"
    content, tally = path.read_bytes(), Tally()
    for length in np.linspace(0, len(content) - 1, LENGTHS, dtype=int):
        path.write_bytes(content[:length])
        check_statistics(run, None, tally)
    assert tally.refused == LENGTHS


def objects_of(path):
    """Names of all objects in a file, with the names of their attributes."""
    found = {}
    with h5py.File(path) as file:
        found["/"] = list(file.attrs)
        file.visititems(lambda name, item: found.update({name: list(item.attrs)}))
    return found


def each_part_missing(path):
    """The names of each dataset, group and attribute, while it is deleted from the file; of objects with None."""
    content = path.read_bytes()
    for name, attributes in objects_of(path).items():
        for attribute in [*attributes, *([None] if name != "/" else [])]:
            path.write_bytes(content)
            with h5py.File(path, "a") as file:
                if attribute is None:
                    del file[name]
                else:
                    del file[name].attrs[attribute]
            yield name, attribute


def test_missing_parts_of_statistics(run):
    tally, expected = Tally(), profiles_of(run)[1]
    for name, attribute in each_part_missing(run / "statistics.h5"):
        code, _, err = profiles_of(run)
        if name != "step_end" and not name.endswith("block"):  # which sluice-post does not read
            assert code == EXIT_INPUT_OUTPUT, (name, attribute)
            assert name in err
        check_statistics(run, expected, tally)


@pytest.mark.parametrize("name", ["u", "uw", "samples", "t_end", "forcing", "parameter_set", "grid/z", "grid/z_face"])
def test_wrong_shapes_and_types_in_statistics(run, name):
    """The hashes are right, so that shape and type themselves are examined."""
    path = run / "statistics.h5"
    content, tally = path.read_bytes(), Tally()
    with h5py.File(path) as file:
        values = file[name][()]
    wrong = [values[:-1], values[None], values.T[:, None], values.astype(np.float32), np.float64(1), values > 0]
    wrong += [h5py.Empty("f8"), np.full(values.shape, b"text"), np.zeros(values.shape, [("a", "f8")]), "text"]
    for data in wrong:
        path.write_bytes(content)
        with h5py.File(path, "a") as file:
            del file[name]
            dataset = file.create_dataset(name, data=data)
            if isinstance(dataset[()], np.ndarray | np.generic):
                dataset.attrs["hash"] = np.uint64(synthetic.hashes.byte_hash(0, dataset[()].tobytes()))
        check_statistics(run, None, tally)
    assert name == "samples" or all(name in message for message in tally.messages)  # "samples" gives the number
    path.write_bytes(content)
    with h5py.File(path, "a") as file:
        del file[name]
        file.create_group(name)
    check_statistics(run, None, tally)


def test_free_space_of_a_heap_of_texts(run):
    """HDF5 would read such a file without end."""
    path = run / "statistics.h5"
    content, tally = path.read_bytes(), Tally()
    begin = content.index(b"GCOL")
    position = begin + 16
    while int.from_bytes(content[position : position + 2], "little") > 0:
        size = int.from_bytes(content[position + 8 : position + 16], "little")
        position += 16 + (size + 7) // 8 * 8
    path.write_bytes(content[: position + 8] + (16).to_bytes(8, "little") + content[position + 16 :])
    check_statistics(run, None, tally)
    assert "damaged" in tally.messages.pop()


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"\x89HDF\r\n\x1a\n", b"step,time\n1,2\n"])
def test_foreign_statistics(run, content):
    (run / "statistics.h5").write_bytes(content)
    check_statistics(run, None, Tally())


def test_other_hdf5_files_as_statistics(run):
    path, tally = run / "statistics.h5", Tally()
    shutil.copy(run / "slices" / "z0.h5", path)
    check_statistics(run, None, tally)
    h5py.File(path, "w").close()
    check_statistics(run, None, tally)
    path.unlink()
    check_statistics(run, None, tally)
    path.mkdir()
    check_statistics(run, None, tally)


def plane_of(run):
    """The values of the plane that a report shows, and the notes about slices."""
    plane, notes = latest_streak_slice(run, 2.0, 180.0)
    assert all("\n" not in note for note in notes)
    return plane and [getattr(plane, f.name) for f in fields(plane)], notes


def check_slice(run, expected):
    """A damaged slice is passed over with a note, or has not changed."""
    plane, notes = plane_of(run)
    if plane is None:
        assert len(notes) == 1
    else:
        assert not notes
        np.testing.assert_equal(plane, expected)
    return plane is None


@given(changes=st.lists(CHANGES, min_size=1, max_size=6))
def test_changed_slices(intact, changes):
    (path,) = (intact / "slices" / "parts").glob("*.h5")
    expected = plane_of(intact)[0]
    with with_changes(path, changes):
        check_slice(intact, expected)


def test_damaged_slices(run):
    (path,) = (run / "slices" / "parts").glob("*.h5")
    content, expected = path.read_bytes(), plane_of(run)[0]
    for length in np.linspace(0, len(content) - 1, LENGTHS, dtype=int):
        path.write_bytes(content[:length])
        assert check_slice(run, expected)
    path.write_bytes(content)
    for missing in each_part_missing(path):
        assert missing == ("u", None) or check_slice(run, expected), missing  # without u, it is one of other fields


@given(changes=st.lists(CHANGES, min_size=1, max_size=6))
def test_changed_time_series(intact, changes):
    """Whole rows may be missing, as after a kill; none may have changed."""
    path = intact / "timeseries.csv"
    expected = read_timeseries(path)
    with with_changes(path, changes):
        try:
            found = read_timeseries(path)
        except InputOutputError as error:
            assert str(path) in str(error) and "\n" not in str(error)
            return
    rows = {tuple(row) for row in zip(*expected.columns.values(), strict=True)}
    assert found is None or all(tuple(row) in rows for row in zip(*found.columns.values(), strict=True))


def test_damaged_time_series(run):
    """Refused, or read without any change but rows that are missing at the end of a truncated file."""
    path = run / "timeseries.csv"
    content, chosen = path.read_bytes(), random.Random(4)
    expected = read_timeseries(path)
    damaged = [flipped(content, chosen) for _ in range(FLIPS)]
    damaged += [content[:-1] + bytes([content[-1] ^ 1 << bit]) for bit in range(8)]
    for text in damaged:
        path.write_bytes(text)
        with pytest.raises(InputOutputError, match=str(path)):
            read_timeseries(path)
    for length in np.linspace(0, len(content) - 1, LENGTHS, dtype=int):
        path.write_bytes(content[:length])
        series = read_timeseries(path)
        for name in series.columns if series else ():
            np.testing.assert_array_equal(series[name], expected[name][: len(series)])


def test_time_series_without_hashes(run):
    path = run / "timeseries.csv"
    with_hashes = read_timeseries(path)
    path.write_text("".join(f"{line.rpartition(',')[0]}\n" for line in path.read_text().splitlines()))
    without = read_timeseries(path)
    assert with_hashes.hashed
    assert not without.hashed
    for name in with_hashes.columns:
        np.testing.assert_array_equal(without[name], with_hashes[name])
    assert any("without hashes" in note for note in load_run(run).missing)


@pytest.mark.parametrize("name", ["timeseries.csv", "run.json"])
def test_damaged_texts_end_in_no_traceback(run, name):
    (run / "statistics.h5").unlink()
    path = run / name
    content, chosen = path.read_bytes(), random.Random(3)
    damaged = [flipped(content, chosen) for _ in range(FLIPS // 20)]
    damaged += [content[:length] for length in np.linspace(0, len(content) - 1, LENGTHS // 5, dtype=int)]
    damaged += [content.replace(old, new) for old, new in SUBSTITUTES[name]]
    for text in damaged:
        path.write_bytes(text)
        try:
            assert "<html" in report_page(evaluate(load_run(run)), [], "")
        except InputOutputError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error)
