#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/support/error.hpp"

namespace sluice {

/// The options of `sluice bench`.
struct BenchOptions {
  std::string what;  ///< step, poisson, tridiagonal, transpose, fft or links
  std::vector<std::int64_t> cells{192, 128, 128};
  std::string diffusion = "explicit";
  std::string tridiagonal = "ptdma";
  std::string exchange = "auto";
  std::vector<int> process_grid;  ///< py, pz; empty: auto
  int z_blocks = 0;               ///< 0: auto
  int repeats = 20;
  std::string json;  ///< file; empty: none

  // transpose and fft
  bool all = false;                              ///< every setup that the other options leave open
  std::string kind;                              ///< xy, yz or xz; slab_2d_1d, slab_1d_2d or pencil; empty: any
  std::string layout;                            ///< fft: contiguous or realigned; empty: both
  int warm_up = 3;                               ///< round trips before the measured ones
  double time_limit = 10;                        ///< seconds per setup
  std::int64_t bytes = std::int64_t{256} << 20;  ///< links: block size
};

/// `sluice bench transpose` and `fft`: measures all setups, prints a table sorted by time, and writes it as JSON.
/// Collective.
ExitCode bench_round_trips(const BenchOptions& options);

/// `sluice bench links`: transfer rates from device to host and back, between ranks through MPI from host memory, and
/// of equal blocks from every rank to every other by each exchange method. Prints a table and writes it as JSON.
/// Collective.
ExitCode bench_links(const BenchOptions& options);

}  // namespace sluice
