#pragma once
#include "core/decomp/exchange/exchange.hpp"

namespace sluice {

/// MPI_Isend and MPI_Irecv to every peer; blocks are handed over in order of arrival.
class MpiP2p : public Exchange {
 public:
  void run(MPI_Comm comm, const BlockLayout& send_layout, HostImage& send, const BlockLayout& receive_layout,
           HostImage& receive, const std::function<void(int)>& arrived) override;

 private:
  std::vector<MPI_Request> receives_, sends_;
  std::vector<int> sources_;
};

}  // namespace sluice
