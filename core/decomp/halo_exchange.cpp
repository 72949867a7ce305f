#include "core/decomp/halo_exchange.hpp"

#include <type_traits>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

/// Rows of nx elements, `stride` apart: a layer of a field, or its copy in a buffer.
template <class T>
struct Layer {
  T* origin;
  std::ptrdiff_t stride;
};

/// Layer j of a field: its rows from plane 0 on.
Layer<real> y_layer(Field& field, int j) {
  const View3<real> view = field.view();
  return {view.origin + j * view.stride_y, view.stride_z};
}

/// Plane k of a field: its rows from the lower y halo on.
Layer<real> z_layer(Field& field, int k) {
  const View3<real> view = field.view();
  return {view.origin + k * view.stride_z - view.stride_y, view.stride_y};
}

/// Copies layers to layers, all in one loop over (i, row, number of the layer).
struct CopyLayers {
  struct Copy {
    const real* from;
    real* to;
    std::ptrdiff_t from_stride, to_stride;
  };
  Copy copies[2 * HaloExchange::most_fields];
  int count = 0;

  void add(Layer<const real> from, Layer<real> to) {
    copies[count++] = {from.origin, to.origin, from.stride, to.stride};
  }

  SLUICE_INLINE void operator()(int i, int row, int n) const {
    const Copy& copy = copies[n];
    copy.to[i + row * copy.to_stride] = copy.from[i + row * copy.from_stride];
  }

  void run(const char* name, int nx, int rows) const { parallel_for(name, box_of(nx, rows, count), *this); }
};

Layer<const real> read_only(const Layer<real>& layer) {
  return {layer.origin, layer.stride};
}

}  // namespace

HaloExchange::HaloExchange(const Communicator& comm, const Box3& box, std::size_t fields, Exchange& exchange)
    : box_(box), max_fields_(fields) {
  SLUICE_REQUIRE(fields <= most_fields, "too many fields for one halo exchange");
  const auto [py, pz] = comm.processes();
  y_.rows = box.nz();
  y_.last = box.ny() - 1;
  z_.rows = box.ny() + 2;
  z_.last = box.nz() - 1;
  y_.lower = (comm.y_index() + py - 1) % py;
  y_.upper = (comm.y_index() + 1) % py;
  if (comm.z_index() > 0) z_.lower = comm.z_index() - 1;
  if (comm.z_index() + 1 < pz) z_.upper = comm.z_index() + 1;
  if (py > 1) connect(comm.row(), fields, exchange, y_);
  if (pz > 1) connect(comm.column(), fields, exchange, z_);
}

void HaloExchange::connect(MPI_Comm comm, std::size_t fields, Exchange& exchange, Direction& direction) const {
  const std::size_t layer =
      static_cast<std::size_t>(box_.nx()) * static_cast<std::size_t>(direction.rows) * sizeof(real);
  const auto layers = [&](std::size_t n, std::initializer_list<int> neighbours) {
    std::vector<std::size_t> bytes(static_cast<std::size_t>(size_of(comm)));
    for (const int neighbour : neighbours) {
      if (neighbour != nobody) bytes[static_cast<std::size_t>(neighbour)] += n * layer;
    }
    return BlockLayout::of(std::move(bytes));
  };
  const auto connected = [&](const BlockLayout& send, const BlockLayout& receive) {
    return exchange.connect(comm, send, receive, Traffic::neighbours);
  };
  for (std::size_t n = 1; n <= fields; ++n) {
    const BlockLayout both = layers(n, {direction.lower, direction.upper});  // as much comes as goes
    direction.connections.push_back(connected(both, both));
  }
  direction.to_lower_halo = connected(layers(1, {direction.upper}), layers(1, {direction.lower}));
  direction.to_upper_halo = connected(layers(1, {direction.lower}), layers(1, {direction.upper}));
}

