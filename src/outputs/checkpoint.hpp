#pragma once
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/snapshot.hpp"
#include "src/outputs/observer.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

/// The version of Sluice and the case, which every file contains.
io::Provenance provenance_of(const Simulation& simulation);

/// The grid's coordinates in the form that files store.
io::GridLines grid_lines_of(const Grid& grid);

/// Bytes of all fields in a checkpoint.
double checkpoint_bytes(const Grid& grid, const FlowParameters& flow);

/// Whether checkpoints on schedule are written while the run goes on. Not with several ranks or through MPI-IO, since
/// MPI need not serve a second thread; nor where other code may use HDF5 at any time: in a program of the user
/// (`embedded`) and in Catalyst.
bool writes_beside_steps(const io::Case& settings, int ranks, bool embedded);

/// Bytes of host memory that a run holds for them.
double memory_beside_steps(const io::Case& settings, const Grid& grid, int ranks, bool embedded);

/// Fills state and observers from a checkpoint of the same grid. Refuses one whose case differs physically, unless
/// `allow_change`. Returns the allowed differences. Collective. Throws Error(restart).
[[nodiscard]] std::vector<std::string> read_checkpoint(Simulation& simulation, Observers& observers,
                                                       const std::string& path, bool allow_change);

/// Writes the fields of a flow that has failed to FOLDER/step_NNNNNNN.h5, and removes an older such file.
/// read_checkpoint refuses it. Returns its path. Collective. Throws Error(io).
std::string write_failed_state(Simulation& simulation, const std::string& folder, const std::string& why);

/// The case of the run that wrote a checkpoint. Local. Throws Error(restart).
io::Case case_of(const io::CheckpointReader& checkpoint);

/// The process grid and exchange method of the run that wrote a checkpoint. Collective. Throws Error(restart).
Layout read_layout(const std::string& path, MPI_Comm comm);

}  // namespace sluice
