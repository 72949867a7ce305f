#include "core/decomp/halo_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

constexpr int y_axis = 1;
constexpr int z_axis = 2;

int width_of(const Field& field, int axis) {
  return axis == y_axis ? field.halo().y : field.halo().z;
}

/// Layers first ... first + count - 1 along an axis. y layers cover the rank's own planes, z layers include the y halo.
ArrayPart layers_of(Field& field, int axis, int first, int count) {
  const View3<real> view = field.view();
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(real));
  const std::size_t row = static_cast<std::size_t>(field.box().nx()) * sizeof(real);
  const auto part = [&](real* origin, int rows, std::ptrdiff_t row_stride, std::ptrdiff_t layer_stride) {
    return ArrayPart{
        reinterpret_cast<std::byte*>(origin), sizeof(real), row, rows, count, row_stride * size, layer_stride * size};
  };
  if (axis == y_axis) return part(view.origin + first * view.stride_y, field.box().nz(), view.stride_z, view.stride_y);
  const int beside = field.halo().y;
  return part(view.origin + first * view.stride_z - beside * view.stride_y, field.box().ny() + 2 * beside,
              view.stride_y, view.stride_z);
}

}  // namespace

HaloExchange::HaloExchange(const Communicator& comm, const Box3& box, Exchange& exchange, bool periodic_z)
    : box_(box), exchange_(&exchange), periodic_z_(periodic_z) {
  const auto [py, pz] = comm.processes();
  y_ = {comm.row(), y_axis, box.ny(), box.ny(), (comm.y_index() + py - 1) % py, (comm.y_index() + 1) % py, {}};
  z_ = {comm.column(), z_axis, box.nz(), box.nz(), no_rank, no_rank, {}};
  if (periodic_z || comm.z_index() > 0) z_.lower = (comm.z_index() + pz - 1) % pz;
  if (periodic_z || comm.z_index() + 1 < pz) z_.upper = (comm.z_index() + 1) % pz;
  std::array<int, 2> min_cells{y_.cells, z_.cells};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, min_cells.data(), 2, MPI_INT, MPI_MIN, comm.world()), "MPI_Allreduce");
  y_.min_cells = min_cells[0];
  z_.min_cells = min_cells[1];
}

MemoryNeed HaloExchange::memory(const Box3& box, const ProcessGrid& processes, const std::vector<HaloWidth>& halos) {
  std::int64_t y = 0;
  std::int64_t z = 0;
  for (const HaloWidth& halo : halos) {
    if (processes.py > 1) y += std::int64_t{2} * halo.y * box.extent(0) * box.extent(2);
    if (processes.pz > 1) z += std::int64_t{2} * halo.z * box.extent(0) * (box.extent(1) + std::int64_t{2} * halo.y);
  }
  MemoryNeed need;
  need.halos.messages = static_cast<double>(std::max(y, z)) * sizeof(real);
  return need;
}

bool HaloExchange::split(const Direction& direction) {
  return size_of(direction.comm) > 1;
}

void HaloExchange::require(const Fields& fields) const {
  for (const Field* field : fields) {
    SLUICE_REQUIRE(field->box() == box_, "a field on another pencil than the halo exchange was made for");
    for (const Direction* direction : {&y_, &z_}) {
      const int width = width_of(*field, direction->axis);
      if (!split(*direction) || width <= direction->min_cells) continue;
      throw Error(
          ExitCode::resources,
          fmt::format("{} is split over {} ranks, of which one owns {} cells along it: too few for a halo of {} "
                      "layers; use fewer ranks in {}",
                      direction->axis == y_axis ? "y" : "z", size_of(direction->comm), direction->min_cells, width,
                      direction->axis == y_axis ? "y" : "z"));
    }
  }
}

void HaloExchange::update(const Fields& fields) {
  require(fields);
  if (fields.empty()) return;
  if (split(y_)) {
    exchange(y_, fields, all);
  } else {
    wrap(y_, fields, all);
  }
  if (split(z_)) {
    exchange(z_, fields, all);
  } else if (periodic_z_) {
    wrap(z_, fields, all);
  }
}

void HaloExchange::update_y(Field& field, Layers layers) {
  require({&field});
  if (split(y_)) {
    exchange(y_, {&field}, layers);
  } else {
    wrap(y_, {&field}, layers);
  }
}

void HaloExchange::update_z(Field& field, Layers layers) {
  require({&field});
  if (split(z_)) {
    exchange(z_, {&field}, layers);
  } else if (periodic_z_) {
    wrap(z_, {&field}, layers);
  }
}

void HaloExchange::exchange(Direction& direction, const Fields& fields, const Layers& layers) {
  const auto& [comm, axis, cells, min_cells, lower, upper, movers] = direction;
  Parts outgoing, incoming;
  std::vector<int> key{layers.lower, layers.upper};
  for (const Field* field : fields) {
    key.push_back(field->halo().y);
    key.push_back(field->halo().z);
  }
  const auto add = [&](Parts& parts, int neighbour, bool first_cells, bool halo) {
    if (neighbour == no_rank) return;
    const int count = first_cells == halo ? layers.lower : layers.upper;  // the last cells fill a lower halo
    for (Field* field : fields) {
      const int width = count >= 0 ? count : width_of(*field, axis);
      const int first = halo ? (first_cells ? -width : cells) : (first_cells ? 0 : cells - width);
      parts.push_back({neighbour, layers_of(*field, axis, first, width)});
    }
  };
  // Downward parts come before upward ones, also if the ranks below and above are the same.
  if (layers.upper != 0) add(outgoing, lower, true, false);
  if (layers.lower != 0) add(outgoing, upper, false, false);
  if (layers.upper != 0) add(incoming, upper, false, true);
  if (layers.lower != 0) add(incoming, lower, true, true);

  std::unique_ptr<Mover>& mover = direction.movers[key];
  if (!mover) {
    const int rank = rank_of(comm);
    const int size = size_of(comm);
    mover = exchange_->block_mover(
        {comm, BlockLayout::of(outgoing, rank, size), BlockLayout::of(incoming, rank, size), Traffic::neighbours});
  }
  mover->move(outgoing, incoming);
}

void HaloExchange::wrap(const Direction& direction, const Fields& fields, const Layers& layers) const {
  PartCopies copies;
  const int axis = direction.axis;
  const int cells = direction.cells;
  for (Field* field : fields) {
    const int width = width_of(*field, axis);
    const int lower = layers.lower >= 0 ? layers.lower : width;
    const int upper = layers.upper >= 0 ? layers.upper : width;
    for (int n = 0; n < width; ++n) {  // a halo may be wider than the period
      const int from_end = cells - 1 - n % cells;
      if (n < lower) copies.add(layers_of(*field, axis, from_end, 1), layers_of(*field, axis, -1 - n, 1));
      if (n < upper) copies.add(layers_of(*field, axis, n % cells, 1), layers_of(*field, axis, cells + n, 1));
    }
  }
  copies.issue(axis == y_axis ? "halo: y period" : "halo: z period");
}

}  // namespace sluice
