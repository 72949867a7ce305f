"""Compares the bulk velocity of cases/poiseuille with the exact start-up series: compare.py timeseries.csv."""

import csv
import math
import sys
from pathlib import Path


def bulk_velocity(time: float, viscosity: float = 0.1, terms: int = 200) -> float:
    """The mean over the channel of the series in README.md, for G = 2 nu and h = 1."""
    rates = [((2 * n + 1) * math.pi / 2) ** 2 for n in range(terms)]
    return 2 / 3 - sum(4 / rate**2 * math.exp(-rate * viscosity * time) for rate in rates)


with Path(sys.argv[1]).open() as file:
    rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
error = max(abs(row["bulk_velocity"] - bulk_velocity(row["time"])) for row in rows)
print("largest error of the bulk velocity:", error)
print("Re_tau at the end:", rows[-1]["re_tau_bottom"], "steady:", math.sqrt(20))
