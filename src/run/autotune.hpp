#pragma once
#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange_methods.hpp"
#include "io/case/case.hpp"
#include "model/parameters.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// How a run is distributed over ranks, and how they exchange blocks.
struct Layout {
  ProcessGrid processes;
  ExchangeMethods exchange;

  bool operator==(const Layout&) const = default;
};

/// A measured layout: seconds per substep.
struct MeasuredLayout {
  Layout layout;
  double seconds = 0;
};

/// The layout chosen for a run and the table of measurements; the table is empty if there was no choice.
struct Tuning {
  Layout chosen;
  std::vector<MeasuredLayout> table;
  int left_out = 0;    ///< layouts not measured for lack of time or memory
  double seconds = 0;  ///< duration of the measurements
};

/// Fills in what the case leaves open (parallel.grid: auto, parallel.exchange: auto). Measures substeps of the run's
/// own solver, on a flow that starts from noise: every process grid with the default method, then the best grids with
/// every candidate method (exchange_candidates()), then the best layout with another method for one kind of traffic at
/// a time. Takes the fastest, or the default if it is equal within noise.
/// Starts no measurement after eight seconds, and leaves out layouts that need too much memory: a measurement allocates
/// what the run does, and releases it. The choice affects only the run time; in a CPU build all results keep the same
/// bits. `stored`: the layout of the checkpoint for a restart; what the case leaves open is taken from it without
/// measuring, if it fits. Collective: the same choice on every rank. Throws Error(resources) when no process grid fits,
/// or the default needs more memory than there is.
Tuning tune(const io::Case& settings, const Grid& grid, const FlowParameters& flow, const std::optional<Layout>& stored,
            MPI_Comm world);

/// The table for the log, one line per layout, with the chosen one marked.
std::vector<std::string> table_lines(const Tuning& tuning);

}  // namespace sluice
