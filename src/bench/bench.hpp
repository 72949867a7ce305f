#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "io/case/case.hpp"
#include "src/run/autotune.hpp"

namespace sluice {

using Cells = std::array<std::int64_t, 3>;

/// The options of `sluice bench`.
struct BenchOptions {
  std::string what;  ///< step, samples, solve, poisson, tridiagonal, transpose, fft, links or checkpoint
  std::vector<Cells> grids{{192, 128, 128}};  ///< cells; transpose and fft may have several
  std::string precision;                      ///< double or single; empty: that of the program `sluice`
  std::string diffusion = "explicit";
  int order = 4;    ///< step, samples, solve, poisson: of accuracy along x and y
  int members = 1;  ///< that step together
  int scalars = 0;  ///< step: how many the flow transports
  std::string tridiagonal = "ptdma";
  std::string exchange = "auto";  ///< as ExchangeMethods::text()
  std::vector<int> process_grid;  ///< py, pz; empty: auto
  int z_blocks = 0;               ///< 0: auto
  int repeats = 20;
  std::string json;   ///< file; empty: none
  std::string study;  ///< fft: file of combinations; empty: none

  // transpose and fft
  bool all = false;                              ///< every setup that the other options leave open
  bool pairs = false;                            ///< with all: pencils also with two different methods
  std::string kind;                              ///< xy, yz or xz; slab_2d_1d, slab_1d_2d or pencil; empty: any
  std::string layout;                            ///< fft: contiguous or realigned; empty: both
  std::string values = "real";                   ///< fft: real or complex
  int fields = 1;                                ///< fft: how many are transformed together
  int series = 0;                                ///< round trips in a row, each with its time; 0: as repeats
  std::optional<int> warm_up;                    ///< round trips before the measured ones; unset: until tuning ends
  double time_limit = 10;                        ///< seconds per setup
  std::int64_t bytes = std::int64_t{256} << 20;  ///< links: block size

  // checkpoint
  std::string directory = ".";     ///< where to write
  std::string writer = "direct";   ///< or hdf5
  std::int64_t alignment = 1;      ///< of the fields in the file, in bytes
  std::vector<std::string> hints;  ///< for MPI-IO: NAME=VALUE

  /// The only grid.
  const Cells& cells() const { return grids.front(); }
};

/// `sluice bench samples`: times one step of a case, and one sample of each kind: moments, moments with the profiles
/// for budgets, densities (with three heights) and spectra. Prints a table and writes a JSON object for each row.
/// Collective.
ExitCode bench_samples(const BenchOptions& options, const io::Case& settings, const Layout& layout);

/// `sluice bench solve`: times the solves of a substep with implicit diffusion along z by P-TDMA from x pencils, also
/// with diffusion through y pencils, and by full transposes from x pencils and from z pencils, all in turn. Prints a
/// table and writes a JSON object for each. Collective.
ExitCode bench_solve(const BenchOptions& options, const io::Case& settings, const Layout& layout);

/// `sluice bench transpose` and `fft`: measures all setups on every grid, prints a table sorted by time for each, and
/// writes a JSON object for each setup. Throws Error(numerics) if a result was wrong. Collective.
ExitCode bench_round_trips(const BenchOptions& options);

/// `sluice bench fft --study`: measures the combinations that a file lists, except those that `json` has already, and
/// appends a JSON object to it for each. Throws Error(numerics) if a result was wrong. Collective.
ExitCode bench_fft_study(const BenchOptions& options);

/// `sluice bench links`: transfer rates from device to host and back, between ranks through MPI from host memory, and
/// of equal blocks from every rank to every other by each exchange method. Prints a table and writes a JSON object for
/// each link. Collective.
ExitCode bench_links(const BenchOptions& options);

/// `sluice bench checkpoint`: writes checkpoints of the grid and, for comparison, as many bytes plainly, each to a new
/// file in `directory`. Prints a table and writes a JSON object for each row. Collective.
ExitCode bench_checkpoint(const BenchOptions& options);

}  // namespace sluice
