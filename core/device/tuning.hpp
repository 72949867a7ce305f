#pragma once
// How large the pieces are that kernels work on: measured on NVIDIA H100 and H200 (docs/performance-log.md). Another
// GPU needs other numbers, not other kernels. What the numbers must fit is in traits.hpp.
#include <cstddef>
#include <cstdint>

#include "core/device/traits.hpp"
#include "core/support/real.hpp"

namespace sluice::tuning {

inline constexpr bool in_double = sizeof(real) == sizeof(double);

/// Loops over cells, and their sums (parallel_for_cuda.hpp, sums_cuda.hpp).
namespace loops {
inline constexpr int block_x = 64, block_y = 4;  ///< threads of a block
inline constexpr int warps_per_block = 8;        ///< of sums over planes
/// Neighbouring cells that a thread sums: adding across a warp costs as much as the rest of a light loop.
inline constexpr int cells_of_lane = 4;
}  // namespace loops

/// Transforms along x and y.
namespace fft {
/// Bytes of rows on a multiprocessor: enough to saturate memory; the rest of its memory caches the twiddles.
inline constexpr int row_bytes_in_flight = 160'000;
/// The same for rows so long that fewer than `min_resident` would fit.
inline constexpr int long_row_bytes_in_flight = 200'000;
/// Fewest thread blocks on a multiprocessor, so that some read and write rows while others compute.
inline constexpr int min_resident = 3;
/// Pairs of coefficients that a thread reads before it uses them, to keep enough loads in flight.
inline constexpr int pairs_at_once = 4;
/// Bytes of columns on a multiprocessor. Rows are not aligned to memory sectors, so neighbouring blocks access parts of
/// the same sectors. If the data in flight exceeds half of the cache (25 MB of an H200, 132 multiprocessors), those
/// parts are moved twice: 3.6 words per point instead of 2.4.
inline constexpr std::size_t column_bytes_in_flight = 200'000;
/// Most shared memory of a thread block that transforms columns: it takes fewer of them for longer columns.
#ifdef SLUICE_HIP
inline constexpr std::size_t max_bytes_of_columns = std::size_t{64} << 10;
#else
inline constexpr std::size_t max_bytes_of_columns = column_bytes_in_flight;
#endif
/// Bytes of each row that a cluster of thread blocks transforms together, where columns are too long for one.
inline constexpr int bytes_of_long_columns = 64;
/// Rows of a chunk of the divergence, whose planes are transformed one after the other: few enough that the rows of w*
/// stay in the L2 cache until the next plane needs them, many enough that the rows of v* between chunks, which are read
/// twice, are few.
inline constexpr int divergence_rows_in_chunk = 64;
}  // namespace fft

/// Tridiagonal systems along z.
namespace lines {
/// Rows of a block that a thread solves: at most as many as leave its pivots in registers.
inline constexpr int max_rows_of_thread = 32;
/// Blocks of a line: at most as many as let the reduced systems of a few lines fit shared memory.
inline constexpr int max_blocks_on_chip = 200;

/// Threads of a tile, limited by registers; and the number of such tiles whose registers must fit a multiprocessor
/// together: for complex lines, and for real ones.
#ifdef SLUICE_HIP
inline constexpr int max_threads_of_tile = 256, resident_complex = 2, resident_real = 2;
#else
inline constexpr int max_threads_of_tile = in_double ? 768 : 384;
inline constexpr int resident_complex = in_double ? 1 : 3;
inline constexpr int resident_real = in_double ? 1 : 2;
#endif
/// Width of a tile, halved until as many as wanted fit a multiprocessor, or else until one does.
inline constexpr int tile_bytes = 2 * device::memory_line;
#ifdef SLUICE_HIP
inline constexpr int tiles_wanted = 1;  // in 64 KiB of shared memory two would be narrower than a line of memory
#else
inline constexpr int tiles_wanted = 2;
#endif
/// Rows of a block in tiles: fewer than a thread could solve, for more threads.
inline constexpr int rows_of_tile_block = 16;
/// Limits of a part of a tile of that width, so that two parts fit a multiprocessor. Its shared memory limits the rows,
/// and the rows inside blocks; its threads limit the blocks (in single precision). A GPU without clusters takes a few
/// rows more, in narrower tiles.
inline constexpr int max_rows_of_part = 384, max_inner_rows_of_part = 336, max_blocks_of_part = 24;
inline constexpr int max_rows_without_clusters = 396;
/// From this many planes on, a rank first finds the ends of its rows and then solves its planes alone. On fewer planes
/// this is no faster than reading lines twice: steps on 256 x 192 x 144 points, and on 1024 x 768 x 32 for each of two
/// and four GPUs, became between 2 % slower and 3 % faster.
inline constexpr std::int64_t min_planes_of_split_tiles = 192;
/// Rows that a thread reads together.
inline constexpr int rows_in_group = 8;

/// Threads of a block where a thread has a z block, and where it has a reduced system in shared memory.
inline constexpr int threads_of_blocks = 128, threads_of_reduced = 64;
/// Resident thread blocks per multiprocessor: as many as fit its shared memory if z blocks have 32 rows. As a launch
/// bound, this also limits the registers per thread.
inline constexpr int resident_blocks = 3;
/// Shared memory for reduced systems.
inline constexpr std::size_t max_bytes_of_reduced = std::size_t{200} * 1024;
}  // namespace lines

/// The momentum sweep, whose thread blocks march in z. wide: for differences of order 4.
namespace march {
struct Tile {
  int nx, ny;    ///< cells of a thread block
  int resident;  ///< thread blocks per multiprocessor, limited by registers
};
constexpr Tile small_tile(bool wide) {
#ifdef SLUICE_HIP
  if (in_double) return wide ? Tile{32, 4, 3} : Tile{64, 4, 2};  // in 64 KiB of shared memory
#endif
  return wide ? Tile{32, 8, in_double ? 2 : 4} : Tile{64, 6, in_double ? 2 : 3};
}
/// Has fewer cells around it for each of its own, but takes most of the shared memory of a multiprocessor, which some
/// GPUs lack. Only for differences of order 4 with implicit_z in double precision: others are not faster in it.
constexpr Tile large_tile() {
  return Tile{32, 16, 1};
}
/// Share of the threads that large tiles may lose at the ends of rows and columns, more than small ones, and how long
/// their columns must be: the first planes of a column are not overlapped with anything.
inline constexpr double most_idle = 0.02;
inline constexpr int min_planes_of_large = 32;
/// Planes of a column. Long columns read few planes twice; short ones occupy every multiprocessor on a small grid.
inline constexpr int min_planes = 16, max_planes = 112;
inline constexpr long long blocks_wanted = 8192;
/// The same where several flows share a launch: few waves of long columns.
inline constexpr long long blocks_wanted_together = 256;
}  // namespace march

/// Threads that share the work of one mode or plane of spectra.
inline constexpr int lanes_of_spectra = 8;

/// Copy engines move pieces of at least this many bytes: a shorter piece would take them as long.
inline constexpr std::size_t min_bytes_by_engine = std::size_t{32} << 10;

}  // namespace sluice::tuning
