#!/usr/bin/env python3
"""A series of transposes by mpi_pipelined, while another job loads the same links for some time.

usage: scripts/measure_congestion.py [--launch "mpirun -n 2"] [--load-launch "mpirun -n 2"] [--program sluice]
           [--grid NX,NY,NZ] [--series N] [--before SECONDS] [--during SECONDS] [--json series.json]

Both jobs are `sluice bench transpose` on the same grid. The second one starts some seconds after the first and is
stopped some seconds later; the series must last longer than both. Prints the median time of a round trip before,
during and after the load, and between which round trips the pieces were tuned, with what was chosen. The series is in
the JSON file, which `sluice-post bench` draws.
"""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def bench(launch: str, program: str, grid: str, *options: str) -> list[str]:
    """The command of a series."""
    kind = ["--kind", "xz", "--exchange", "mpi_pipelined", "--warm-up", "0"]
    return [*shlex.split(launch), program, "bench", "transpose", "--grid", grid, *kind, *options]


def summary(row: dict[str, Any], load_begin: float, load_end: float) -> list[str]:
    """Medians before, during and after the load, and the tuning; times of the load are of the system clock."""
    series = row["series"]
    began = [series["begin"] + at for at in series["at_seconds"]]
    spans = {"before": (float("-inf"), load_begin), "during": (load_begin, load_end), "after": (load_end, float("inf"))}
    tuning = {n for entry in series["tuning"] for n in range(entry["begin"], entry["end"])}
    lines = []
    for name, (begin, end) in spans.items():
        inside = [n for n, moment in enumerate(began) if begin <= moment < end]
        if not inside:
            raise SystemExit(f"no round trip {name} the load: change --series, --before or --during")
        times = [series["milliseconds"][n] for n in inside if n not in tuning]
        median = f"{statistics.median(times):.3f} ms" if times else "all while tuning"
        lines.append(f"{name} the load: round trips {inside[0]} to {inside[-1]}, median without tuning {median}")
    for entry in series["tuning"]:
        chosen = "; ".join(entry.get("chosen", ["not ended"]))
        lines.append(f"tuning from round trip {entry['begin']} to {entry['end']}: {chosen}")
    return lines


def wait_beside(series: subprocess.Popen[bytes], seconds: float) -> None:
    """Waits for so many seconds; ends the program if the series ends earlier."""
    try:
        code = series.wait(seconds)
    except subprocess.TimeoutExpired:
        return
    if code != 0:
        sys.exit(f"the series ended with exit code {code}")
    sys.exit("the series ended before the load: take a larger --series")


def main() -> None:
    """Runs both jobs and prints the summary."""
    parser = argparse.ArgumentParser(usage=(__doc__ or "").split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--launch", default="mpirun -n 2")
    parser.add_argument("--load-launch", default="mpirun -n 2")
    parser.add_argument("--program", default="sluice")
    parser.add_argument("--grid", default="256,256,256")
    parser.add_argument("--series", type=int, default=2000)
    parser.add_argument("--before", type=float, default=30)
    parser.add_argument("--during", type=float, default=60)
    parser.add_argument("--json", type=Path, default=Path("series.json"))
    args = parser.parse_args()
    options = ["--series", str(args.series), "--json", str(args.json)]
    series = subprocess.Popen(bench(args.launch, args.program, args.grid, *options), stdout=subprocess.DEVNULL)
    wait_beside(series, args.before)
    load_begin = time.time()
    endless = ["--series", "1000000000"]
    load = subprocess.Popen(
        bench(args.load_launch, args.program, args.grid, *endless), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_beside(series, args.during)
        if load.poll() is not None:
            series.terminate()
            sys.exit("the load did not run as long as it should")
    finally:
        load_end = time.time()
        load.send_signal(signal.SIGTERM)
        try:
            load.wait(30)
        except subprocess.TimeoutExpired:
            load.kill()
    code = series.wait()
    if code != 0:
        sys.exit(f"the series ended with exit code {code}")
    row = json.loads(args.json.read_text().splitlines()[0])
    print("\n".join(summary(row, load_begin, load_end)))


if __name__ == "__main__":
    main()
