#include "core/decomp/decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "core/decomp/even_blocks.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"

namespace sluice {

ZBlocks::ZBlocks(std::int64_t nz, int count) {
  if (count < 1 || (count > 1 && nz / count < 2)) {
    throw Error(
        ExitCode::usage,
        fmt::format("solver.z_blocks: {} blocks do not fit {} planes: every block needs at least 2; use 1 to {}", count,
                    nz, std::max<std::int64_t>(1, nz / 2)));
  }
  bounds_ = split_evenly(nz, count);
}

int ZBlocks::default_count(std::int64_t nz) {
  constexpr std::int64_t many = 1024;
  if (nz < many) return static_cast<int>(std::max<std::int64_t>(1, nz / 16));
  return static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(nz / 8)));
}

std::int64_t ZBlocks::longest() const {
  std::int64_t longest = 0;
  for (std::size_t n = 0; n + 1 < bounds_.size(); ++n) longest = std::max(longest, bounds_[n + 1] - bounds_[n]);
  return longest;
}

ZBlocks even_blocks(std::int64_t nz, int count, int pz) {
  ZBlocks same_everywhere(nz, count);
  if (pz < 2 || count < pz) return same_everywhere;
  const int more = (count + pz - 1) / pz * pz;
  const int of_a_part = nz / more >= 2 ? more / pz : count / pz;
  const auto parts = split_evenly(nz, pz);
  std::vector<std::int64_t> bounds{0};
  for (std::size_t n = 0; n + 1 < parts.size(); ++n) {
    const auto own = split_evenly(parts[n + 1] - parts[n], of_a_part);
    for (auto bound = own.begin() + 1; bound != own.end(); ++bound) bounds.push_back(parts[n] + *bound);
  }
  return ZBlocks(std::move(bounds));
}

Decomposition::Decomposition(std::array<std::int64_t, 3> cells, ProcessGrid processes, int z_blocks)
    : Decomposition(cells, processes,
                    loops_on_gpu ? even_blocks(cells[2], z_blocks, processes.pz) : ZBlocks(cells[2], z_blocks)) {}

Decomposition::Decomposition(std::array<std::int64_t, 3> cells, ProcessGrid processes, ZBlocks blocks)
    : cells_(cells), processes_(processes), blocks_(std::move(blocks)) {
  const int z_blocks = blocks_.count();
  SLUICE_REQUIRE(processes.py >= 1 && processes.pz >= 1, "a process grid needs at least one rank in y and in z");
  if (processes.pz > z_blocks) {
    const std::int64_t max_blocks = std::max<std::int64_t>(1, cells[2] / 2);
    const std::string advice =
        processes.pz <= max_blocks
            ? fmt::format("use at most {} ranks in z, or z_blocks between {} and {}", z_blocks, processes.pz,
                          max_blocks)
            : fmt::format("use at most {} ranks in z, or up to {} with z_blocks: {}", z_blocks, max_blocks, max_blocks);
    throw Error(ExitCode::resources, fmt::format("z is split over {} ranks, but the grid has {} z blocks "
                                                 "(solver.z_blocks) and a rank owns whole blocks: {}",
                                                 processes.pz, z_blocks, advice));
  }
  if (processes.py > cells[1] || processes.py > wavenumbers()) {
    throw Error(ExitCode::resources,
                fmt::format("y is split over {} ranks, but the grid has {} rows in y and {} wavenumbers in "
                            "x: use at most {} ranks in y",
                            processes.py, cells[1], wavenumbers(), std::min(cells[1], wavenumbers())));
  }
  y_bounds_ = split_evenly(cells[1], processes.py);
  kx_bounds_ = split_evenly(wavenumbers(), processes.py);
  block_bounds_ = split_evenly(z_blocks, processes.pz);
  for (const std::int64_t block : block_bounds_) z_bounds_.push_back(blocks_.bounds()[static_cast<std::size_t>(block)]);
}

std::array<int, 2> Decomposition::block_range(int z_index) const {
  const auto part = static_cast<std::size_t>(z_index);
  return {static_cast<int>(block_bounds_[part]), static_cast<int>(block_bounds_[part + 1])};
}

Box3 Decomposition::x_pencil(int rank) const {
  const auto y = static_cast<std::size_t>(processes_.y_index(rank));
  const auto z = static_cast<std::size_t>(processes_.z_index(rank));
  return {{0, y_bounds_[y], z_bounds_[z]}, {cells_[0], y_bounds_[y + 1], z_bounds_[z + 1]}};
}

Box3 Decomposition::spectral_x_pencil(int rank) const {
  Box3 box = x_pencil(rank);
  box.hi[0] = wavenumbers();
  return box;
}

Box3 Decomposition::spectral_y_pencil(int rank) const {
  const auto y = static_cast<std::size_t>(processes_.y_index(rank));
  Box3 box = x_pencil(rank);
  box.lo[0] = kx_bounds_[y];
  box.hi[0] = kx_bounds_[y + 1];
  box.lo[1] = 0;
  box.hi[1] = cells_[1];
  return box;
}

namespace {

/// Part `part` of `parts` of the box along an axis, extended to all of z.
Box3 split_for_whole_z(Box3 box, std::size_t axis, int part, int parts, std::int64_t nz) {
  const auto bounds = split_evenly(box.hi[axis] - box.lo[axis], parts);
  const std::int64_t start = box.lo[axis];
  box.lo[axis] = start + bounds[static_cast<std::size_t>(part)];
  box.hi[axis] = start + bounds[static_cast<std::size_t>(part) + 1];
  box.lo[2] = 0;
  box.hi[2] = nz;
  return box;
}

}  // namespace

Box3 Decomposition::spectral_z_pencil(int rank) const {
  return split_for_whole_z(spectral_y_pencil(rank), 1, processes_.z_index(rank), processes_.pz, cells_[2]);
}

Box3 Decomposition::z_pencil(int rank) const {
  return split_for_whole_z(x_pencil(rank), 0, processes_.z_index(rank), processes_.pz, cells_[2]);
}

std::vector<ProcessGrid> Decomposition::candidates(std::array<std::int64_t, 3> cells, int ranks, int z_blocks,
                                                   int min_rows) {
  std::vector<ProcessGrid> grids;
  for (int py = 1; py <= ranks; ++py) {
    if (ranks % py != 0) continue;
    const ProcessGrid grid{py, ranks / py};
    const bool has_rows = py == 1 || cells[1] / py >= min_rows;
    if (grid.pz <= z_blocks && has_rows && py <= cells[0] / 2 + 1) grids.push_back(grid);
  }
  return grids;
}

}  // namespace sluice
