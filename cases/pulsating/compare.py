"""Compares the last period of cases/pulsating with Womersley's solution: compare.py timeseries.csv."""

import cmath
import csv
import math
import sys
from pathlib import Path


def pulse(viscosity: float = 0.05, amplitude: float = 0.3, omega: float = math.pi) -> complex:
    """The complex amplitude of the bulk velocity."""
    number = cmath.sqrt(1j * omega / viscosity)
    return amplitude / (1j * omega) * (1 - cmath.tanh(number) / number)


def bulk_velocity(time: float) -> float:
    """The mean over the channel of the solution in README.md."""
    return 0.1 / (3 * 0.05) + (pulse() * cmath.exp(1j * math.pi * time)).real


with Path(sys.argv[1]).open() as file:
    rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
last = [row for row in rows if row["time"] > rows[-1]["time"] - 2]
error = max(abs(row["bulk_velocity"] - bulk_velocity(row["time"])) for row in last)
print(f"bulk velocity: {2 / 3:.4f} + {abs(pulse()):.5f} cos(pi t {cmath.phase(pulse()) / math.pi:+.4f} pi)")
print(f"largest error in the last period: {error:.1e}")
