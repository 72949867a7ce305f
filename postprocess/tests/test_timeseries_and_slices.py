import h5py
import numpy as np
import pytest
import synthetic

from sluice_post.errors import InputOutputError
from sluice_post.figures_run import plane_picture
from sluice_post.slices import latest_planes, latest_streak_slice
from sluice_post.timeseries import friction_reynolds_series, re_tau_last_third, read_timeseries

HEADER = "step,time,dt,cfl,bulk_velocity,forcing,re_tau_bottom,re_tau_top,kinetic_energy,max_divergence\n"


def rows(values, top=None):
    top = values if top is None else top
    lines = [
        f"{i},{i},0.1,0.9,1,0.004,{b},{t},0.5,1e-14" for i, (b, t) in enumerate(zip(values, top, strict=True))
    ]
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


def test_empty_and_absent(tmp_path):
    path = tmp_path / "timeseries.csv"
    assert read_timeseries(path) is None
    path.write_text(HEADER)
    assert read_timeseries(path) is None
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputOutputError, match="line 1"):
        read_timeseries(path)


def test_latest_slice_nearest_to_fifteen_wall_units(tmp_path, flow):
    for at, time in ((0.083, 1.0), (0.083, 3.0), (1.0, 9.0), (1.0, 2.0)):
        synthetic.write_slice(tmp_path / "slices" / f"z{at}_{int(time):07d}.h5", flow, at, time)
    plane, problems = latest_streak_slice(tmp_path, 2.0, flow.re_tau)
    assert (plane.at, plane.time) == (0.083, 3.0)
    assert plane.u.shape == (flow.cells[1], flow.cells[0])
    assert problems == []


def test_damaged_slice_is_passed_over(tmp_path, flow):
    synthetic.write_slice(tmp_path / "slices" / "z_1.h5", flow, 0.083, 1.0)
    synthetic.write_slice(tmp_path / "slices" / "z_2.h5", flow, 0.083, 2.0)
    with h5py.File(tmp_path / "slices" / "z_2.h5", "a") as file:
        del file["u"]
        file["u"] = np.zeros((3, 3))
    (tmp_path / "slices" / "z_3.h5").write_text("cut short")
    plane, problems = latest_streak_slice(tmp_path, 2.0, flow.re_tau)
    assert plane.time == 1.0
    assert len(problems) == 2


def write_plane(path, flow, normal, time):
    """A slice of u through x or y = 1, whose value is z, less the time."""
    synthetic.write_slice(path, flow, 0.083, time)
    with h5py.File(path, "a") as file:
        file.attrs["normal"], file.attrs["at"] = normal, 1.0
        for axis, node in ((normal, [0.9, 1.1]), ("z", flow.z_face)):
            node = np.array(node)
            for name, values in (("", (node[1:] + node[:-1]) / 2), ("_face", node[1:]), ("_node", node)):
                del file[f"grid/{axis}{name}"]
                file[f"grid/{axis}{name}"] = values
        sizes = [file[f"grid/{axis}"].size for axis in "zyx"]
        del file["u"]
        file["u"] = np.broadcast_to(file["grid/z"][()][:, None, None] - time, sizes)
    synthetic.attach_hashes(path)


def test_latest_planes_normal_to_x_and_y(tmp_path, flow):
    folder = tmp_path / "slices"
    for normal in "xy":
        for time in (1.0, 3.0, 2.0):
            write_plane(folder / f"{normal}1_{int(time):07d}.h5", flow, normal, time)
    synthetic.write_slice(folder / "z0.083_0000009.h5", flow, 0.083, 9.0)
    (folder / "y1_0000004.h5").write_text("cut short")
    planes, problems = latest_planes(tmp_path)
    assert len(problems) == 1 and "y1_0000004.h5" in problems[0]
    assert [(plane.label, plane.normal, plane.time) for plane in planes] == [
        ("x1", "x", 3.0),
        ("y1", "y", 3.0),
    ]
    for plane, points in zip(planes, (flow.cells[1], flow.cells[0]), strict=True):
        assert plane.values.shape == (flow.cells[2], points)
        assert plane.along.size == points and plane.field == "u"
        assert np.allclose(plane.values, plane.z[:, None] - 3.0)
        axes = plane_picture(plane).axes[0]
        assert axes.get_ylabel() == "$z/h$" and "1" in axes.get_title(loc="left")


def test_other_normals_and_fields_are_not_streaks(tmp_path, flow):
    synthetic.write_slice(tmp_path / "slices" / "y_1.h5", flow, 0.083, 1.0)
    with h5py.File(tmp_path / "slices" / "y_1.h5", "a") as file:
        file.attrs["normal"] = "y"
    synthetic.attach_hashes(tmp_path / "slices" / "y_1.h5")
    assert latest_streak_slice(tmp_path, 2.0, None) == (None, [])
