import h5py
import numpy as np
import pytest
import synthetic

from sluice_post.errors import InputOutputError
from sluice_post.slices import latest_streak_slice
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


def test_other_normals_and_fields_are_not_streaks(tmp_path, flow):
    synthetic.write_slice(tmp_path / "slices" / "y_1.h5", flow, 0.083, 1.0)
    with h5py.File(tmp_path / "slices" / "y_1.h5", "a") as file:
        file.attrs["normal"] = "y"
    synthetic.attach_hashes(tmp_path / "slices" / "y_1.h5")
    assert latest_streak_slice(tmp_path, 2.0, None) == (None, [])
