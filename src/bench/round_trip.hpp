#pragma once
// `sluice bench transpose` and `sluice bench fft`: the speed of all ways to exchange arrays between ranks.
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/exchange/exchange_methods.hpp"
#include "core/support/box3.hpp"
#include "poisson/fft/distributed_fft.hpp"
#include "src/bench/bench.hpp"
#include "src/bench/known_field.hpp"
#include "src/bench/measure.hpp"
#include "src/bench/result.hpp"

namespace sluice {

/// One way to exchange an array.
struct RoundTripSetup {
  Cells cells;
  std::string kind;    ///< transpose: xy, yz or xz; FFT: its decomposition
  std::string layout;  ///< FFT: its layout
  ProcessGrid processes;
  bool uses_rows = false, uses_columns = true;  ///< whether it exchanges within rows and within columns of ranks
  ExchangeMethods exchange{};                   ///< halos are not exchanged
  FftFields fields{};                           ///< FFT: what is transformed together

  bool uses(const ExchangeMethods::Kind& kind) const;
  /// The names of the methods that the setup uses: one, or such as "rows=peer,columns=nccl", or "none".
  std::string exchange_text() const;
};

/// Whether a round trip gave what it must.
struct Check {
  double error = 0;   ///< largest error: absolute for transposes, relative to the largest value for transforms
  std::string fault;  ///< what is wrong and where; empty if nothing is
};

/// An exchange or transform and its inverse, timed together.
class RoundTrip : public Workload {
 public:
  /// A round trip of a known field, another one for each seed: the same result on all ranks. Overwrites what prepare()
  /// made. Collective.
  virtual Check check(std::uint64_t seed) = 0;
  /// Of forward() alone, with a field whose coefficients are known: the same result on all ranks. None if they are not
  /// compared. Overwrites what prepare() made. Collective.
  virtual std::optional<Check> check_coefficients(std::uint64_t /*seed*/) { return std::nullopt; }
  /// Both are collective.
  virtual void forward() = 0;
  virtual void backward() = 0;
  void run() final {
    forward();
    backward();
  }
  /// Bytes that leave this rank in a round trip; negative if unknown.
  virtual double bytes_sent() const = 0;
  /// Memory that this rank holds besides the caller's arrays: buffers, work arrays and those of libraries; 0 if not
  /// counted.
  virtual double bytes_held() const { return 0; }
  /// Operations of a round trip, summed over ranks; 0 if nothing is computed.
  virtual double operations() const { return 0; }
  /// As those of DistributedFft; restart_timers() also enables them. No parts if they are not timed.
  virtual void restart_timers() {}
  virtual std::vector<DistributedFft::Part> parts() { return {}; }
};

/// The number of cells, by which the round trip of a transform multiplies its values.
inline double points_of(const Cells& cells) {
  return static_cast<double>(cells[0]) * static_cast<double>(cells[1]) * static_cast<double>(cells[2]);
}

/// check() of a transform of real numbers, which are `values`, on `box` of the grid. Collective.
Check check_transform(RoundTrip& transform, real* values, const Box3& box, const Cells& cells, std::uint64_t seed);

/// Compares the largest error of a known field after a round trip, over points_of(cells), with a bound that grows as
/// log2 of this number, in units of the precision.
Check check_of_error(const Deviation& deviation, const Cells& cells);
/// The same for a deviation of coefficients from a KnownSpectrum.
Check check_of_coefficients(const Deviation& deviation, const Cells& cells);

/// Times a workload and checks it before and after: adds times, rates, pieces, "error", and a "fault" if a result
/// was wrong. Collective.
void measure(const BenchOptions& options, RoundTrip& workload, Json& row);
/// Whether the row's fault is a wrong result.
bool is_wrong(const Json& row);

/// Bytes that leave a rank in a round trip between two boxes.
inline double bytes_between(const Box3& from, const Box3& to, std::size_t element_bytes) {
  const double kept = static_cast<double>(intersect(from, to).volume());
  return static_cast<double>(element_bytes) * (static_cast<double>(from.volume() + to.volume()) - 2 * kept);
}

/// Every setup on these cells that the options leave open, for `ranks` ranks; without the exchange methods.
std::vector<RoundTripSetup> transpose_setups(const BenchOptions& options, const Cells& cells, int ranks);
std::vector<RoundTripSetup> fft_setups(const BenchOptions& options, const Cells& cells, int ranks);

/// Collective. The exchanges must outlive the workload.
std::unique_ptr<RoundTrip> make_transpose(const BenchOptions& options, const RoundTripSetup& setup,
                                          const ExchangeSet& exchanges);
std::unique_ptr<RoundTrip> make_fft(const RoundTripSetup& setup, const ExchangeSet& exchanges);

/// What a row begins with: the options, the setup and its exchange methods.
Json description_of(const BenchOptions& options, const RoundTripSetup& setup);
/// The row of one setup with its exchange methods. If it cannot be made or measured for want of memory, the row has a
/// "fault". Collective.
Json measure_setup(const BenchOptions& options, const RoundTripSetup& setup);
/// The setup with every choice of exchange methods that the options leave open, without --all too.
std::vector<RoundTripSetup> with_every_method(const BenchOptions& options, const RoundTripSetup& setup);
/// Measures one setup with those choices of exchange methods that the options ask for, one row each. Collective.
std::vector<Json> measure_methods(const BenchOptions& options, const RoundTripSetup& setup);

/// "cufft" or "fftw": the kind of its setup.
extern const char* const baseline_kind;

/// Its layout on this many ranks; empty if the library has no such transform.
std::string baseline_layout(int ranks);

/// Throws Error(resources) if the library does not transform this grid on these ranks. Collective.
std::unique_ptr<RoundTrip> make_baseline(const Cells& cells);

/// Operations of a forward and a backward transform of one field, five times N log2 N each: the usual convention, as if
/// the values were complex.
inline double transform_operations(const Cells& cells) {
  return 10 * points_of(cells) * std::log2(points_of(cells));
}

}  // namespace sluice
