"""Names inside a run directory: files, datasets, attributes. A name that changes is changed here only."""

from __future__ import annotations

# Files of a run directory.
STATISTICS_FILE = "statistics.h5"
SPECTRA_FILE = "spectra.h5"
DENSITIES_FILE = "densities.h5"
JOURNAL_SUFFIX = ".journal"  # after the name of such a file: its newest blocks, while a run goes on
CHECKPOINT_PATTERN = "checkpoints/step_*.h5"
CASE_FILE = "resolved.yaml"
TIMESERIES_FILE = "timeseries.csv"
RUN_FILE = "run.json"
LOG_FILE = "log.txt"
LOCK_FILE = "lock"
ENSEMBLE_FILE = "ensemble.json"  # in the directory of an ensemble, beside the directories of its members
FAILED_FIELDS = "diagnostics/step_{:07d}.h5"  # written at the step at which a run fails
SLICE_FOLDER = "slices"
PROBE_FOLDER = "probes"
FIELDS_FOLDER = "fields"
PARTS = "parts"  # in these folders

# Files that this program writes into it.
REPORT_FILE = "report.html"
FIGURE_FOLDER = "figures"
PROFILES_CSV = "profiles.csv"
LEE_MOSER_MEAN = "profiles_mean.dat"
LEE_MOSER_FLUCTUATIONS = "profiles_fluc.dat"
LEE_MOSER_MEAN_ERRORS = "profiles_mean_stdev.dat"
LEE_MOSER_FLUCTUATION_ERRORS = "profiles_fluc_stdev.dat"
# Their names of stresses, axes and spectra: y is wall-normal, z spanwise.
LEE_MOSER_STRESSES = {"k": "k", "uu": "uu", "vv": "ww", "ww": "vv", "uw": "uv"}
LEE_MOSER_BUDGET = "RSTE_{}_prof.dat"
LEE_MOSER_BUDGET_ERRORS = "RSTE_{}_stdev.dat"
LEE_MOSER_SPECTRA_FILE = "1d_energy_spectra.h5"
LEE_MOSER_SPECTRA_ERRORS = "1d_energy_spectra_stdev.h5"
LEE_MOSER_AXES = ("kx", "kz")
LEE_MOSER_SPECTRA = {"uu": ("Euu", 1), "vv": ("Eww", 1), "ww": ("Evv", 1), "minus_uw": ("Euv", -1)}
BUDGET_NAME = "budget_{}"  # of the CSV file and the figure of a budget, without the suffix
DERIVED_CSV = "derived.csv"
SCALAR_NAME = "scalar_{}"  # of the CSV file and what the names of the figures of a scalar begin with
SCALAR_SPECTRA_NAME = "scalar_{}_spectra_{}"  # of the CSV file along x or y, and of the figures
SCALAR_BUDGET_NAME = "scalar_{}_budget_{}"  # of the CSV file and the figure of a budget
SPECTRA_NAME = "spectra_{}"  # of the CSV file and the figure along x or y
SPECTRA_MAP_NAME = "spectra_map_{}"
PLANE_SPECTRA_NAME = "spectra_xy_{}"  # of the CSV file of centres or faces, and the figure of a height
CORRELATIONS_NAME = "correlations_{}"
WALL_SPECTRA_NAME = "spectra_wall_{}"  # of the CSV file along x or y
WALL_SPECTRA_FIGURE = "spectra_wall"
FIELDS_NAME = "fields_{:07d}.h5"  # of the fields at a step
DENSITY_NAME = "density_{}"  # of the CSV file of a quantity
DENSITY_MOMENTS_CSV = "density_moments_{}.csv"  # at the centres, on the faces
PHASES_CSV = "phases.csv"
PHASE_PROFILES_CSV = "phase_profiles.csv"
PHASE_HARMONIC_CSV = "phase_harmonic.csv"
QUADRANTS_CSV = "quadrants.csv"
HOLES_CSV = "quadrants_outside_holes.csv"

