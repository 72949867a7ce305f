#pragma once
#include "core/decomp/exchange/exchange.hpp"

namespace sluice {

/// One MPI_Alltoallv.
class MpiAlltoall : public Exchange {
 public:
  void run(MPI_Comm comm, const BlockLayout& send_layout, HostImage& send, const BlockLayout& receive_layout,
           HostImage& receive, const std::function<void(int)>& arrived) override;

 private:
  std::vector<int> send_counts_, send_offsets_, receive_counts_, receive_offsets_;
};

}  // namespace sluice
