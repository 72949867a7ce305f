#pragma once
// What checkpoints hold of walls, and of a program that steps the simulation. All functions are collective.
#include <string>
#include <vector>

#include "io/files/checkpoint_directory.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

/// Planes of walls that respond to the flow: what they do until the end of a step follows from the flow before it.
void save_walls(const Simulation& simulation, io::ValueGroups& checkpoint);
/// Throws Error(restart) if the file is damaged.
void read_walls(Simulation& simulation, const io::CheckpointReader& reader);

/// ProgramSettings, Simulation::next_walls, and how much code acts. Nothing without a program.
void save_program(const Simulation& simulation, io::ValueGroups& checkpoint);
/// Restores the settings. Where `changes` of the case concern them, the case counts; this is added to `changes`. Throws
/// Error(restart) if the file is damaged.
void read_program(Simulation& simulation, const io::CheckpointReader& reader, std::vector<std::string>& changes);

/// "forces: 2, response of the bottom wall: 1", of what acted when the checkpoint was written and does not act now;
/// empty if there is none. Local.
std::string missing_code(const Simulation& simulation);
/// "w of the bottom wall, pressure_gradient_y 0.02"; empty if nothing is set. Local.
std::string text_of_program_settings(const Simulation& simulation);

}  // namespace sluice
