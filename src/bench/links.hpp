#pragma once
#include "core/support/error.hpp"
#include "src/bench/bench_options.hpp"

namespace sluice {

/// `sluice bench links`: how fast bytes go from device to host and back, between ranks through MPI from host memory,
/// and in blocks of equal size from every rank to every other by each exchange method. Prints a table and writes it as
/// JSON. Collective.
ExitCode bench_links(const BenchOptions& options);

}  // namespace sluice
