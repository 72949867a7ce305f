#include "core/decomp/exchange/mpi_alltoall.hpp"

#include <limits>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/real.hpp"

namespace sluice {

namespace {

constexpr std::size_t element = sizeof(real);

MPI_Datatype element_type() {
  return sizeof(real) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}

/// MPI 3 counts in int: in elements, which reaches 16 GiB a rank in double precision.
void to_elements(const std::vector<std::size_t>& bytes, std::vector<int>& elements) {
  elements.resize(bytes.size());
  for (std::size_t peer = 0; peer < bytes.size(); ++peer) {
    const std::size_t count = bytes[peer] / element;
    SLUICE_REQUIRE(count <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                   "a block is too large for mpi_alltoall; use parallel.exchange: mpi_p2p or more ranks");
    elements[peer] = static_cast<int>(count);
  }
}

}  // namespace

void MpiAlltoall::run(MPI_Comm comm, const BlockLayout& send_layout, HostImage& send, const BlockLayout& receive_layout,
                      HostImage& receive, const std::function<void(int)>& arrived) {
  to_elements(send_layout.bytes, send_counts_);
  to_elements(send_layout.offset, send_offsets_);
  to_elements(receive_layout.bytes, receive_counts_);
  to_elements(receive_layout.offset, receive_offsets_);
  device::synchronize();
  send.fetch(0, send_layout.total);
  check_mpi(MPI_Alltoallv(send.data(), send_counts_.data(), send_offsets_.data(), element_type(), receive.data(),
                          receive_counts_.data(), receive_offsets_.data(), element_type(), comm),
            "MPI_Alltoallv");
  receive.flush(0, receive_layout.total);
  for (std::size_t peer = 0; peer < receive_layout.bytes.size(); ++peer) {
    if (receive_layout.bytes[peer] > 0) arrived(static_cast<int>(peer));
  }
}

}  // namespace sluice
