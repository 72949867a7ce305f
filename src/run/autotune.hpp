#pragma once
#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/flow/parameters.hpp"
#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// How a run is spread over ranks, and how blocks travel between them.
struct Layout {
  ProcessGrid processes;
  std::string exchange;
};

/// A layout that was measured: what one substep took, in seconds.
struct MeasuredLayout {
  Layout layout;
  double seconds = 0;
};

/// The layout chosen for a run and the table that it was chosen from; the table is empty if there was nothing to
/// choose.
struct Tuning {
  Layout chosen;
  std::vector<MeasuredLayout> table;
  int left_out = 0;    ///< layouts that there was no time or memory to measure
  double seconds = 0;  ///< that the measurements took
};

/// Fills in what the case leaves open (parallel.grid: auto, parallel.exchange: auto): measures substeps of the run's
/// own solver, on a flow of their own that starts from noise, for every process grid by the default method and for the
/// best grids by every candidate among the methods (exchange_candidates()), and takes the fastest; the default if that
/// is as good but for noise. Begins no measurement after eight seconds, and leaves out layouts that take too much
/// memory: a measurement allocates what the run does, and releases it. The choice changes how long a run takes, and in
/// a CPU build not one bit of its result. `stored`: the layout of the checkpoint to go on from; what the case leaves
/// open is taken from it if it fits, without measuring. Collective: the same choice on every rank. Throws
/// Error(resources) when no process grid fits, or the default needs more memory than there is.
Tuning tune(const io::Case& settings, const Grid& grid, const FlowParameters& flow, const std::optional<Layout>& stored,
            MPI_Comm world);

/// The table for the log, one line a layout, the chosen one marked.
std::vector<std::string> table_lines(const Tuning& tuning);

}  // namespace sluice
