"""The results of a run as xarray datasets. Every variable and coordinate has a `long_name` and `units`.

`units` are reference scales: u_tau, u_tau^2, nu/u_tau (wall units), h, U or h/U; "1" for pure numbers. `NAME_ci95` is
the half width of the 95 % interval of the variable NAME. cf.py has the further attributes, and what the units become
in files.
"""
