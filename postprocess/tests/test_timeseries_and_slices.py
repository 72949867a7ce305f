import h5py
import numpy as np
import pytest
import synthetic

from sluice_post import layout
from sluice_post.datasets.fields import samples_dataset
from sluice_post.datasets.scalars import time_series_dataset
from sluice_post.errors import InputOutputError
from sluice_post.figures_run import plane_picture
from sluice_post.hashes import byte_hash
from sluice_post.probe_parts import Part
from sluice_post.slices import latest_planes, latest_streak_slice, slice_labels, some_planes
from sluice_post.timeseries import friction_reynolds_series, re_tau_last_third, read_timeseries

HEADER = "step,time,dt,cfl,bulk_velocity,forcing,re_tau_bottom,re_tau_top,kinetic_energy,max_divergence\n"


def rows(values, top=None):
    top = values if top is None else top
    lines = [f"{i},{i},0.1,0.9,1,0.004,{b},{t},0.5,1e-14" for i, (b, t) in enumerate(zip(values, top, strict=True))]
    return HEADER + "\n".join(lines) + "\n"


def test_last_third_and_mean_wall_stress(tmp_path):
    path = tmp_path / "timeseries.csv"
    path.write_text(rows([100.0] * 60 + [30.0] * 31, [100.0] * 60 + [40.0] * 31))
    series = read_timeseries(path)
    assert re_tau_last_third(series).mean == pytest.approx(np.sqrt((900 + 1600) / 2))


def test_one_wall_and_no_wall(tmp_path):
    path = tmp_path / "timeseries.csv"
    path.write_text(rows([180.0] * 10, [1e-5] * 10))  # free-slip: round-off of zero
    np.testing.assert_allclose(friction_reynolds_series(read_timeseries(path)), 180.0)
    path.write_text(rows([0.0] * 10))
    assert re_tau_last_third(read_timeseries(path)) is None


def test_line_cut_short_is_left_out(tmp_path):
    path = tmp_path / "timeseries.csv"
    path.write_text(rows([180.0] * 4) + "4,4,0.1,0.9")
    assert len(read_timeseries(path)) == 4
    path.write_text(rows([180.0] * 4) + "rubbish,row\n" + "5,5,0.1,0.9,1,0.004,180,180,0.5,1e-14\n")
    with pytest.raises(InputOutputError, match="line 6"):
        read_timeseries(path)


def hashed(*texts):
    return "".join(f"{text},{byte_hash(0, text.encode()) >> 11}\n" for text in texts)


def test_further_columns(tmp_path):
    path = tmp_path / "timeseries.csv"
    header = HEADER.rstrip() + ",power,T1_mean,hash\n"
    row = "1,0.5,0.1,0.9,1,0.004,180,180,0.5,1e-14"
    path.write_text(header + hashed(f"{row},0.25,-3", f"2{row[1:]},0.5,-4"))
    series = read_timeseries(path)
    np.testing.assert_array_equal(series["power"], [0.25, 0.5])
    np.testing.assert_array_equal(series["T1_mean"], [-3, -4])
    data = time_series_dataset(series)
    assert data["power"].attrs["units"] == "U^3/h"
    assert data["T1_mean"].attrs["long_name"] == "T1 mean"
    path.write_text(header + hashed(f"{row},0.25"))
    with pytest.raises(InputOutputError, match="line 2 is damaged: 11 values instead of 12"):
        read_timeseries(path)
    for cut in (len(HEADER) - 1, len(HEADER) + 4, len(header) - 1):
        path.write_text(header[:cut])
        assert read_timeseries(path) is None
    for wrong in ("power,power,hash", "power", "po wer,hash", ",hash", "hash,hash", "power,hash,"):
        path.write_text(f"{HEADER.rstrip()},{wrong}\n")
        with pytest.raises(InputOutputError, match="line 1"):
            read_timeseries(path)


def test_empty_and_absent(tmp_path):
    path = tmp_path / "timeseries.csv"
    assert read_timeseries(path) is None
    path.write_text(HEADER)
    assert read_timeseries(path) is None
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputOutputError, match="line 1"):
        read_timeseries(path)


def test_latest_slice_nearest_to_fifteen_wall_units(tmp_path, flow):
    synthetic.write_slices(tmp_path, "z0.083", flow, 0.083, [1.0, 3.0])
    synthetic.write_slices(tmp_path, "z1", flow, 1.0, [2.0, 9.0])
    plane, problems = latest_streak_slice(tmp_path, 2.0, flow.re_tau)
    assert (plane.at, plane.time) == (0.083, 3.0)
    np.testing.assert_array_equal(plane.values, synthetic.streaks(flow, 1))
    assert problems == []


