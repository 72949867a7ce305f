#pragma once
// What `sluice check --machine` reads and prints.
#include <string>

#include "core/decomp/decomposition.hpp"
#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"
#include "src/commands/check_physics.hpp"
#include "src/commands/machine.hpp"

namespace sluice {

/// Throws Error(usage).
Machine read_machine(const std::string& file);

/// The decomposition on devices of the machine, whether or not this is a build for them.
Decomposition decomposition_on(const Machine& machine, const io::Case& settings, const ProcessGrid& processes);

/// The process grid of the case; where it leaves the choice to the run, the one with the shortest step on the machine.
ProcessGrid fastest_process_grid(const io::Case& settings, int ranks, const Machine& machine);

/// Prints the forecast of a step. Returns the speed in ns per point and step.
double print_step_forecast(const Machine& machine, const io::Case& settings, const Grid& grid,
                           const Decomposition& decomposition, Warnings& warnings);

}  // namespace sluice
