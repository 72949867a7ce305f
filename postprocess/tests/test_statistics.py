import h5py
import numpy as np
import pytest
import synthetic

from sluice_post.errors import InputOutputError, UsageError
from sluice_post.run import load_statistics
from sluice_post.statistics import read_statistics


def write(tmp_path, flow, blocks, **options):
    path = tmp_path / "statistics.h5"
    synthetic.write_statistics(path, flow, blocks, **options)
    return path


def constant(flow, value):
    raw = {name: np.full(flow.cells[2], value) for name in synthetic.CENTRE}
    return raw | {name: np.full(flow.cells[2] + 1, value) for name in synthetic.FACE}


def test_blocks_are_weighted_by_their_samples(tmp_path, flow):
    path = write(tmp_path, flow, [constant(flow, 1.0), constant(flow, 5.0)], samples=[30, 10])
    _, blocks = read_statistics(path)
    means = blocks.means()
    assert means.samples == 40
    np.testing.assert_allclose(means.centre["u"], 2.0)  # (30*1 + 10*5)/40
    np.testing.assert_allclose(means.face["uw"], 2.0)
    np.testing.assert_allclose(means.forcing, flow.u_tau**2)


def test_leaving_out_a_block(tmp_path, flow):
    path = write(tmp_path, flow, [constant(flow, v) for v in (1.0, 5.0, 9.0)], samples=[30, 10, 10])
    _, blocks = read_statistics(path)
    np.testing.assert_allclose(blocks.means(without=0).centre["u"], 7.0)
    assert blocks.means(without=0).samples == 20


def test_range_takes_only_blocks_wholly_inside(tmp_path, flow):
    path = write(tmp_path, flow, [constant(flow, v) for v in (1.0, 2.0, 3.0, 4.0)], begin=0.0, length=10.0)
    _, blocks = read_statistics(path)
    inside = blocks.between(10.0, 35.0)
    assert list(inside.time_begin) == [10.0, 20.0]
    np.testing.assert_allclose(inside.means().centre["u"], 2.5)
    with pytest.raises(UsageError, match=r"from t = 0 to t = 40"):
        blocks.between(41.0, None)


def test_parameters(tmp_path, flow):
    parameters, _ = read_statistics(write(tmp_path, flow, [constant(flow, 1.0)]))
    assert parameters.reach == 1.0
    assert parameters.viscosity == flow.viscosity
    assert parameters.title == flow.title
    assert parameters.git_revision == "0123456789abcdef"


@pytest.mark.parametrize("name", ["samples", "uw", "grid/z", "t_begin", "pp"])
def test_missing_dataset_is_named(tmp_path, flow, name):
    path = write(tmp_path, flow, [constant(flow, 1.0)])
    with h5py.File(path, "a") as file:
        del file[name]
    with pytest.raises(InputOutputError, match=f"/{name}"):
        read_statistics(path)


def test_missing_attribute_newer_format_and_wrong_shape(tmp_path, flow):
    path = write(tmp_path, flow, [constant(flow, 1.0)])
    with h5py.File(path, "a") as file:
        file.attrs["format_version"] = 2
    with pytest.raises(InputOutputError, match="newer"):
        read_statistics(path)
    with h5py.File(path, "a") as file:
        file.attrs["format_version"] = 1
        del file.attrs["viscosity"]
    synthetic.attach_hashes(path)
    with pytest.raises(InputOutputError, match="'viscosity'"):
        read_statistics(path)
    path = write(tmp_path, flow, [constant(flow, 1.0)])
    with h5py.File(path, "a") as file:
        del file["uw"]
        file["uw"] = np.zeros((1, flow.cells[2]))
    with pytest.raises(InputOutputError, match="shape"):
        read_statistics(path)


def test_not_an_hdf5_file(tmp_path):
    path = tmp_path / "statistics.h5"
    path.write_text("not HDF5")
    with pytest.raises(InputOutputError, match="the HDF5 file cannot be read"):
        read_statistics(path)


def test_no_closed_block(tmp_path, flow):
    _, blocks = read_statistics(write(tmp_path, flow, []))
    assert len(blocks) == 0
    assert len(blocks.between(10.0, None)) == 0


def test_blocks_of_different_flows_are_not_pooled(tmp_path, flow):
    """Two flows in one file, as a run continued with another viscosity writes them."""
    path = write(tmp_path, flow, [constant(flow, v) for v in (1.0, 3.0, 5.0)], begin=0.0, length=10.0)
    common: dict[str, object] = {"flow.type": "channel", "walls.bottom.velocity": "[0.5, -1e-05, 0]"}
    common |= {"walls.bottom.type": "no_slip", "walls.top.type": "free_slip"}
    name = "flow.reynolds.viscosity"
    synthetic.write_parameter_sets(path, [0, 0, 1], [common | {name: "0.002"}, common | {name: "0.001"}])
    parameters, blocks = read_statistics(path)
    for pool in (blocks.means, lambda: load_statistics(tmp_path)):
        with pytest.raises(UsageError, match=rf"t = 20: {name} 0.002 -> 0.001; .*--to 20 or --from 20"):
            pool()
    parameters, blocks = load_statistics(tmp_path, end=20.0)
    assert parameters.viscosity == 2e-3
    assert (parameters.wall_bottom, parameters.wall_top) == ("no_slip", "free_slip")
    assert (parameters.velocity_bottom, parameters.velocity_top) == ((0.5, -1e-5, 0.0), (0.0, 0.0, 0.0))
    np.testing.assert_allclose(blocks.means().centre["u"], 2.0)
    parameters, blocks = load_statistics(tmp_path, begin=20.0)
    assert parameters.viscosity == 1e-3
    np.testing.assert_allclose(blocks.means().centre["u"], 5.0)


def test_blocks_of_version_0_1_are_of_the_flow_of_the_file(tmp_path, flow):
    write(tmp_path, flow, [constant(flow, v) for v in (1.0, 3.0)])
    parameters, blocks = load_statistics(tmp_path)
    assert parameters.viscosity == flow.viscosity
    np.testing.assert_allclose(blocks.means().centre["u"], 2.0)
