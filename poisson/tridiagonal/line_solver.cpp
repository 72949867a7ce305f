#include "poisson/tridiagonal/line_solver.hpp"

#include "poisson/tridiagonal/line_strategies.hpp"

namespace sluice {

namespace {

using BoxOfRank = Box3 (Decomposition::*)(int rank) const;

LineBoxes column_boxes(const Decomposition& decomposition, int rank, BoxOfRank home, BoxOfRank whole) {
  const ProcessGrid& processes = decomposition.processes();
  LineBoxes boxes;
  boxes.rank = processes.z_index(rank);
  for (int z = 0; z < processes.pz; ++z) {
    const int other = processes.rank(processes.y_index(rank), z);
    boxes.home.push_back((decomposition.*home)(other));
    boxes.whole.push_back((decomposition.*whole)(other));
  }
  return boxes;
}

/// The boxes that a column exchanges, in real numbers.
LineBoxes exchanged_boxes(LineBoxes boxes, const LinePlan& plan, int components) {
  const std::vector<std::int64_t>& planes = plan.exchanged_planes;
  for (std::size_t z = 0; z < boxes.home.size(); ++z) {
    boxes.home[z].lo[2] = plan.systems * planes[z];
    boxes.home[z].hi[2] = plan.systems * planes[z + 1];
    boxes.whole[z].lo[2] = 0;
    boxes.whole[z].hi[2] = plan.systems * planes.back();
    for (Box3* box : {&boxes.home[z], &boxes.whole[z]}) {
      box->lo[0] *= components;
      box->hi[0] *= components;
    }
  }
  return boxes;
}

}  // namespace

int boundary_blocks(const LinePlan& plan) {
  if (plan.strategy == LineStrategy::split_tiles) return 2;
  const int blocks = plan.blocks_here();
  return plan.strategy == LineStrategy::condensed ? 1 + (blocks > 1 ? blocks : 0) : blocks;
}

LineBoxes spectral_lines(const Decomposition& decomposition, int rank) {
  return column_boxes(decomposition, rank, &Decomposition::spectral_y_pencil, &Decomposition::spectral_z_pencil);
}

LineBoxes field_lines(const Decomposition& decomposition, int rank) {
  return column_boxes(decomposition, rank, &Decomposition::x_pencil, &Decomposition::z_pencil);
}

ColumnTranspose::ColumnTranspose(const Communicator& comm, const LineBoxes& boxes, const LinePlan& plan, int components,
                                 Exchange& exchange) {
  if (comm.processes().pz == 1) return;
  const LineBoxes exchanged = exchanged_boxes(boxes, plan, components);
  planes_ = exchanged.my_home().nz();
  transpose_ = std::make_unique<Transpose<real>>(comm.column(), exchanged.home, exchanged.whole, exchange);
  const View3<real> view = transpose_->transposed();
  whole_ = {view.origin, view.stride_y, view.stride_z, exchanged.my_whole().nx(), exchanged.my_whole().ny()};
}

View3<real> ColumnTranspose::view_of(const LineArray& home) const {
  View3<real> view = contiguous_view(home.origin, home.count, home.rows, planes_);
  view.stride_y = home.stride_y;
  view.stride_z = home.stride_z;
  return view;
}

LineArray ColumnTranspose::forward(const LineArray& home) {
  if (!transpose_) return home;
  transpose_->forward(view_of(home));
  return whole_;
}

void ColumnTranspose::backward(const LineArray& home) {
  if (transpose_) transpose_->backward(view_of(home));
}

MemoryNeed line_solver_need(const LineBoxes& boxes, const LinePlan& plan, int components) {
  MemoryNeed memory{.held = strategy_memory(boxes, plan, components)};
  if (boxes.home.size() > 1) {
    const LineBoxes exchanged = exchanged_boxes(boxes, plan, components);
    memory.columns = Transpose<real>::memory(exchanged.home, exchanged.whole, exchanged.rank);
  }
  return memory;
}

}  // namespace sluice
