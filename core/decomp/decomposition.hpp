#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/support/box3.hpp"

namespace sluice {

/// py x pz ranks; ranks of a row (same z range) are neighbours in rank order.
struct ProcessGrid {
  int py = 1;
  int pz = 1;

  int size() const { return py * pz; }
  int y_index(int rank) const { return rank % py; }
  int z_index(int rank) const { return rank / py; }
  int rank(int y, int z) const { return y + py * z; }
  friend bool operator==(const ProcessGrid&, const ProcessGrid&) = default;
};

/// Splits nz planes into blocks. The blocks depend on the grid, not on pz, so the arithmetic along z is the same on
/// every process grid. (GPUs that split z solve in blocks of their own, so they may take even_blocks() instead.)
class ZBlocks {
 public:
  ZBlocks(std::int64_t nz, int count);
  /// Block boundaries: plane indices 0, ..., nz, increasing; any block lengths.
  explicit ZBlocks(std::vector<std::int64_t> bounds) : bounds_(std::move(bounds)) {}

  /// The default, a function of nz only: max(1, nz / 16); from nz = 1024 on, which many ranks share, the largest power
  /// of two <= nz / 8, so that 2, 4, ..., 128 ranks along z own the same number of blocks.
  static int default_count(std::int64_t nz);

  int count() const { return static_cast<int>(bounds_.size()) - 1; }
  std::int64_t planes() const { return bounds_.back(); }
  const std::vector<std::int64_t>& bounds() const { return bounds_; }  ///< count() + 1 plane indices
  std::int64_t longest() const;

 private:
  std::vector<std::int64_t> bounds_;
};

/// Which part of the grid each rank owns, in each pencil. Pure arithmetic; no communication. Throws Error(resources),
/// naming what would work, if the grid cannot be split over that many ranks.
class Decomposition {
 public:
  /// With this number of z blocks, of equal length to one plane. A GPU build takes even_blocks() of that number.
  Decomposition(std::array<std::int64_t, 3> cells, ProcessGrid processes, int z_blocks);
  Decomposition(std::array<std::int64_t, 3> cells, ProcessGrid processes, ZBlocks blocks);

  const std::array<std::int64_t, 3>& cells() const { return cells_; }
  const ProcessGrid& processes() const { return processes_; }
  const ZBlocks& z_blocks() const { return blocks_; }

  /// Range [first, last) of z blocks on the ranks with this z index.
  std::array<int, 2> block_range(int z_index) const;

  /// The layout of the fields: x whole, y split in py, z split in pz by whole blocks.
  Box3 x_pencil(int rank) const;
  /// Wavenumbers after the transform along x: x_pencil with nx / 2 + 1 complex numbers per row.
  Box3 spectral_x_pencil(int rank) const;
  /// y whole, wavenumbers of x split in py, z split as in x_pencil.
  Box3 spectral_y_pencil(int rank) const;
  /// z whole: spectral_y_pencil with its y split in pz.
  Box3 spectral_z_pencil(int rank) const;
  /// z whole: x_pencil with its x split in pz.
  Box3 z_pencil(int rank) const;

  /// All process grids of `ranks` ranks that fit these cells and blocks, z slabs (py = 1) first. If y is split, each
  /// rank owns at least `min_rows` rows, as many as a halo has.
  static std::vector<ProcessGrid> candidates(std::array<std::int64_t, 3> cells, int ranks, int z_blocks,
                                             int min_rows = 1);

 private:
  std::int64_t wavenumbers() const { return cells_[0] / 2 + 1; }

  std::array<std::int64_t, 3> cells_;
  ProcessGrid processes_;
  ZBlocks blocks_;
  std::vector<std::int64_t> y_bounds_;      ///< rows over py
  std::vector<std::int64_t> kx_bounds_;     ///< x wavenumbers over py
  std::vector<std::int64_t> z_bounds_;      ///< planes over pz
  std::vector<std::int64_t> block_bounds_;  ///< blocks over pz
};

}  // namespace sluice
