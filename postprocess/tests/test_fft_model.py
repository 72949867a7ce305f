import re

import pytest
import test_bench

from sluice_post.cli import main
from sluice_post.fft_model import (
    Hosts,
    Link,
    break_even_bytes,
    coefficient_bytes,
    comparison_text,
    fitted_link,
    forecast_text,
    forecasts,
    modelled,
    sent,
)

LINK = Link(25e9, 2e-5)
rows_of = test_bench.rows_of


def entry(kind, grid, n=64, link=LINK, computation=None, values="complex", exchange="nccl", **more):
    """A round trip whose communication is that of the model."""
    ranks = grid[0] * grid[1]
    modes = n if values == "complex" else n // 2 + 1
    communication = 2e3 * link.seconds(*sent(16.0 * modes * n * n, grid))
    computation = n**3 * 1e-5 / ranks if computation is None else computation
    phases = {"fft": computation, "communication": communication}.items()
    what = {"what": "fft", "ranks": ranks, "cells": [n, n, n], "values": values, "process_grid": grid}
    return test_bench.entry(kind, exchange, computation + communication, phases, "contiguous", **what | more)


def test_slabs_and_pencils_send_what_the_thesis_says():
    total = 2 * 8 * 64.0**3
    for p, p1 in ((4, 2), (12, 3), (64, 8)):
        p2 = p // p1
        size, messages = sent(total, (1, p))
        assert (size, messages) == (pytest.approx((p - 1) * total / p**2), p - 1)
        size, messages = sent(total, (p1, p2))
        more = (p1 - 1) * (p2 - 1) * total / p**2
        assert (size, messages) == (pytest.approx((p - 1) * total / p**2 + more), p1 + p2 - 2)


def test_the_break_even_is_that_of_the_example_of_the_thesis():
    # 16 processes, 25 GB/s, 20 us, double precision: pencils are faster below N = 200.
    assert (break_even_bytes(16, LINK) / 16) ** (1 / 3) == pytest.approx(200)


@pytest.mark.parametrize("grid", [(2, 8), (4, 4), (8, 2)])
def test_the_break_even_holds_for_every_process_grid(grid):
    limit = break_even_bytes(16, LINK)
    for total, pencils_are_faster in ((0.99 * limit, True), (1.01 * limit, False)):
        pencils, slabs = (LINK.seconds(*sent(total, of)) for of in (grid, (1, 16)))
        assert (pencils < slabs) == pencils_are_faster


def test_the_link_is_found_again_in_times_of_the_model(rows_of):
    entries = [
        entry(kind, grid, n, values=values)
        for n in (32, 64, 128)
        for kind, grid in (("slab_2d_1d", (1, 4)), ("pencil", (2, 2)))
        for values in ("real", "complex")
    ]
    link = fitted_link(modelled(rows_of(*entries)))
    assert (link.bandwidth, link.latency) == pytest.approx((LINK.bandwidth, LINK.latency))
    without_latency = [entry("slab_2d_1d", (1, 4), n, Link(1e9, 0)) for n in (32, 64)]
    link = fitted_link(modelled(rows_of(*without_latency)))
    assert (link.bandwidth, link.latency) == pytest.approx((1e9, 0), rel=1e-9, abs=1e-12)
    assert fitted_link(modelled(rows_of(entries[0]))) is None
    assert fitted_link(modelled(rows_of(entries[0], entries[0]))) is None


def test_only_methods_whose_communication_is_apart_are_fitted(rows_of):
    rows = rows_of(
        entry("slab_2d_1d", (1, 4), exchange="peer"),
        entry("pencil", (2, 2), exchange="rows=nccl,columns=mpi_p2p"),
        entry("slab_2d_1d", (1, 1)),
        entry("cufft", (1, 4)),
        entry("pencil", (2, 2)),
    )
    assert list(modelled(rows).kind) == ["pencil"]


def test_the_comparison_shows_where_pencils_win(rows_of):
    entries = [entry(kind, grid, n) for n in (128, 256) for kind, grid in (("slab_2d_1d", (1, 16)), ("pencil", (4, 4)))]
    lines = comparison_text(rows_of(*entries)).splitlines()
    assert "25 GB/s, 20 us per message" in lines[0]
    assert "> 2e-06" in lines[0]
    for line, pencils_are_faster in zip(lines[2:], (True, False), strict=True):
        measured, model = map(float, line.split()[-2:])
        assert measured == model
        assert (model < 1) == pencils_are_faster
    assert comparison_text(rows_of(entries[0], entries[2])) == ""


