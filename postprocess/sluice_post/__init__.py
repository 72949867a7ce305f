"""Post-processing of Sluice runs: profiles in wall units, confidence intervals, figures and the report."""

__version__ = "0.1.0"
