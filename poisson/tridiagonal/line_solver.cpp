#include "poisson/tridiagonal/line_solver.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "poisson/tridiagonal/line_tables.hpp"

namespace sluice {

namespace {

const char* const name = "tridiagonal";

/// The box in real numbers, with other planes.
Box3 in_reals(Box3 box, int components, std::int64_t first_plane, std::int64_t end_plane) {
  box.lo[0] *= components;
  box.hi[0] *= components;
  box.lo[2] = first_plane;
  box.hi[2] = end_plane;
  return box;
}

LineArray contiguous_lines(real* data, const Box3& box) {
  return {data, box.extent(0), box.extent(0) * box.extent(1), box.nx(), box.ny()};
}

View3<real> view_of(const LineArray& array, int nz) {
  View3<real> view = contiguous_view(array.origin, array.count, array.rows, nz);
  view.stride_y = array.stride_y;
  view.stride_z = array.stride_z;
  return view;
}

template <class HomeBox, class WholeBox>
LineBoxes column_boxes(const Communicator& comm, const HomeBox& home, const WholeBox& whole) {
  return {comm.column_boxes(home), comm.column_boxes(whole), comm.z_index()};
}

/// `wanted`, or what serves these blocks.
template <class Lines>
BlockMethod serving_method(BlockMethod wanted, const Decomposition& decomposition, TridiagonalMethod method) {
  if (wanted == BlockMethod::tiles && solves_in_tiles(decomposition, method)) return wanted;
  if (wanted == BlockMethod::plain || !loops_on_gpu) return BlockMethod::plain;
  const bool hold = joins_blocks(decomposition, method) || BlockKernels<Lines>::hold(decomposition.z_blocks());
  return hold ? BlockMethod::two_passes : BlockMethod::plain;
}

}  // namespace

LineBoxes spectral_lines(const Communicator& comm, const Decomposition& decomposition) {
  return column_boxes(
      comm, [&](int rank) { return decomposition.spectral_y_pencil(rank); },
      [&](int rank) { return decomposition.spectral_z_pencil(rank); });
}

LineBoxes field_lines(const Communicator& comm, const Decomposition& decomposition) {
  return column_boxes(
      comm, [&](int rank) { return decomposition.x_pencil(rank); },
      [&](int rank) { return decomposition.z_pencil(rank); });
}

template <class Lines>
LineSolver<Lines>::LineSolver(const Communicator& comm, const Decomposition& decomposition, LineBoxes boxes,
                              TridiagonalMethod method, Exchange& exchange, BlockMethod block_method)
    : method_(method),
      block_method_(serving_method<Lines>(block_method, decomposition, method)),
      boxes_(std::move(boxes)) {
  constexpr int components = Lines::components;
  const ZBlocks& blocks = decomposition.z_blocks();
  const auto joined = joined_blocks(comm, decomposition, method);
  const auto [first_block, end_block] = decomposition.block_range(comm.z_index());
  first_block_ = joined ? joined->first_block() : first_block;
  blocks_here_ = joined ? joined->blocks_here() : end_block - first_block;
  longest_block_ = joined ? joined->longest_here() : blocks.longest();
  const int ranks = comm.processes().pz;
  const bool split = ranks > 1;
  const bool by_blocks = method == TridiagonalMethod::ptdma;
  joined_ = joined.has_value();
  const std::int64_t planes = !by_blocks ? blocks.planes() : 2 * std::int64_t{joined_ ? ranks : blocks.count()};

  // What travels, rank by rank of the column, at home and as whole lines.
  std::vector<Box3> home, whole;
  for (int z = 0; z < ranks; ++z) {
    const auto rank = static_cast<std::size_t>(z);
    const Box3& box = boxes_.home[rank];
    const auto range = joined_ ? std::array{z, z + 1} : decomposition.block_range(z);
    home.push_back(by_blocks ? in_reals(box, components, 2 * range[0], 2 * range[1])
                             : in_reals(box, components, box.lo[2], box.hi[2]));
    whole.push_back(in_reals(boxes_.whole[rank], components, 0, planes));
  }
  const Box3& my_home = home[static_cast<std::size_t>(boxes_.rank)];
  const Box3& my_whole = whole[static_cast<std::size_t>(boxes_.rank)];
  if (by_blocks && (split || (loops_on_gpu && block_method_ != BlockMethod::tiles))) {
    const Box3 boundary = in_reals(boxes_.my_home(), components, 0, 2 * std::int64_t{blocks_here_});
    at_home_ = Buffer<real>(static_cast<std::size_t>(boundary.volume()));
    home_array_ = contiguous_lines(at_home_.data(), boundary);
  }
  if (joined_) {
    ends_ = Buffer<real>(static_cast<std::size_t>(my_home.volume()));
    ends_array_ = contiguous_lines(ends_.data(), my_home);
  }
  if (split) {
    transpose_ = std::make_unique<Transpose<real>>(comm.column(), home, whole, exchange);
    const View3<real> view = transpose_->transposed();
    whole_array_ = {view.origin, view.stride_y, view.stride_z, my_whole.nx(), my_whole.ny()};
  }
  allocate_scratch(blocks);
}

template <class Lines>
void LineSolver<Lines>::allocate_scratch(const ZBlocks& blocks) {
  const bool by_blocks = method_ == TridiagonalMethod::ptdma;
  const bool whole_lines = !by_blocks || !transpose_;
  if (loops_on_gpu) {
    const Box3& box = by_blocks ? boxes_.my_home() : boxes_.my_whole();
    const std::int64_t run = by_blocks ? longest_block_ - 2 : blocks.planes();
    pivots_pitch_ = box.extent(0) * box.extent(1) * (by_blocks ? blocks_here_ : 1);
    if ((!by_blocks || block_method_ == BlockMethod::plain) && Lines::components == 2)
      pivots_ = Buffer<double>(static_cast<std::size_t>(run * pivots_pitch_));
    return;
  }
  constexpr std::int64_t lanes = bundle_lanes<Lines>;
  const std::int64_t run = whole_lines ? blocks.planes() : blocks.longest();
  pivots_ = Buffer<double>(static_cast<std::size_t>(run * lanes));
  rows_ = Buffer<double>(static_cast<std::size_t>(std::max(run, 2 * std::int64_t{blocks.count()}) * lanes));
  boundary_ = Buffer<real>(static_cast<std::size_t>(2 * blocks.count() * lanes));
}

template <class Lines>
Scratch LineSolver<Lines>::scratch() {
  return {pivots_.data(), rows_.data(), boundary_.data(), pivots_pitch_};
}

template <class Lines>
void LineSolver<Lines>::solve(const Lines& at_home, const Lines& whole, const LineArray& x) {
  if (method_ == TridiagonalMethod::transpose) {
    solve_transposed(whole, x);
  } else {
    solve_by_blocks(at_home, whole, x);
  }
}

template <class Lines>
void LineSolver<Lines>::form_boundary(const Lines& at_home, const LineArray& x) {
  if constexpr (loops_on_gpu) {
    if (block_method_ != BlockMethod::plain) {
      BlockKernels<Lines>::form_boundary(at_home, x, home_array_, first_block_, blocks_here_);
      return;
    }
  }
  parallel_for(name, bundle_box<Lines>(x, blocks_here_), FormBoundary<Lines>{at_home, x, home_array_, first_block_});
}

template <class Lines>
void LineSolver<Lines>::solve_reduced(const Lines& whole) {
  const LineArray& values = transpose_ ? whole_array_ : home_array_;
  if constexpr (loops_on_gpu) {
    if (block_method_ != BlockMethod::plain) {
      BlockKernels<Lines>::solve_reduced(whole, values);
      return;
    }
  }
  parallel_for(name, bundle_box<Lines>(values, 1), SolveReduced<Lines>{whole, values, scratch()});
}

template <class Lines>
void LineSolver<Lines>::solve_interior(const Lines& at_home, const LineArray& x) {
  if constexpr (loops_on_gpu) {
    if (block_method_ != BlockMethod::plain) {
      BlockKernels<Lines>::solve_interior(at_home, x, home_array_, first_block_, blocks_here_, longest_block_);
      return;
    }
  }
  parallel_for(name, bundle_box<Lines>(x, blocks_here_),
               SolveInterior<Lines>{at_home, x, home_array_, first_block_, scratch()});
}

template <class Lines>
void LineSolver<Lines>::solve_by_blocks(const Lines& at_home, const Lines& whole, const LineArray& x) {
  if constexpr (!loops_on_gpu) {
    if (!transpose_) {
      parallel_for(name, bundle_box<Lines>(x, 1), SolveAtOnce<Lines>{whole, x, scratch()});
      return;
    }
  } else if (block_method_ == BlockMethod::tiles) {
    TileKernels<Lines>::solve(whole, x, boxes_.my_home().nz(), longest_block_);
    return;
  }
  form_boundary(at_home, x);
  const LineArray& travelling = joined_ ? ends_array_ : home_array_;
  const int planes = joined_ ? 2 : 2 * blocks_here_;
  if constexpr (loops_on_gpu) {
    if (joined_)
      BlockKernels<Lines>::join_blocks(narrowed_to(at_home, first_block_, blocks_here_), home_array_, ends_array_);
  }
  if (transpose_) transpose_->forward(view_of(travelling, planes));
  solve_reduced(whole);
  if (transpose_) transpose_->backward(view_of(travelling, planes));
  if constexpr (loops_on_gpu) {
    if (joined_)
      BlockKernels<Lines>::part_blocks(narrowed_to(at_home, first_block_, blocks_here_), home_array_, ends_array_);
  }
  solve_interior(at_home, x);
}

template <class Lines>
void LineSolver<Lines>::solve_transposed(const Lines& whole, const LineArray& x) {
  const int planes_here = boxes_.my_home().nz();
  const LineArray& lines = transpose_ ? whole_array_ : x;
  if (transpose_) transpose_->forward(view_of(x, planes_here));
  parallel_for(name, bundle_box<Lines>(lines, 1), SolveWhole<Lines>{whole, lines, scratch()});
  if (transpose_) transpose_->backward(view_of(x, planes_here));
}

template class LineSolver<ShiftedLines>;
template class LineSolver<TableLines>;

}  // namespace sluice