def test_damaged_slice_is_passed_over(tmp_path, flow):
    synthetic.write_slices(tmp_path, "z0", flow, 0.083, [1.0, 2.0, 3.0], part_samples=1)
    second, third = (tmp_path / "slices" / "parts" / f"z0_0000{step}.h5" for step in (200, 300))
    with h5py.File(second, "a") as file:
        del file["u"]
        file["u"] = np.zeros((1, 1, 3, 3))
    third.write_text("cut short")
    plane, problems = latest_streak_slice(tmp_path, 2.0, flow.re_tau)
    assert plane.time == 1.0
    assert [str(third) in problems[0], str(second) in problems[1]] == [True, True]


def test_slices_in_parts_are_read_as_one(tmp_path, flow):
    times = [1.0, 2.0, 3.0, 4.0]
    synthetic.write_slices(tmp_path, "z0", flow, 0.083, times, part_samples=3)
    found = samples_dataset(tmp_path, "z0", layout.SLICE_FOLDER, 2.0, None)
    assert (found.normal, found.at) == ("z", 0.083)
    assert (found.time.values.tolist(), found.step.values.tolist()) == (times[1:], [200, 300, 400])
    for seed in (1, 2, 3):
        np.testing.assert_array_equal(found.u[seed - 1, 0], synthetic.streaks(flow, seed))


def write_planes(directory, label, flow, at, times):
    """A slice of u normal to x or y, whose value is z, less the time; each time is a part."""
    shape = (flow.z.size, flow.cells[1] if label[0] == "x" else flow.cells[0])
    values = np.array([np.broadcast_to(flow.z[:, None] - time, shape) for time in times])
    synthetic.write_slices(directory, label, flow, at, times, values, part_samples=1)


def test_latest_planes_normal_to_x_and_y(tmp_path, flow):
    for normal in "xy":
        write_planes(tmp_path, f"{normal}1", flow, 1.0, [1.0, 2.0, 3.0])
    synthetic.write_slices(tmp_path, "z0.083", flow, 0.083, [9.0])
    (tmp_path / "slices" / "parts" / "y1_0000400.h5").write_text("cut short")
    planes, problems = latest_planes(tmp_path)
    assert len(problems) == 1 and "y1_0000400.h5" in problems[0]
    assert [(plane.label, plane.normal, plane.time) for plane in planes] == [("x1", "x", 3.0), ("y1", "y", 3.0)]
    for plane, points in zip(planes, (flow.cells[1], flow.cells[0]), strict=True):
        assert plane.values.shape == (flow.cells[2], points)
        assert plane.along.size == points and plane.field == "u"
        assert np.allclose(plane.values, plane.up[:, None] - 3.0)
        axes = plane_picture(plane).axes[0]
        assert axes.get_ylabel() == "$z/h$" and "1" in axes.get_title(loc="left")


def test_a_part_that_a_restart_cuts_while_it_is_read(tmp_path, flow, monkeypatch):
    """Between the listing of its times and the reading of its fields."""
    synthetic.write_slices(tmp_path, "z0.083", flow, 0.083, [1.0, 2.0, 3.0])
    opened = []

    def open_and_cut(path):
        opened.append(path)
        if len(opened) == 2:
            synthetic.write_slices(tmp_path, "z0.083", flow, 0.083, [1.0])
        return Part(path)

    monkeypatch.setattr("sluice_post.slices.Part", open_and_cut)
    problems = []
    assert list(some_planes(tmp_path, "z0.083", "u", None, 3.0, 24, problems)) == []
    assert len(problems) == 1 and "a restart has cut it" in problems[0]


def test_other_normals_are_not_streaks(tmp_path, flow):
    values = np.zeros((1, flow.cells[2], flow.cells[0]))
    synthetic.write_slices(tmp_path, "y1", flow, 1.0, [1.0], values)
    assert latest_streak_slice(tmp_path, 2.0, None) == (None, [])


def test_files_of_earlier_versions_are_named(tmp_path):
    """Those with one time each."""
    (tmp_path / "slices").mkdir()
    (tmp_path / "slices" / "z0.083_0000120.h5").write_text("not read")
    assert slice_labels(tmp_path) == []
    plane, problems = latest_streak_slice(tmp_path, 2.0, None)
    assert plane is None and len(problems) == 1 and "an earlier version" in problems[0]
