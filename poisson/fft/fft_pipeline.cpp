#include "poisson/fft/fft_pipeline.hpp"

#include <algorithm>

namespace sluice {

Redistribution FftPlace::within_planes(FftStage from, FftStage to, const AxisOrder& order,
                                       Redistribution::Loops loops) const {
  return {comm.row(), comm.row_boxes(boxes_of(from, order)), comm.row_boxes(boxes_of(to, order)), loops, exchange,
          timers};
}

Redistribution FftPlace::across_planes(FftStage from, FftStage to, const AxisOrder& order,
                                       Redistribution::Loops loops) const {
  return {
      comm.column(), comm.column_boxes(boxes_of(from, order)), comm.column_boxes(boxes_of(to, order)), loops, exchange,
      timers};
}

FftPipeline::FftPipeline(const FftPlace& place, std::initializer_list<FftStage> stages)
    : values_(place.own(&FftSplitting::values)), coefficients_(place.own(*std::prev(stages.end()))) {
  for (const FftStage stage : stages) room_ = std::max(room_, static_cast<std::size_t>(place.own(stage).volume()));
}

std::size_t FftPipeline::bytes() const {
  std::size_t send = 0;
  std::size_t receive = 0;
  for (const Redistribution* redistribution : redistributions()) {
    send = std::max(send, redistribution->buffer_bytes(true));
    receive = std::max(receive, redistribution->buffer_bytes(false));
  }
  return send + receive + work_.bytes() + x_.work_bytes() + y_.work_bytes() + z_.work_bytes();
}

}  // namespace sluice
