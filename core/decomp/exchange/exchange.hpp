#pragma once
// How packed blocks travel between the ranks of a communicator. Each method is one class in one file.
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/host_access.hpp"

namespace sluice {

/// Where the block for (or from) each peer lies in a buffer, in bytes. A rank's block for itself is empty:
/// the caller copies it.
struct BlockLayout {
  std::vector<std::size_t> offset;
  std::vector<std::size_t> bytes;
  std::size_t total = 0;
};

/// Sends one block of a packed buffer to every peer and receives one from each. Every method gives the same
/// result to the bit.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// `send` holds the packed blocks in device memory; `arrived(peer)` is called once for each peer whose
  /// block is not empty, as soon as the block lies in device memory behind `receive`. Collective over `comm`.
  virtual void run(MPI_Comm comm, const BlockLayout& send_layout, HostImage& send, const BlockLayout& receive_layout,
                   HostImage& receive, const std::function<void(int)>& arrived) = 0;
};

/// Names of the methods that this build has, the default first.
const std::vector<std::string>& exchange_methods();

/// The method called `name`. Throws Error(usage) listing the methods that exist.
std::unique_ptr<Exchange> make_exchange(const std::string& name);

}  // namespace sluice
