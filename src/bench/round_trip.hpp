#pragma once
// `sluice bench transpose` and `sluice bench fft`: the speed of all ways to exchange arrays between ranks.
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/support/box3.hpp"
#include "src/bench/bench.hpp"
#include "src/bench/measure.hpp"

namespace sluice {

/// One way to exchange an array.
struct RoundTripSetup {
  std::string kind;    ///< transpose: xy, yz or xz; FFT: its decomposition
  std::string layout;  ///< FFT: its layout
  ProcessGrid processes;
  std::string exchange;
};

/// An exchange or transform and its inverse, timed together.
class RoundTrip : public Workload {
 public:
  /// Both are collective.
  virtual void forward() = 0;
  virtual void backward() = 0;
  void run() final {
    forward();
    backward();
  }
  /// Bytes that leave this rank in a round trip.
  virtual double bytes_sent() const = 0;
  /// Operations of a round trip, summed over ranks; 0 if nothing is computed.
  virtual double operations() const { return 0; }
};

/// Bytes that leave a rank in a round trip between two boxes.
inline double bytes_between(const Box3& from, const Box3& to, std::size_t element_bytes) {
  const double kept = static_cast<double>(intersect(from, to).volume());
  return static_cast<double>(element_bytes) * (static_cast<double>(from.volume() + to.volume()) - 2 * kept);
}

/// Every setup that the options leave open, for `ranks` ranks; without the exchange method.
std::vector<RoundTripSetup> transpose_setups(const BenchOptions& options, int ranks);
std::vector<RoundTripSetup> fft_setups(const BenchOptions& options, int ranks);

/// Collective. The exchange must outlive the workload.
std::unique_ptr<RoundTrip> make_transpose(const BenchOptions& options, const RoundTripSetup& setup, Exchange& exchange);
std::unique_ptr<RoundTrip> make_fft(const BenchOptions& options, const RoundTripSetup& setup, Exchange& exchange);

}  // namespace sluice
