#pragma once
#include <mpi.h>

namespace sluice {

/// MPI, for the commands that need it: between start() and the end of the object.
class MpiSession {
 public:
  MpiSession() = default;
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession();

  /// Starts MPI. Throws Error(resources) if that fails, or if this process is alone although its launcher says that it
  /// started several: that launcher belongs to another MPI library. Collective.
  void start();
  bool started() const { return started_; }

  /// The processes that run this command: all of MPI, or this one alone where MPI was not started.
  MPI_Comm processes() const { return started_ ? MPI_COMM_WORLD : MPI_COMM_SELF; }

 private:
  bool started_ = false;
};

/// The number of this process among those that a launcher started; 0 without a launcher. Ask before MPI starts, which
/// may change what the launcher wrote into the environment.
int launched_rank();

}  // namespace sluice
