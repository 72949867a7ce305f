"""Flows as dynamical systems: steady states, travelling waves, orbits, stability, optimal growth and the edge.

docs/dynamics.md explains it. It needs SciPy, h5py for files, and Matplotlib for figures; on GPUs it uses CuPy.
"""

from .branches import find_fold, follow_branch
from .channelflow import ChannelflowField, read_channelflow, write_channelflow
from .edge import EdgePoint, edge_state, track_edge
from .files import read_solution, write_solution
from .flow_map import FlowMap
from .growth import Growth, growth_curve, largest_growth, optimal_growth
from .lifetimes import Lifetimes, cross_flow_energy, lifetimes
from .linear import LinearisedOrbit, LinearisedStep, NonlinearStep
from .modes import Modes, eigenvalues
from .operators import Operators
from .response import Response, resolvent_gain
from .search import Condition, SearchError, Solution, find_solution
from .space import Space
from .symmetry import NAGATA, ROTATION, SHIFT_REFLECT, Symmetry

__all__ = [
    "NAGATA",
    "ROTATION",
    "SHIFT_REFLECT",
    "ChannelflowField",
    "Condition",
    "EdgePoint",
    "FlowMap",
    "Growth",
    "Lifetimes",
    "LinearisedOrbit",
    "LinearisedStep",
    "Modes",
    "NonlinearStep",
    "Operators",
    "Response",
    "SearchError",
    "Solution",
    "Space",
    "Symmetry",
    "cross_flow_energy",
    "edge_state",
    "eigenvalues",
    "find_fold",
    "find_solution",
    "follow_branch",
    "growth_curve",
    "largest_growth",
    "lifetimes",
    "optimal_growth",
    "read_channelflow",
    "read_solution",
    "resolvent_gain",
    "track_edge",
    "write_channelflow",
    "write_solution",
]
