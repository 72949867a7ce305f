#pragma once
// What mpirun, srun and other launchers say of this process in its environment. Ask before MPI starts, which may change
// these variables. A variable that the parent process has as well was not set for this process, but for a script or
// another program that the launcher started and that now runs this one.
#include <optional>
#include <string>

namespace sluice {

/// The number of this process among those that a launcher started; 0 without a launcher.
int launched_rank();

/// A number of processes, and the variable that has it.
struct LaunchedSize {
  std::string variable;
  int processes = 1;
};

/// How many processes the launcher says that it started, if it says more than one.
std::optional<LaunchedSize> launched_size();

}  // namespace sluice
