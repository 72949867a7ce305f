#pragma once
// `sluice bench transpose` and `sluice bench fft`: how fast arrays change hands between ranks, by every way to do it.
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/device/timers.hpp"
#include "core/support/error.hpp"
#include "src/bench/bench_options.hpp"

namespace sluice {

/// One way to do it.
struct PairSetup {
  std::string kind;    ///< transpose: xy, yz or xz; FFT: its decomposition
  std::string layout;  ///< FFT: its layout
  ProcessGrid processes;
  std::string exchange;
};

/// There and back: what is timed as one.
class PairWorkload {
 public:
  virtual ~PairWorkload() = default;
  virtual void prepare() {}  ///< before every pair, not timed
  /// Collective, both.
  virtual void there() = 0;
  virtual void back() = 0;
  /// That leave this rank in a pair.
  virtual double bytes_sent() const = 0;
  /// Of a pair, all ranks together; 0 if nothing is computed.
  virtual double operations() const { return 0; }
  /// Null if it has no phases.
  virtual PhaseTimers* timers() { return nullptr; }
};

/// Every setup that the options leave open, for `ranks` ranks and these methods.
std::vector<PairSetup> transpose_setups(const BenchOptions& options, int ranks,
                                        const std::vector<std::string>& methods);

std::vector<PairSetup> fft_setups(const BenchOptions& options, int ranks, const std::vector<std::string>& methods);

/// Collective. The exchange must outlive the workload.
std::unique_ptr<PairWorkload> make_transpose(const BenchOptions& options, const PairSetup& setup, Exchange& exchange);
std::unique_ptr<PairWorkload> make_fft(const BenchOptions& options, const PairSetup& setup, Exchange& exchange);

/// Measures, prints a table, the fastest first, and writes it as JSON. Collective.
ExitCode bench_there_and_back(const BenchOptions& options);

}  // namespace sluice
