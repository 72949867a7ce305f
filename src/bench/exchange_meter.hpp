#pragma once
// Time and bytes of transposes, whoever makes them.
#include <array>
#include <cstddef>
#include <memory>

#include "core/decomp/exchange/exchange.hpp"
#include "core/device/timers.hpp"

namespace sluice {

/// What the transposes of all MeteredExchanges took and sent since reset().
class ExchangeMeter {
 public:
  /// The phase to which the transposes from now on belong.
  void set_phase(TimedPhase phase) { phase_ = phase; }
  TimedPhase phase() const { return phase_; }
  void count(double bytes) { bytes_.at(static_cast<std::size_t>(phase_)) += bytes; }

  PhaseTimers& timers() { return timers_; }
  /// Of this rank, to other ranks.
  double bytes_sent(TimedPhase phase) const { return bytes_.at(static_cast<std::size_t>(phase)); }
  void reset();

 private:
  TimedPhase phase_ = TimedPhase::transpose;
  PhaseTimers timers_;
  std::array<double, phase_names.size()> bytes_{};
};

/// An exchange whose transposes are metered. It has no movers of its own: both arguments must outlive it and them.
class MeteredExchange : public Exchange {
 public:
  MeteredExchange(Exchange& exchange, ExchangeMeter& meter) : exchange_(&exchange), meter_(&meter) {}

  MPI_Comm world() const override { return exchange_->world(); }
  std::unique_ptr<BlockMover> block_mover(const Route& route) override { return exchange_->block_mover(route); }
  std::unique_ptr<Mover> background_mover(const Route& route) override { return exchange_->background_mover(route); }
  std::unique_ptr<Mover> array_mover(const Route& route) override { return exchange_->array_mover(route); }
  std::unique_ptr<Transposer> transposer(const Splittings& boxes) override;
  std::unique_ptr<RemoteMover> remote_mover(const RemoteRoute& route) override;
  bool sends_unpacked() const override { return exchange_->sends_unpacked(); }
  std::vector<PieceTuning> piece_tuning() const override { return exchange_->piece_tuning(); }

 private:
  Exchange* exchange_;
  ExchangeMeter* meter_;
};

}  // namespace sluice
