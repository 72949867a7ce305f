#include "poisson/fft/fft_pipeline.hpp"

#include <algorithm>

namespace sluice {

Redistribution FftPlace::within_planes(FftStage from, FftStage to, const AxisOrder& order,
                                       Redistribution::Loops loops) const {
  const ProcessGrid& grid = comm.processes();
  std::vector<Box3> before, after;
  for (int y = 0; y < grid.py; ++y) {
    const int rank = grid.rank(y, comm.z_index());
    before.push_back(in_memory((splitting.*from)(rank), order));
    after.push_back(in_memory((splitting.*to)(rank), order));
  }
  return {comm.row(), before, after, loops, exchange, timers};
}

Redistribution FftPlace::across_planes(FftStage from, FftStage to, const AxisOrder& order,
                                       Redistribution::Loops loops) const {
  const ProcessGrid& grid = comm.processes();
  std::vector<Box3> before, after;
  for (int z = 0; z < grid.pz; ++z) {
    const int rank = grid.rank(comm.y_index(), z);
    before.push_back(in_memory((splitting.*from)(rank), order));
    after.push_back(in_memory((splitting.*to)(rank), order));
  }
  return {comm.column(), before, after, loops, exchange, timers};
}

FftPipeline::FftPipeline(const FftPlace& place, std::initializer_list<FftStage> stages)
    : values_(place.own(&FftSplitting::values)), coefficients_(place.own(*std::prev(stages.end()))) {
  for (const FftStage stage : stages) room_ = std::max(room_, static_cast<std::size_t>(place.own(stage).volume()));
}

std::size_t FftPipeline::bytes() const {
  std::size_t send = 0;
  std::size_t receive = 0;
  for (const Redistribution* redistribution : redistributions()) {
    send = std::max(send, redistribution->send_bytes());
    receive = std::max(receive, redistribution->receive_bytes());
  }
  return send + receive + work_.bytes() + x_.work_bytes() + y_.work_bytes() + z_.work_bytes();
}

}  // namespace sluice
