#include "poisson/tridiagonal/line_strategies.hpp"

#include "core/decomp/transpose_need.hpp"

namespace sluice {

namespace {

View3<real> view_of(const LineArray& array, int planes) {
  View3<real> view = contiguous_view(array.origin, array.count, array.rows, planes);
  view.stride_y = array.stride_y;
  view.stride_z = array.stride_z;
  return view;
}

/// Boxes exchanged within a column, at home and as whole lines, in real numbers.
struct Travelling {
  std::vector<Box3> home, whole;

  Travelling(const Decomposition& decomposition, const LineBoxes& boxes, const LinePlan& plan, int components)
      : home(boxes.home), whole(boxes.whole) {
    const std::vector<std::int64_t> planes = plan.travelling_planes(decomposition);
    for (std::size_t z = 0; z < home.size(); ++z) {
      home[z].lo[2] = planes[z];
      home[z].hi[2] = planes[z + 1];
      whole[z].lo[2] = 0;
      whole[z].hi[2] = planes.back();
      for (Box3* box : {&home[z], &whole[z]}) {
        box->lo[0] *= components;
        box->hi[0] *= components;
      }
    }
  }
};

template <class BoxOfRank>
std::vector<Box3> column_boxes(const ProcessGrid& processes, int rank, const BoxOfRank& box) {
  std::vector<Box3> boxes;
  for (int z = 0; z < processes.pz; ++z) boxes.push_back(box(processes.rank(processes.y_index(rank), z)));
  return boxes;
}

}  // namespace

LineBoxes spectral_lines(const Decomposition& decomposition, int rank) {
  const ProcessGrid& processes = decomposition.processes();
  return {column_boxes(processes, rank, [&](int other) { return decomposition.spectral_y_pencil(other); }),
          column_boxes(processes, rank, [&](int other) { return decomposition.spectral_z_pencil(other); }),
          processes.z_index(rank)};
}

LineBoxes field_lines(const Decomposition& decomposition, int rank) {
  const ProcessGrid& processes = decomposition.processes();
  return {column_boxes(processes, rank, [&](int other) { return decomposition.x_pencil(other); }),
          column_boxes(processes, rank, [&](int other) { return decomposition.z_pencil(other); }),
          processes.z_index(rank)};
}

ColumnTranspose::ColumnTranspose(const Communicator& comm, const Decomposition& decomposition, const LineBoxes& boxes,
                                 const LinePlan& plan, int components, Exchange& exchange) {
  if (comm.processes().pz == 1) return;
  const Travelling travelling(decomposition, boxes, plan, components);
  transpose_ = std::make_unique<Transpose<real>>(comm.column(), travelling.home, travelling.whole, exchange);
  const View3<real> view = transpose_->transposed();
  const Box3& mine = travelling.whole[static_cast<std::size_t>(boxes.rank)];
  whole_ = {view.origin, view.stride_y, view.stride_z, mine.nx(), mine.ny()};
}

MemoryNeed ColumnTranspose::memory(const Decomposition& decomposition, const LineBoxes& boxes, const LinePlan& plan,
                                   int components) {
  if (decomposition.processes().pz == 1) return {};
  const Travelling travelling(decomposition, boxes, plan, components);
  const auto mine = static_cast<std::size_t>(boxes.rank);
  return {.columns = transpose_need<real>(travelling.home[mine], travelling.whole[mine])};
}

LineArray ColumnTranspose::forward(const LineArray& home, int planes) {
  if (!transpose_) return home;
  transpose_->forward(view_of(home, planes));
  return whole_;
}

void ColumnTranspose::backward(const LineArray& home, int planes) {
  if (transpose_) transpose_->backward(view_of(home, planes));
}

}  // namespace sluice