# What `export` writes, by the names of the properties of an opened run, and the file or folder that each needs.
EXPORTED = {
    "profiles": STATISTICS_FILE,
    "block_means": STATISTICS_FILE,
    "key_figures": STATISTICS_FILE,
    "scalars": STATISTICS_FILE,
    "budgets": STATISTICS_FILE,
    "scalar_budgets": STATISTICS_FILE,
    "phases": STATISTICS_FILE,
    "spectra": SPECTRA_FILE,
    "scalar_spectra": SPECTRA_FILE,
    "densities": DENSITIES_FILE,
    "time_series": TIMESERIES_FILE,
    "slices": SLICE_FOLDER,
    "probes": PROBE_FOLDER,
    "fields": "",  # of fields/, and checkpoints
}

# Licences that `publish` offers: name and address.
LICENCES = {
    "CC-BY-4.0": ("Creative Commons Attribution 4.0 International", "https://creativecommons.org/licenses/by/4.0/"),
    "CC-BY-SA-4.0": (
        "Creative Commons Attribution-ShareAlike 4.0 International",
        "https://creativecommons.org/licenses/by-sa/4.0/",
    ),
    "CC0-1.0": ("Creative Commons Zero 1.0 Universal", "https://creativecommons.org/publicdomain/zero/1.0/"),
}

# Stored results of a case, and what `validation` makes of them.
RESULTS_FOLDER = "results"
VALIDATION_IMAGE = "validation_{case}_{figure}.png"

# Attributes of HDF5 files.
STATISTICS_FORMAT = "Sluice statistics"  # of spectra.h5 and densities.h5, too
PROBE_FORMAT = "Sluice probe"  # of slices, too
CHECKPOINT_FORMAT = "Sluice checkpoint"
FIELDS_FORMAT = "Sluice fields"
PROBE_PART_FORMAT = "Sluice probe part"
FORMAT_VERSION = 1
ATTR_FORMAT = "format"
ATTR_FORMAT_VERSION = "format_version"
ATTR_VERSION = "sluice_version"
ATTR_REVISION = "git_revision"
ATTR_CASE = "resolved_case"
VALUES_HASH = "values_hash"  # of a group: hash of its other attributes
HASH = "hash"  # of a dataset
GRID_HASH = "grid_hash"  # of the group /grid of checkpoints, slices and fields
ATTR_STEP = "step"
ATTR_TIME = "time"
ATTR_CONTENTS = "contents"  # of checkpoints and fields: a line for each field, its name and hash

# Root attributes of statistics.h5.
ATTR_VISCOSITY = "viscosity"
ATTR_FLOW_TYPE = "flow_type"
ATTR_SIZE = ("length_x", "length_y", "length_z")
ATTR_CELLS = ("nx", "ny", "nz")
ATTR_VELOCITY_BOTTOM = ("wall_velocity_bottom", "wall_velocity_bottom_y")
ATTR_VELOCITY_TOP = ("wall_velocity_top", "wall_velocity_top_y")
ATTR_WALL_BOTTOM = "wall_bottom"
ATTR_WALL_TOP = "wall_top"
PERIODIC = "periodic"  # flow.type
NO_SLIP = "no_slip"
FREE_SLIP = "free_slip"

