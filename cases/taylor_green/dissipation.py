"""Prints the largest dissipation -dE/dt of a run, from its time series."""

import sys

import numpy as np

series = np.genfromtxt(sys.argv[1], delimiter=",", names=True)
time, energy = series["time"], series["kinetic_energy"]
dissipation = -np.gradient(energy, time)
largest = int(np.argmax(dissipation[1:-1])) + 1
# The top of the parabola through the largest value and its neighbours.
top = np.polyfit(time[largest - 1 : largest + 2] - time[largest], dissipation[largest - 1 : largest + 2], 2)
at = -top[1] / (2 * top[0])
print(f"largest dissipation: {np.polyval(top, at):.6f} at time {time[largest] + at:.3f}")
print(f"energy at the end, of that at the beginning: {energy[-1] / 0.125:.6f}")
