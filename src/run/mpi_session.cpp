#include "src/run/mpi_session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/case/numbers.hpp"
#include "src/run/provenance.hpp"

namespace sluice {

namespace {

// What mpirun, srun and other launchers say of this process in its environment. A variable that the parent process has
// as well was not set for this process, but for a script or another program that the launcher started and that now runs
// this one.

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

/// A number of processes, and the variable that has it.
struct LaunchedSize {
  std::string variable;
  int processes = 1;
};

/// How many processes the launcher says that it started, if it says more than one.
std::optional<LaunchedSize> launched_size() {
  for (const char* name : sizes) {
    if (const int processes = number_set_for_us(name); processes > 1) return LaunchedSize{name, processes};
  }
  return std::nullopt;
}

}  // namespace

void MpiSession::start() {
  const std::optional<LaunchedSize> launched = launched_size();
  const int status = MPI_Init(nullptr, nullptr);
  if (status != MPI_SUCCESS) {  // without check_mpi: MPI_Error_string needs MPI
    throw Error(ExitCode::resources,
                fmt::format("MPI does not start: MPI_Init of {} returned error {}; the library may have printed the "
                            "reason above. Start the program with the mpirun of that library, or with srun --mpi=TYPE",
                            mpi_library(), status));
  }
  started_ = true;
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (!launched || size_of(MPI_COMM_WORLD) > 1) return;
  throw Error(
      ExitCode::resources,
      fmt::format("the launcher started {} processes ({} is {}), but each of them would compute alone: the "
                  "launcher and the MPI library of this program ({}) do not match; start it with the mpirun of "
                  "that library, or with srun --mpi=TYPE, where TYPE is one that the library supports (srun "
                  "--mpi=list prints the types). To start one process only, unset {}",
                  launched->processes, launched->variable, launched->processes, mpi_library(), launched->variable));
}

MpiSession::~MpiSession() {
  if (started_) MPI_Finalize();  // unchecked: destructor
}

int launched_rank() {
  for (const char* name : ranks) {
    if (const int rank = number_set_for_us(name); rank > 0) return rank;
  }
  return 0;
}

}  // namespace sluice
