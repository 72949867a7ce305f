#pragma once
// What a program that steps a simulation has set in place of the case. Snapshots and checkpoints hold it.
#include <array>
#include <optional>
#include <vector>

#include "core/decomp/field.hpp"
#include "model/parameters.hpp"
#include "solver/walls/walls.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

/// Velocities of walls and mean forces that stay until they are changed.
struct ProgramSettings {
  std::vector<PrescribedWall> walls;
  std::array<std::optional<ForcingParameters>, 2> forcing;  ///< along x and y: constant in time
};

/// A plane as Walls::prescribe makes it, whose values are not set. Local.
Field plane_for_wall(const Simulation& simulation, Location component);

/// Copies of what is set now. Local.
ProgramSettings program_settings(const Simulation& simulation);

/// Whether the case drives the flow along x (0) or y (1) by a value of this kind, or not at all. Local.
bool can_drive(const Simulation& simulation, std::size_t axis, ForcingKind kind);

/// Gives walls the velocities of simulation.next_walls, which is then null. Throws Error(usage) if they do not balance.
/// Collective.
void take_next_walls(Simulation& simulation);
/// Makes simulation.next_walls return these.
void keep_next_walls(Simulation& simulation, std::vector<PrescribedWall> walls);

/// Sets all as it was, and returns to the case in what was not set; w of walls with a response stays prescribed.
/// The flow must permit all of it: Walls::require_prescribable, can_drive. Call it as Walls::prescribe. Local.
void restore(Simulation& simulation, const ProgramSettings& settings);

}  // namespace sluice