void HaloExchange::require(const std::vector<Field*>& fields) const {
  SLUICE_REQUIRE(fields.size() <= max_fields_, "more fields than the halo exchange was made for");
  for (const Field* field : fields)
    SLUICE_REQUIRE(field->box() == box_, "a field on another pencil than the halo exchange was made for");
}

void HaloExchange::update(const std::vector<Field*>& fields) {
  require(fields);
  if (fields.size() == 0) return;
  if (y_.split()) {
    trade(y_, both_sides(y_, fields.size()), fields, y_layer);
  } else {
    wrap_y(fields, true, true);
  }
  if (z_.split()) trade(z_, both_sides(z_, fields.size()), fields, z_layer);
}

void HaloExchange::update_y(Field& field, Side side) {
  require({&field});
  if (y_.split()) {
    trade(y_, one_side(y_, side), {&field}, y_layer);
  } else {
    wrap_y({&field}, side == Side::lower, side == Side::upper);
  }
}

void HaloExchange::update_z(Field& field, Side side) {
  require({&field});
  if (z_.split()) trade(z_, one_side(z_, side), {&field}, z_layer);
}

void HaloExchange::wrap_y(const std::vector<Field*>& fields, bool lower, bool upper) const {
  CopyLayers wrap;
  for (Field* field : fields) {
    if (lower) wrap.add(read_only(y_layer(*field, y_.last)), y_layer(*field, -1));
    if (upper) wrap.add(read_only(y_layer(*field, 0)), y_layer(*field, y_.last + 1));
  }
  wrap.run("halo: y period", box_.nx(), y_.rows);
}

HaloExchange::Trade HaloExchange::both_sides(const Direction& direction, std::size_t fields) {
  return {direction.connections[fields - 1].get(), true, true};
}

HaloExchange::Trade HaloExchange::one_side(const Direction& direction, Side side) {
  const bool lower = side == Side::lower;
  return {(lower ? direction.to_lower_halo : direction.to_upper_halo).get(), lower, !lower};
}

template <class LayerOf>
void HaloExchange::trade(const Direction& direction, const Trade& trade, const std::vector<Field*>& fields,
                         const LayerOf& layer_of) const {
  Connection& connection = *trade.connection;
  const std::ptrdiff_t nx = box_.nx();
  const std::ptrdiff_t part = nx * direction.rows * static_cast<std::ptrdiff_t>(fields.size());
  // A block holds what goes down, then what goes up: both where the ranks below and above are the same one.
  const std::ptrdiff_t upward = trade.upper && trade.lower && direction.lower == direction.upper ? part : 0;
  const auto buffer_layer = [&](auto* block, std::ptrdiff_t start, int n) {
    return Layer<std::remove_pointer_t<decltype(block)>>{block + start + n * nx * direction.rows, nx};
  };

  connection.begin();
  CopyLayers pack;
  const auto pack_for = [&](int neighbour, int layer, std::ptrdiff_t start) {
    if (neighbour == nobody) return;
    auto* block = reinterpret_cast<real*>(connection.outgoing(neighbour));
    int n = 0;
    for (Field* field : fields) pack.add(read_only(layer_of(*field, layer)), buffer_layer(block, start, n++));
  };
  if (trade.upper) pack_for(direction.lower, 0, 0);
  if (trade.lower) pack_for(direction.upper, direction.last, upward);
  pack.run("halo: pack", box_.nx(), direction.rows);

  connection.run([](int) {});
  CopyLayers unpack;
  const auto unpack_from = [&](int neighbour, int layer, std::ptrdiff_t start) {
    if (neighbour == nobody) return;
    const auto* block = reinterpret_cast<const real*>(connection.incoming(neighbour));
    int n = 0;
    for (Field* field : fields) unpack.add(buffer_layer(block, start, n++), layer_of(*field, layer));
  };
  if (trade.upper) unpack_from(direction.upper, direction.last + 1, 0);
  if (trade.lower) unpack_from(direction.lower, -1, upward);
  unpack.run("halo: unpack", box_.nx(), direction.rows);
}

}  // namespace sluice
