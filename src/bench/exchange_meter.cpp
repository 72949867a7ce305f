#include "src/bench/exchange_meter.hpp"

#include <utility>

#include "core/decomp/exchange/remote_mover.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

/// Bytes that rank `rank` sends to others to get from the first splitting to the second.
double bytes_sent(const std::vector<Box3>& from, const std::vector<Box3>& to, std::size_t rank, std::size_t element) {
  const std::int64_t kept = intersect(from[rank], to[rank]).volume();
  return static_cast<double>(from[rank].volume() - kept) * static_cast<double>(element);
}

class MeteredTransposer : public Transposer {
 public:
  MeteredTransposer(std::unique_ptr<Transposer> transposer, const Splittings& boxes, ExchangeMeter& meter)
      : transposer_(std::move(transposer)), meter_(&meter) {
    const auto rank = static_cast<std::size_t>(rank_of(boxes.comm));
    bytes_forward_ = bytes_sent(boxes.from, boxes.to, rank, boxes.element_bytes);
    bytes_backward_ = bytes_sent(boxes.to, boxes.from, rank, boxes.element_bytes);
  }

  std::byte* array() override { return transposer_->array(); }
  void forward(const Parts& source) override {
    const PhaseTimers::Scope scope(meter_->timers(), meter_->phase());
    meter_->count(bytes_forward_);
    transposer_->forward(source);
  }
  void backward(const Parts& target) override {
    const PhaseTimers::Scope scope(meter_->timers(), meter_->phase());
    meter_->count(bytes_backward_);
    transposer_->backward(target);
  }

 private:
  std::unique_ptr<Transposer> transposer_;
  ExchangeMeter* meter_;
  double bytes_forward_ = 0, bytes_backward_ = 0;
};

}  // namespace

void ExchangeMeter::reset() {
  timers_.reset();
  bytes_.fill(0);
}

std::unique_ptr<Transposer> MeteredExchange::transposer(const Splittings& boxes) {
  return std::make_unique<MeteredTransposer>(exchange_->transposer(boxes), boxes, *meter_);
}

std::unique_ptr<RemoteMover> MeteredExchange::remote_mover(const RemoteRoute& route) {
  return exchange_->remote_mover(route);
}

}  // namespace sluice
