#include "core/decomp/exchange/mpi_p2p.hpp"

#include <limits>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/real.hpp"

namespace sluice {

namespace {

constexpr int tag = 11;

int element_count(std::size_t bytes) {
  const std::size_t count = bytes / sizeof(real);
  SLUICE_REQUIRE(count <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                 "a block is too large for one MPI message; use more ranks");
  return static_cast<int>(count);
}

}  // namespace

void MpiP2p::run(MPI_Comm comm, const BlockLayout& send_layout, HostImage& send, const BlockLayout& receive_layout,
                 HostImage& receive, const std::function<void(int)>& arrived) {
  const MPI_Datatype type = sizeof(real) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
  int size = 0;
  int rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  receives_.clear();
  sends_.clear();
  sources_.clear();
  for (int step = 1; step < size; ++step) {
    const int source = (rank + size - step) % size;
    const auto peer = static_cast<std::size_t>(source);
    if (receive_layout.bytes[peer] == 0) continue;
    sources_.push_back(source);
    check_mpi(MPI_Irecv(receive.data() + receive_layout.offset[peer], element_count(receive_layout.bytes[peer]), type,
                        source, tag, comm, &receives_.emplace_back()),
              "MPI_Irecv");
  }
  device::synchronize();
  for (int step = 1; step < size; ++step) {
    const int target = (rank + step) % size;
    const auto peer = static_cast<std::size_t>(target);
    if (send_layout.bytes[peer] == 0) continue;
    send.fetch(send_layout.offset[peer], send_layout.bytes[peer]);
    check_mpi(MPI_Isend(send.data() + send_layout.offset[peer], element_count(send_layout.bytes[peer]), type, target,
                        tag, comm, &sends_.emplace_back()),
              "MPI_Isend");
  }
  for (std::size_t n = 0; n < sources_.size(); ++n) {
    int which = MPI_UNDEFINED;
    check_mpi(MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &which, MPI_STATUS_IGNORE),
              "MPI_Waitany");
    const int source = sources_[static_cast<std::size_t>(which)];
    const auto peer = static_cast<std::size_t>(source);
    receive.flush(receive_layout.offset[peer], receive_layout.bytes[peer]);
    arrived(source);
  }
  check_mpi(MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

}  // namespace sluice
