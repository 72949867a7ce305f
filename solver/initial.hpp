#pragma once
#include <cstdint>
#include <vector>

#include "model/parameters.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"
#include "solver/time_stepper.hpp"

namespace sluice {

/// The steady laminar solution of the discrete equations at the centres for the forcing at time 0 and these walls:
/// u(z), and v(z) if walls move or a force acts in y or the frame rotates about z. Without a no-slip wall: uniform at
/// the bulk velocity, or at the geostrophic one.
struct LaminarProfile {
  std::vector<double> u, v;
};
LaminarProfile laminar_profile(const Grid& grid, const FlowParameters& flow);

/// A turbulent mean profile at the centres (Reichardt 1951) for the forcing at time 0 and these walls, with its
/// friction velocity. v: empty, or the laminar profile if its mean is given. With a geostrophic velocity, the laminar
/// profile instead, with the friction velocity of a turbulent Ekman layer.
struct TurbulentProfile {
  std::vector<double> u, v;
  double friction_velocity = 0;
};
TurbulentProfile turbulent_profile(const Grid& grid, const FlowParameters& flow);

/// A given mean profile at the centres; v may be empty. Its friction velocity is the larger one of the walls with
/// shear; without such walls, 1/20 of the largest difference of velocities, or of the speed if they are uniform.
TurbulentProfile given_profile(const Grid& grid, const FlowParameters& flow, std::vector<double> u,
                               std::vector<double> v);

/// Initial velocity fields, p = 0, all halos filled, divergence-free. The same bits on every process grid. Collective.
void set_zero(State& state, TimeStepper& stepper);
/// Formulas of x, y and z.
void set_velocity(State& state, TimeStepper& stepper, const Grid& grid, const std::array<Formula, 3>& velocity);
void set_laminar(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow);
/// The turbulent mean profile plus streaks, rolls and meanders as intense as wall turbulence (solver/eddies.hpp), which
/// have no mean over any plane. For any seed they break down into turbulence within a few h/u_tau, and turbulence
/// survives where it can.
void set_turbulent(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow, std::uint64_t seed,
                   MPI_Comm comm);
/// The same with this mean profile, and waves of `amplitude` times the usual ones.
void set_turbulent(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow,
                   const TurbulentProfile& profile, double amplitude, std::uint64_t seed, MPI_Comm comm);

/// The initial scalars: ScalarParameters::initial; without one the profile of conduction between walls of given value,
/// the value of one such wall, the mean that a source holds, or 0. Fills halos. Collective.
void set_scalars(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow);

/// Adds the uniform velocity that brings the volume means of u and v to the targets that the forcing has. Collective.
void set_bulk_velocity(State& state, TimeStepper& stepper, const Grid& grid, const FlowParameters& flow, MPI_Comm comm);

}  // namespace sluice
