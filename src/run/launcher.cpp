#include "src/run/launcher.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "io/case/numbers.hpp"

namespace sluice {

namespace {

// Of Open MPI, MVAPICH, MPICH and its kin, Slurm. Slurm sets its variables of a step in srun alone; SLURM_NTASKS is in
// the environment of every script of a job.
constexpr std::array sizes{"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
constexpr std::array ranks{"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};

/// The environment with which the parent was started, as NAME=VALUE and a zero each; empty if it belongs to another
/// user, as some launchers do.
std::string environment_of_parent() {
  std::ifstream file("/proc/" + std::to_string(::getppid()) + "/environ", std::ios::binary);
  return '\0' + std::string(std::istreambuf_iterator<char>(file), {}) + '\0';
}

/// The number that a launcher set for this process; 0 if it set none.
int number_set_for_us(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return 0;
  const std::string setting = '\0' + (std::string(name) + "=") + text + '\0';
  if (environment_of_parent().find(setting) != std::string::npos) return 0;
  return static_cast<int>(io::parse_digits(text).value_or(0));
}

}  // namespace

int launched_rank() {
  for (const char* name : ranks) {
    if (const int rank = number_set_for_us(name); rank > 0) return rank;
  }
  return 0;
}

std::optional<LaunchedSize> launched_size() {
  for (const char* name : sizes) {
    if (const int processes = number_set_for_us(name); processes > 1) return LaunchedSize{name, processes};
  }
  return std::nullopt;
}

}  // namespace sluice