# statistics.h5.
GRID_Z = "grid/z"
GRID_Z_FACE = "grid/z_face"
SAMPLES = "samples"
TIME_BEGIN = "t_begin"
TIME_END = "t_end"
STEP_END = "step_end"
BLOCK = "block"
FORCING = "forcing"
PARAMETER_SET = "parameter_set"  # number of a group parameter_set_N; missing in files of version 0.1
# Attributes of such a group: keys of the case file and their values as in resolved.yaml.
SET_FLOW_TYPE = "flow.type"
SET_VISCOSITY = "flow.reynolds.viscosity"
SET_FORCING, SET_SPANWISE_FORCING = "flow.forcing", "flow.spanwise_forcing"
SET_BULK_VELOCITY = f"{SET_FORCING}.bulk_velocity"
SET_PRESSURE_GRADIENT = f"{SET_FORCING}.pressure_gradient"
SET_ORDER = "solver.order"  # missing in files from before there was order 4
# Of a rotating frame; missing without one.
SET_ROTATION_NUMBER, SET_ROTATION_AXIS = "flow.rotation.number", "flow.rotation.axis"
SET_GEOSTROPHIC = "flow.rotation.geostrophic"
ROTATION_AXES = {"streamwise": (1.0, 0.0, 0.0), "spanwise": (0.0, 1.0, 0.0), "wall_normal": (0.0, 0.0, 1.0)}
SET_HARTMANN = "flow.magnetic_field.hartmann"  # missing without a magnetic field
# Missing without buoyancy.
SET_BUOYANT_SCALAR, SET_GRAVITY, SET_BUOYANCY_REFERENCE = (
    f"flow.buoyancy.{key}" for key in ("scalar", "direction", "reference")
)
SET_RICHARDSON, SET_FRICTION_RICHARDSON, SET_GRASHOF, SET_RAYLEIGH = (
    f"flow.buoyancy.{number}" for number in ("richardson", "friction_richardson", "grashof", "rayleigh")
)  # one of them
SET_WALL = {"bottom": "walls.bottom.type", "top": "walls.top.type"}
SET_VELOCITY = {"bottom": "walls.bottom.velocity", "top": "walls.top.velocity"}
SET_SCALARS = "scalars"  # missing in files from before there were any
# By phase, (block, height, bin); the first three (block, bin).
BY_PHASE = "phase_{}"
PHASE_SAMPLES, PHASE_OFFSET, PHASE_FORCING = "phase_samples", "phase_offset", "phase_forcing"
GRID_PHASE = "grid/phase"
ATTR_PHASE_PERIOD = "phase_period"
VELOCITY_MOMENTS = ("u", "v", "w", "uu", "vv", "ww", "uv", "uuu", "vvv", "www", "uuuu", "vvvv", "wwww")
PRESSURE_MOMENTS = ("p", "pp")
VORTICITY_MOMENTS = ("omega_x", "omega_y", "omega_z", "omega_xx", "omega_yy", "omega_zz")
CENTRE_PROFILES = VELOCITY_MOMENTS + PRESSURE_MOMENTS + VORTICITY_MOMENTS
FACE_PROFILES = ("uw", "vw", "tau_xz", "tau_yz")
# Of a scalar: its name with these endings.
SCALAR_CENTRE_PROFILES = ("", "_squared", "_cubed", "_fourth", "_u", "_v")
SCALAR_FACE_PROFILES = ("_w", "_gradient_flux")
# Of spectra.h5, at the centres and on the faces.
SCALAR_SPECTRA = ("_squared", "_w")
# What its budgets need, likewise; the last two only where forces act on the flow.
SCALAR_BUDGET_CENTRE_PROFILES = (
    *("_dx_squared", "_dy_squared"),
    *("_u_advection", "_u_pressure", "_u_diffusion_xy", "_u_source"),
)
SCALAR_BUDGET_FACE_PROFILES = (
    *("_w_jump", "_squared_w_flux", "_dz_squared", "_u_diffusion_z", "_u_dissipation_z"),
    *("_w_advection", "_w_diffusion_xy", "_w_diffusion_z", "_w_pressure", "_p_gradient", "_w_dissipation_z"),
)
SCALAR_FORCE_CENTRE_PROFILES = ("_u_coriolis", "_u_buoyancy")
SCALAR_FORCE_FACE_PROFILES = ("_w_coriolis", "_w_buoyancy")
# What budgets need; not in files of earlier builds, nor with output.statistics.budgets: off.
BUDGET_CENTRE_PROFILES = (
    *("ww_flux", "www_flux", "pw", "p_dudx", "p_dvdy", "p_dwdz"),
    *("dudx_squared", "dudy_squared", "dvdx_squared", "dvdy_squared", "dwdz_squared"),
)
BUDGET_FACE_PROFILES = (
    *("uw_jump", "vw_jump", "uuw_flux", "vvw_flux", "ww_face"),
    *("dudz_squared", "dvdz_squared", "dwdx_squared", "dwdy_squared"),
    *("uw_advection", "uw_pressure", "uw_viscous_xy", "uw_viscous_z", "p_strain_xz", "uw_dissipation_z"),
)
WALL_GRADIENTS = {"dudz_squared", "dvdz_squared"}  # what the wall dissipation needs

