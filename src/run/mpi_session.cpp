#include "src/run/mpi_session.hpp"

#include <fmt/format.h>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "src/run/launcher.hpp"
#include "src/run/provenance.hpp"

namespace sluice {

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

}  // namespace sluice
