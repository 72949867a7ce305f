#pragma once
#include "core/support/error.hpp"
#include "src/bench/bench_options.hpp"

namespace sluice {

/// `sluice bench links`: transfer rates from device to host and back, between ranks through MPI from host memory, and
/// of equal blocks from every rank to every other by each exchange method. Prints a table and writes it as JSON.
/// Collective.
ExitCode bench_links(const BenchOptions& options);

}  // namespace sluice
