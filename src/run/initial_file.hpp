#pragma once
#include <string>

#include "src/run/simulation.hpp"

namespace sluice {

/// `initial: fields`: /u, /v, /w and the transported fields of any HDF5 file, shaped (nz, ny, nx) and placed as in
/// checkpoints; made divergence-free. Starts at time 0. Collective. Throws Error(restart).
void set_from_fields(Simulation& simulation, const std::string& path);

/// `initial: checkpoint`: a checkpoint of any grid on a domain of the same height. Interpolates linearly along each
/// direction (periodic in x and y over each domain's own length; with the wall values in z), then makes the field
/// divergence-free. Starts at time 0. Collective. Throws Error(restart).
void set_from_checkpoint(Simulation& simulation, const std::string& path);

}  // namespace sluice
