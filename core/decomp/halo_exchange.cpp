#include "core/decomp/halo_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

constexpr int y_axis = 1;
constexpr int z_axis = 2;

int width_of(const Field& field, int axis) {
  return axis == y_axis ? field.halo().y : field.halo().z;
}

/// Layers first ... first + count - 1 along an axis, of the rank's own cells along the other one or with the halo
/// there.
ArrayPart layers_of(Field& field, int axis, int first, int count, bool with_edges) {
  const View3<real> view = field.view();
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(real));
  const std::size_t row = static_cast<std::size_t>(field.box().nx()) * sizeof(real);
  const auto part = [&](real* origin, int rows, std::ptrdiff_t row_stride, std::ptrdiff_t layer_stride) {
    return ArrayPart{
        reinterpret_cast<std::byte*>(origin), sizeof(real), row, rows, count, row_stride * size, layer_stride * size};
  };
  if (axis == y_axis) {
    const int beside = with_edges ? field.halo().z : 0;
    return part(view.origin + first * view.stride_y - beside * view.stride_z, field.box().nz() + 2 * beside,
                view.stride_z, view.stride_y);
  }
  const int beside = with_edges ? field.halo().y : 0;
  return part(view.origin + first * view.stride_z - beside * view.stride_y, field.box().ny() + 2 * beside,
              view.stride_y, view.stride_z);
}

/// A message buffer of rank `here` of a row or column of `ranks` for blocks of these bytes to or from its neighbours.
double buffer_bytes(int ranks, int here, bool periodic, double bytes) {
  std::vector<std::size_t> blocks(static_cast<std::size_t>(ranks));
  for (const int other : {here - 1, here + 1}) {
    if (ranks > 1 && (periodic || (other >= 0 && other < ranks)))
      blocks[static_cast<std::size_t>((other + ranks) % ranks)] += static_cast<std::size_t>(bytes);
  }
  return static_cast<double>(BlockLayout::of(blocks).total);
}

}  // namespace

HaloExchange::HaloExchange(const Communicator& comm, const Box3& box, Exchange& exchange, bool periodic_z)
    : box_(box), exchange_(&exchange), periodic_z_(periodic_z) {
  const auto [py, pz] = comm.processes();
  y_ = {comm.row(), y_axis, py, box.ny(), box.ny(), (comm.y_index() + py - 1) % py, (comm.y_index() + 1) % py, {}};
  z_ = {comm.column(), z_axis, pz, box.nz(), box.nz(), no_rank, no_rank, {}};
  if (periodic_z || comm.z_index() > 0) z_.lower = (comm.z_index() + pz - 1) % pz;
  if (periodic_z || comm.z_index() + 1 < pz) z_.upper = (comm.z_index() + 1) % pz;
  std::array<int, 2> min_cells{y_.cells, z_.cells};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, min_cells.data(), 2, MPI_INT, MPI_MIN, comm.world()), "MPI_Allreduce");
  y_.min_cells = min_cells[0];
  z_.min_cells = min_cells[1];
}

bool HaloExchange::neighbours_own_two_planes(const Decomposition& decomposition, bool periodic_z) {
  const ProcessGrid& processes = decomposition.processes();
  bool two = true;
  for (int z = 0; z < processes.pz; ++z) two = two && decomposition.x_pencil(processes.rank(0, z)).nz() > 1;
  return two && processes.pz > 1 && !periodic_z;
}

double HaloExchange::side_bytes(const Box3& box, int axis, const std::vector<HaloWidth>& halos, bool with_edges) {
  std::int64_t elements = 0;
  for (const HaloWidth& halo : halos) {
    const std::int64_t edges = !with_edges ? 0 : 2 * (axis == y_axis ? halo.z : halo.y);
    elements += axis == y_axis ? halo.y * (box.extent(2) + edges) : halo.z * (box.extent(1) + edges);
  }
  return static_cast<double>(box.extent(0) * elements) * sizeof(real);
}

ExchangeNeed HaloExchange::memory(const Decomposition& decomposition, int rank, const std::vector<HaloWidth>& halos,
                                  bool periodic_z) {
  const auto [py, pz] = decomposition.processes();
  const Box3 box = decomposition.x_pencil(rank);
  return {
      .messages = std::max(
          buffer_bytes(py, decomposition.processes().y_index(rank), true, side_bytes(box, y_axis, halos, false)),
          buffer_bytes(pz, decomposition.processes().z_index(rank), periodic_z, side_bytes(box, z_axis, halos, true)))};
}

ExchangeNeed HaloExchange::memory_ahead(const Decomposition& decomposition, int rank,
                                        const std::vector<HaloWidth>& started, const std::vector<HaloWidth>& along_y) {
  const ProcessGrid& processes = decomposition.processes();
  const Box3 box = decomposition.x_pencil(rank);
  return {.messages = buffer_bytes(processes.py, processes.y_index(rank), true, side_bytes(box, y_axis, along_y, true)),
          .background =
              buffer_bytes(processes.pz, processes.z_index(rank), false, side_bytes(box, z_axis, started, false))};
}

bool HaloExchange::split(const Direction& direction) {
  return direction.ranks > 1;
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
  update(y_, fields, {all, false});
  update(z_, fields, {all, true});
}

void HaloExchange::update_y(Field& field, Layers layers) {
  update(y_, {&field}, {layers, false});
}

void HaloExchange::update_z(Field& field, Layers layers) {
  update(z_, {&field}, {layers, true});
}

void HaloExchange::update_y(const Fields& fields) {
  update(y_, fields, {all, true});
}

