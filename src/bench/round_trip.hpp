#pragma once
// `sluice bench transpose` and `sluice bench fft`: the speed of all ways to exchange arrays between ranks.
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/device/timers.hpp"
#include "core/support/error.hpp"
#include "src/bench/bench_options.hpp"

namespace sluice {

/// One way to exchange an array.
struct RoundTripSetup {
  std::string kind;    ///< transpose: xy, yz or xz; FFT: its decomposition
  std::string layout;  ///< FFT: its layout
  ProcessGrid processes;
  std::string exchange;
};

/// An exchange or transform and its inverse, timed together.
class RoundTrip {
 public:
  virtual ~RoundTrip() = default;
  virtual void prepare() {}  ///< before every round trip, not timed
  /// Both are collective.
  virtual void forward() = 0;
  virtual void backward() = 0;
  /// Bytes that leave this rank in a round trip.
  virtual double bytes_sent() const = 0;
  /// Operations of a round trip, summed over ranks; 0 if nothing is computed.
  virtual double operations() const { return 0; }
  /// Null if there are no phases.
  virtual PhaseTimers* timers() { return nullptr; }
};

/// Every setup that the options leave open, for `ranks` ranks and these methods.
std::vector<RoundTripSetup> transpose_setups(const BenchOptions& options, int ranks,
                                             const std::vector<std::string>& methods);

std::vector<RoundTripSetup> fft_setups(const BenchOptions& options, int ranks, const std::vector<std::string>& methods);

/// Collective. The exchange must outlive the workload.
std::unique_ptr<RoundTrip> make_transpose(const BenchOptions& options, const RoundTripSetup& setup, Exchange& exchange);
std::unique_ptr<RoundTrip> make_fft(const BenchOptions& options, const RoundTripSetup& setup, Exchange& exchange);

/// Measures all setups, prints a table sorted by time, and writes it as JSON. Collective.
ExitCode bench_round_trips(const BenchOptions& options);

}  // namespace sluice
