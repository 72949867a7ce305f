// Initial fields: laminar, turbulent or zero, made divergence-free before the first step.
#include "solver/initial.hpp"

#include <algorithm>

#include "core/device/parallel_for.hpp"
#include "solver/eddies.hpp"
#include "solver/physics/sources.hpp"

namespace sluice {

namespace {

struct SetProfile {
  View3<real> f;
  const real* profile;
  SLUICE_INLINE void operator()(int i, int j, int k) const { f(i, j, k) = profile[k]; }
};

struct AddConstant {
  View3<real> f;
  real value;
  SLUICE_INLINE void operator()(int i, int j, int k) const { f(i, j, k) += value; }
};

Buffer<real> local_profile(const Field& f, const std::vector<double>& profile) {
  std::vector<real> values;
  for (std::int64_t k = f.box().lo[2]; k < f.box().hi[2]; ++k)
    values.push_back(static_cast<real>(profile[static_cast<std::size_t>(k)]));
  return Buffer<real>(values);
}

void fill(Field& f, const std::vector<double>& profile) {
  const Buffer<real> values = local_profile(f, profile);
  parallel_for("set profile", f.local_box(), SetProfile{f.view(), values.data()});
  device::synchronize();
}

/// A formula of x, y and z at the points of a field. x and y are computed from global indices.
struct FillFormula {
  View3<real> f;
  FormulaProgram formula;
  const double* z;
  double dx, dy;
  std::int64_t first_j;
  double offset_x = 0.5, offset_y = 0.5;
  SLUICE_INLINE void operator()(int i, int j, int k) const {
    const FormulaPoint at{(i + offset_x) * dx, (static_cast<double>(first_j + j) + offset_y) * dy, z[k], 0};
    f(i, j, k) = static_cast<real>(formula(at));
  }
};

void fill(Field& f, const Formula& formula, const Grid& grid) {
  const bool z_face = f.location() == Location::z_face;
  std::vector<double> z;
  for (std::int64_t k = f.box().lo[2]; k < f.box().hi[2]; ++k)
    z.push_back(z_face ? grid.z_nodes()[static_cast<std::size_t>(k) + 1] : grid.z_center(k));
  const Buffer<double> here(z);
  parallel_for("set formula", f.local_box(),
               FillFormula{f.view(), formula.program(), here.data(), grid.dx(), grid.dy(), f.box().lo[1],
                           f.location() == Location::x_face ? 1 : 0.5, f.location() == Location::y_face ? 1 : 0.5});
  device::synchronize();
}

/// Formulas of x and y at the walls, at time 0, and at the centres the linear profiles between them.
struct FillConducted {
  View3<real> f;
  FormulaProgram bottom, top;
  const double* height_fraction;
  double dx, dy;
  std::int64_t first_j;
  SLUICE_INLINE void operator()(int i, int j, int k) const {
    const FormulaPoint at{(i + 0.5) * dx, (static_cast<double>(first_j + j) + 0.5) * dy, 0, 0};
    const double below = bottom(at);
    f(i, j, k) = static_cast<real>(below + (top(at) - below) * height_fraction[k]);
  }
};

/// Linear between walls of given value; the value of one such wall.
void set_conducted(Field& c, const ScalarParameters& scalar, const Grid& grid) {
  const Formula& bottom = (scalar.bottom.kind == ScalarWallKind::value ? scalar.bottom : scalar.top).value;
  const Formula& top = (scalar.top.kind == ScalarWallKind::value ? scalar.top : scalar.bottom).value;
  std::vector<double> height_fraction;
  for (std::int64_t k = 0; k < grid.cells()[2]; ++k) height_fraction.push_back(grid.z_center(k) / grid.length_z());
  if (bottom.is_constant() && top.is_constant()) {
    for (double& value : height_fraction) value = bottom.constant() + (top.constant() - bottom.constant()) * value;
    return fill(c, height_fraction);
  }
  const Buffer<double> here(
      std::vector<double>(height_fraction.begin() + c.box().lo[2], height_fraction.begin() + c.box().hi[2]));
  parallel_for(
      "set scalar", c.local_box(),
      FillConducted{c.view(), bottom.program(), top.program(), here.data(), grid.dx(), grid.dy(), c.box().lo[1]});
  device::synchronize();
}

void set_scalar(Field& c, const ScalarParameters& scalar, const Grid& grid) {
  const bool no_value = scalar.bottom.kind != ScalarWallKind::value && scalar.top.kind != ScalarWallKind::value;
  if (scalar.initial) {
    fill(c, *scalar.initial, grid);
    return;
  }
  if (!no_value) return set_conducted(c, scalar, grid);
  const double held = source_of(scalar).held_mean(scalar).value_or(0);
  fill(c, std::vector<double>(static_cast<std::size_t>(grid.cells()[2]), held));
}

}  // namespace

void set_scalars(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow) {
  for (std::size_t n = 0; n < state.transported.size(); ++n)
    set_scalar(state.transported[n].field, flow.scalars.at(n), grid);
  stepper.fill_halos(state);
}

void set_zero(State& state, TimeStepper& stepper) {
  const auto zero = [](Field& f) { fill(f, std::vector<double>(static_cast<std::size_t>(f.box().hi[2]), 0.0)); };
  for (const auto& [descriptor, field] : state.fields()) zero(field);
  const auto lets_through = [&](Walls::Side side) {
    return stepper.walls().condition(side).total_velocity(2) != Formula(0);
  };
  // Fluid that passes the walls moves from the beginning.
  std::ranges::any_of(Walls::sides, lets_through) ? stepper.project(state) : stepper.fill_halos(state);
}

void set_velocity(State& state, TimeStepper& stepper, const Grid& grid, const std::array<Formula, 3>& velocity) {
  set_zero(state, stepper);
  fill(state.velocity.u, velocity[0], grid);
  fill(state.velocity.v, velocity[1], grid);
  fill(state.velocity.w, velocity[2], grid);
  stepper.project(state);
}

void set_laminar(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow) {
  set_zero(state, stepper);
  const LaminarProfile profile = laminar_profile(grid, flow);
  fill(state.velocity.u, profile.u);
  fill(state.velocity.v, profile.v);
  stepper.fill_halos(state);
}

void set_turbulent(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow, std::uint64_t seed,
                   MPI_Comm comm) {
  set_turbulent(state, stepper, grid, flow, turbulent_profile(grid, flow), 1, seed, comm);
}

void set_turbulent(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow,
                   const TurbulentProfile& profile, double amplitude, std::uint64_t seed, MPI_Comm comm) {
  set_zero(state, stepper);
  fill(state.velocity.u, profile.u);
  if (!profile.v.empty()) fill(state.velocity.v, profile.v);
  std::vector<EddyWave> waves = eddy_waves(grid, flow, profile, seed);
  for (EddyWave& wave : waves) {
    wave.roll *= amplitude;
    wave.streak *= amplitude;
  }
  add_waves(state.velocity, grid, waves);
  stepper.project(state);
  set_bulk_velocity(state, stepper, grid, flow, comm);
}

void set_bulk_velocity(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow,
                       MPI_Comm comm) {
  const auto add_missing = [&](Field& f, const ForcingParameters& forcing) {
    if (forcing.kind != ForcingKind::bulk_velocity) return;
    const double missing = forcing.value.at_time(0) - volume_mean(f, grid, stepper.metrics(), comm);
    parallel_for("set bulk velocity", f.local_box(), AddConstant{f.view(), static_cast<real>(missing)});
    stepper.fill_halos(state);
  };
  add_missing(state.velocity.u, flow.forcing);
  add_missing(state.velocity.v, flow.spanwise_forcing);
}

}  // namespace sluice