def test_a_host_and_its_network_work_at_the_same_time():
    total, fast, slow = 1e9, Link(200e9, 1e-6), Link(10e9, 5e-6)
    hosts = Hosts(4, fast, slow)
    assert hosts.seconds(total, (1, 4)) == pytest.approx(fast.seconds(*sent(total, (1, 4))))
    assert hosts.seconds(total, (4, 1)) == pytest.approx(fast.seconds(*sent(total, (4, 1))))
    # Rows of four ranks within a host, columns of four hosts: three messages of a 64th each.
    inside, between = fast.seconds(3 * total / 64, 3), slow.seconds(3 * total / 64, 3)
    assert hosts.seconds(total, (4, 4)) == pytest.approx(inside + between)
    # Sixteen ranks in a row over four hosts: twelve messages leave the host.
    assert hosts.seconds(total, (1, 16)) == pytest.approx(slow.seconds(12 * total / 256, 12))
    # Columns of eight in rows of two: two of the eight are on a host.
    inside = fast.seconds(total / 32, 1)
    outside = max(fast.seconds(total / 128, 1), slow.seconds(6 * total / 128, 6))
    assert hosts.seconds(total, (2, 8)) == pytest.approx(inside + outside)


def test_forecasts_meet_measurements_that_follow_the_model(rows_of):
    ways = [("slab_2d_1d", (1, 4)), ("pencil", (2, 2))]
    rows = rows_of(*(entry(kind, grid, n) for n in (64, 128) for kind, grid in ways))
    of_grid = modelled(rows[rows.nx == 128])
    found = {forecast.grid: forecast for forecast in forecasts(of_grid, 16, Hosts(16, LINK, LINK))}
    assert set(found) == {(1, 16), (2, 8), (4, 4), (8, 2)}
    for grid, forecast in found.items():
        assert 1e3 * forecast.seconds == pytest.approx(entry("", grid, 128)["milliseconds"])
    assert (1, 256) not in {forecast.grid for forecast in forecasts(of_grid, 256, Hosts(16, LINK, LINK))}
    assert coefficient_bytes(next(of_grid.itertuples())) == 16 * 128**3
    assert forecast_text(rows[:1], [16], 8, LINK) == ""


def test_the_command_prints_model_and_forecast(tmp_path, capsys):
    ways = [("slab_2d_1d", (1, 4)), ("pencil", (2, 2))]
    entries = (entry(kind, grid, n) for n in (64, 128) for kind, grid in ways)
    file = str(test_bench.write(tmp_path / "fft.json", *entries))
    args = ("--forecast", "8", "64", "--devices-per-host", "8", "--network", "50", "20")
    assert main(["bench", file, *args]) == 0
    out = capsys.readouterr().out
    assert "25 GB/s, 20 us per message" in out
    found = re.findall(r" double +nccl +(\d+) +(slabs|pencils)", out)
    assert sorted(found) == sorted(2 * [(count, way) for count in ("8", "64") for way in ("slabs", "pencils")])
    assert main(["bench", file, "--forecast", "8"]) == 2
    assert "--network" in capsys.readouterr().err
    for wrong in (("--forecast", "0"), ("--network", "-1", "2"), ("--devices-per-host", "x")):
        with pytest.raises(SystemExit) as ended:
            main(["bench", file, *args, *wrong])
        assert ended.value.code == 2


def test_transforms_without_seconds_of_communication_are_left_out(rows_of):
    slab, pencil = (entry("slab_2d_1d", (1, 4)), entry("pencil", (2, 2)))
    idle = entry("slab_2d_1d", (1, 4), n=32)
    idle["phases"][1]["milliseconds"] = 0.0
    rows = rows_of(slab, pencil, idle, entry("pencil", (2, 2), n=32))
    assert len(modelled(rows)) == 3
    assert "32 x 32 x 32" not in comparison_text(rows)


def test_without_latency_pencils_are_never_faster(rows_of):
    link = Link(25e9, 0)
    kinds = (("slab_2d_1d", (1, 4)), ("pencil", (2, 2)))
    rows = rows_of(*(entry(kind, grid, n, link) for kind, grid in kinds for n in (64, 32)))
    assert "pencils are never faster" in comparison_text(rows)