void HaloExchange::update_z(Field& field, const PlanesBeyond& beyond) {
  SLUICE_REQUIRE(neighbours_own_two_planes(),
                 "planes beyond a halo belong to one rank only where each owns two or more");
  require({&field});
  for (const Field* plane : {beyond.below, beyond.above})
    SLUICE_REQUIRE(plane == nullptr || (plane->box().nx() == box_.nx() && plane->box().ny() == box_.ny()),
                   "a plane of other rows");
  const Extent extent{{1, 1}, true};
  Message message = message_of(z_, {&field}, extent);
  const auto add = [&](Field* plane, int to, int second, int from) {
    if (plane == nullptr) return;
    if (to != no_rank) message.outgoing.push_back({to, layers_of(field, z_axis, second, 1, false)});
    if (from != no_rank) message.incoming.push_back({from, layers_of(*plane, z_axis, 0, 1, false)});
  };
  add(beyond.above, z_.lower, 1, z_.upper);
  add(beyond.below, z_.upper, z_.cells - 2, z_.lower);
  for (Parts* parts : {&message.outgoing, &message.incoming}) std::ranges::stable_sort(*parts, {}, &PeerPart::peer);
  std::vector<int> key = key_of({&field}, extent);
  key.push_back(beyond.below != nullptr);
  key.push_back(beyond.above != nullptr);
  mover_of(z_, message, std::move(key), When::now).move(message.outgoing, message.incoming);
}

void HaloExchange::start_z(const Fields& fields) {
  require(fields);
  SLUICE_REQUIRE(split(z_) && started_ == nullptr, "z halos are filled one set at a time");
  const Extent extent{all, false};
  Message message = message_of(z_, fields, extent);
  Mover& mover = mover_of(z_, message, key_of(fields, extent), When::in_background);
  if (in_background_) {
    mover.start(message.outgoing, message.incoming);
  } else {
    waiting_ = std::move(message);
  }
  started_ = &mover;
}

void HaloExchange::finish_z() {
  SLUICE_REQUIRE(started_ != nullptr, "finish_z() without start_z()");
  Mover& mover = *std::exchange(started_, nullptr);
  const Message message = std::exchange(waiting_, {});
  if (!in_background_) mover.start(message.outgoing, message.incoming);
  mover.finish();
}

void HaloExchange::update(Direction& direction, const Fields& fields, const Extent& extent) {
  require(fields);
  if (fields.empty()) return;
  if (split(direction)) {
    const Message message = message_of(direction, fields, extent);
    mover_of(direction, message, key_of(fields, extent), When::now).move(message.outgoing, message.incoming);
  } else if (direction.axis == y_axis || periodic_z_) {
    wrap(direction, fields, extent);
  }
}

HaloExchange::Message HaloExchange::message_of(const Direction& direction, const Fields& fields, const Extent& extent) {
  const Layers& layers = extent.layers;
  Message message;
  const auto add = [&](Parts& parts, int neighbour, bool first_cells, bool halo) {
    if (neighbour == no_rank) return;
    const int count = first_cells == halo ? layers.lower : layers.upper;  // the last cells fill a lower halo
    for (Field* field : fields) {
      const int width = count >= 0 ? count : width_of(*field, direction.axis);
      const int cells = direction.cells;
      const int first = halo ? (first_cells ? -width : cells) : (first_cells ? 0 : cells - width);
      parts.push_back({neighbour, layers_of(*field, direction.axis, first, width, extent.with_edges)});
    }
  };
  // Downward parts come before upward ones, also if the ranks below and above are the same.
  if (layers.upper != 0) add(message.outgoing, direction.lower, true, false);
  if (layers.lower != 0) add(message.outgoing, direction.upper, false, false);
  if (layers.upper != 0) add(message.incoming, direction.upper, false, true);
  if (layers.lower != 0) add(message.incoming, direction.lower, true, true);
  return message;
}

std::vector<int> HaloExchange::key_of(const Fields& fields, const Extent& extent) {
  std::vector<int> key{extent.layers.lower, extent.layers.upper, extent.with_edges ? 1 : 0};
  for (const Field* field : fields) {
    key.push_back(field->halo().y);
    key.push_back(field->halo().z);
  }
  return key;
}

Mover& HaloExchange::mover_of(Direction& direction, const Message& message, std::vector<int> key, When when) {
  key.push_back(when == When::in_background ? 1 : 0);
  std::unique_ptr<Mover>& mover = direction.movers[key];
  if (mover) return *mover;
  const MPI_Comm comm = direction.comm;
  const int rank = rank_of(comm);
  const int size = size_of(comm);
  const Route route{comm, BlockLayout::of(message.outgoing, rank, size), BlockLayout::of(message.incoming, rank, size),
                    Traffic::neighbours};
  if (when == When::in_background) {
    mover = exchange_->background_mover(route);
    in_background_ = mover != nullptr;
  }
  if (!mover) mover = exchange_->block_mover(route);
  return *mover;
}

void HaloExchange::wrap(const Direction& direction, const Fields& fields, const Extent& extent) const {
  PartCopies copies;
  const int axis = direction.axis;
  const int cells = direction.cells;
  const auto layer = [&](Field& field, int n) { return layers_of(field, axis, n, 1, extent.with_edges); };
  for (Field* field : fields) {
    const int width = width_of(*field, axis);
    const int lower = extent.layers.lower >= 0 ? extent.layers.lower : width;
    const int upper = extent.layers.upper >= 0 ? extent.layers.upper : width;
    for (int n = 0; n < width; ++n) {  // a halo may be wider than the period
      const int from_end = cells - 1 - n % cells;
      if (n < lower) copies.add(layer(*field, from_end), layer(*field, -1 - n));
      if (n < upper) copies.add(layer(*field, n % cells), layer(*field, cells + n));
    }
  }
  copies.issue(axis == y_axis ? "halo: y period" : "halo: z period");
}

}  // namespace sluice
