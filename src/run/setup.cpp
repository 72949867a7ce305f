#include "src/run/setup.hpp"

#include <fmt/format.h>

#include "core/support/error.hpp"
#include "model/field_descriptor.hpp"
#include "solver/grid/stretching.hpp"

namespace sluice {

Grid make_grid(const io::Case& settings, const std::string& stretching_text) {
  const std::int64_t nz = settings.cells[2];
  const double height = settings.size[2];
  const bool both_walls = settings.flow_type != io::FlowType::open_channel;
  std::vector<double> nodes;
  switch (settings.stretching.kind) {
    case io::StretchingKind::uniform:
      nodes = uniform_nodes(nz, height);
      break;
    case io::StretchingKind::tanh:
      nodes = tanh_nodes(nz, height, settings.stretching.factor, both_walls);
      break;
    case io::StretchingKind::natural:
      nodes = natural_nodes(nz, height, settings.stretching.re_tau, both_walls);
      break;
    case io::StretchingKind::file:
      nodes = nodes_from_text(stretching_text, settings.stretching.file, nz, height);
      break;
  }
  return Grid(settings.cells, settings.size[0], settings.size[1], std::move(nodes), settings.grid_velocity);
}

namespace {

std::string needs_rows(int rows) {
  return fmt::format("solver.order: 4 needs {} on each", rows);
}

}  // namespace

std::vector<ProcessGrid> process_grids(const io::Case& settings, int ranks) {
  return Decomposition::candidates(settings.cells, ranks, settings.z_blocks, reach_of(settings.flow.order));
}

ProcessGrid choose_process_grid(const io::Case& settings, int ranks) {
  if (settings.process_grid) {
    const ProcessGrid grid{(*settings.process_grid)[0], (*settings.process_grid)[1]};
    const std::int64_t needed = std::int64_t{grid.py} * grid.pz;
    if (needed != ranks) {
      throw Error(ExitCode::usage, fmt::format("parallel.grid is [{}, {}], which needs {} processes, but there are {}: "
                                               "start mpirun -n {} or set parallel.grid=auto",
                                               grid.py, grid.pz, needed, ranks, needed));
    }
    const int rows = reach_of(settings.flow.order);
    if (rows > 1 && grid.py > 1 && settings.cells[1] / grid.py < rows) {
      throw Error(ExitCode::resources,
                  fmt::format("parallel.grid is [{}, {}], so some processes own {} of the {} rows in y, but {}: "
                              "use at most {} processes in y",
                              grid.py, grid.pz, settings.cells[1] / grid.py, settings.cells[1], needs_rows(rows),
                              std::max<std::int64_t>(1, settings.cells[1] / rows)));
    }
    return grid;
  }
  const auto candidates = process_grids(settings, ranks);
  if (candidates.empty()) {
    throw Error(ExitCode::resources,
                fmt::format("{} processes are too many for {} x {} x {} cells in {} z blocks: use "
                            "fewer processes, or solver.z_blocks up to {}{}",
                            ranks, settings.cells[0], settings.cells[1], settings.cells[2], settings.z_blocks,
                            std::max<std::int64_t>(1, settings.cells[2] / 2),
                            reach_of(settings.flow.order) > 1
                                ? "; where y is split, " + needs_rows(reach_of(settings.flow.order))
                                : ""));
  }
  return candidates.front();
}

}  // namespace sluice