# spectra.h5: along x and y, of what is at the centres and on the faces.
SPECTRA_AXES = ("x", "y")
SPECTRUM = "{}_k{}"  # for example uu_kx
CENTRE_SPECTRA = ("uu", "vv", "pp")
FACE_SPECTRA = ("ww", "uw")
# In both directions, (block, height, ky, kx), at chosen heights whose z is in /grid.
PLANE_SPECTRUM = "{}_kxky"
PLANES_Z, PLANES_Z_FACE = "grid/z_kxky", "grid/z_face_kxky"

# densities.h5: numbers of points in bins, and the quadrants of uw.
HISTOGRAM = "{}_histogram"  # for example u_histogram
BIN_MIDDLE, BIN_WIDTH = "{}_middle", "{}_width"  # of the bins, alike in all blocks
CENTRE_HISTOGRAMS = ("u", "v", "p")
FACE_HISTOGRAMS = ("w",)
SHEAR_HISTOGRAMS = ("shear_x", "shear_y")  # at the bottom and the top wall
HISTOGRAMS = (*CENTRE_HISTOGRAMS, *FACE_HISTOGRAMS, *SHEAR_HISTOGRAMS)
BINS = 128
JOINT = "uw_joint"
JOINT_BINNED = ("u_joint", "w_joint")  # what the names of its bins begin with
SHEAR_JOINT = "shear_joint"  # bins of twice the width of SHEAR_HISTOGRAMS
JOINT_BINS = 64
JOINT_WIDTHS = 2  # of a bin of a joint histogram, in the stored widths
QUADRANTS = (1, 2, 3, 4)
QUADRANT_UW = "uw_q{}"
QUADRANT_FRACTION = "fraction_q{}"
GRID_Z_JOINT = "grid/z_joint"
BINNED = (*HISTOGRAMS, *JOINT_BINNED)
BIN_DATASETS = tuple(name.format(of) for of in BINNED for name in (BIN_MIDDLE, BIN_WIDTH))

# Probes and slices.
SLICE_NORMAL = "normal"  # attributes of slices
SLICE_AT = "at"
SLICE_FIELD = "u"  # whose streaks are shown
PROBE_FIELDS = ("u", "v", "w", "p")
PROBE_FACES = {"u": "x", "v": "y", "w": "z"}  # the axis along which a field lies on faces
ATTR_SCALARS = "scalars"  # of parts: names of the scalars in it, separated by blanks
PROBE_LINES = ("x", "x_face", "y", "y_face", "z", "z_face")
# Datasets that the hash of /grid covers, in its order.
GRID_LINES = tuple(f"grid/{axis}{points}" for axis in "xyz" for points in ("", "_face", "_node"))

# Columns of timeseries.csv.
STEP = "step"
TIME = "time"
DT = "dt"
CFL = "cfl"
BULK_VELOCITY = "bulk_velocity"
FORCING_COLUMN = "forcing"
RE_TAU_BOTTOM = "re_tau_bottom"
RE_TAU_TOP = "re_tau_top"
KINETIC_ENERGY = "kinetic_energy"
MAX_DIVERGENCE = "max_divergence"
TIMESERIES_COLUMNS = (
    *(STEP, TIME, DT, CFL, BULK_VELOCITY, FORCING_COLUMN),
    *(RE_TAU_BOTTOM, RE_TAU_TOP, KINETIC_ENERGY, MAX_DIVERGENCE),
)
# Further columns of each scalar: its volume mean, and its fluxes into the fluid.
SCALAR_MEAN = "{}_mean"
SCALAR_FLUX = {"bottom": "{}_flux_bottom", "top": "{}_flux_top"}
ROW_HASH = "hash"  # the last column; missing in files of earlier builds


def line_of(field: str, axis: str) -> str:
    """The name of the coordinates x, y or z of a field."""
    return f"{axis}_face" if PROBE_FACES.get(field) == axis else axis
