// Quantities at cell centres, such as vorticity and Q, of a state between steps: for fields and slices.
#include "solver/derived/center_fields.hpp"

#include "core/support/error.hpp"
#include "solver/derived/center_loops.hpp"

namespace sluice {

using namespace derived;

namespace {

template <class T, class Quantity>
std::vector<std::vector<T>> at_cells(const Quantity& quantity, const CellChoice& cells, std::int64_t nx) {
  constexpr auto count = static_cast<std::size_t>(Quantity::components);
  const Box3& box = cells.box;
  const auto size = static_cast<std::size_t>(box.volume());
  Buffer<T> values(count * size);
  AtChosenCells<Quantity, T> kernel{quantity, cells.x.data(), cells.y.data(), cells.z.data(), static_cast<int>(nx), {}};
  for (std::size_t n = 0; n < count; ++n)
    kernel.to[n] = contiguous_view(values.data() + n * size, box.nx(), box.ny(), box.nz());
  parallel_for("fields at centres", box, kernel);
  std::vector<std::vector<T>> components(count, std::vector<T>(size));
  for (std::size_t n = 0; n < count; ++n)
    device::copy(components[n].data(), values.data() + n * size, size * sizeof(T));
  return components;
}

}  // namespace

template <Order order, class T>
std::vector<std::vector<T>> CenterFields::compute_in_order(const State& state, const CenterQuantity& quantity,
                                                           const CellChoice& cells) {
  const Velocity velocity{state.velocity.u.view(), state.velocity.v.view(), state.velocity.w.view()};
  const AtCenter<order> at_center{velocity};
  if (quantity.name == "velocity") return at_cells<T>(at_center, cells, cells_[0]);
  if (quantity.name == "vorticity") return at_cells<T>(Vorticity<order>{velocity, metrics_}, cells, cells_[0]);
  if (quantity.name == "q") return at_cells<T>(SecondInvariant<order>{velocity, metrics_}, cells, cells_[0]);
  if (quantity.name == "lambda2") return at_cells<T>(Lambda2<order>{velocity, metrics_}, cells, cells_[0]);
  if (quantity.name == "fluctuation") {
    const RankPlanes planes = means_.centers();
    const auto means = means_.template means<3>("means at centres", cells_[2], {planes}, at_center);
    std::vector<double> of_planes;
    for (std::int64_t k = 0; k < planes.box.nz(); ++k) {
      for (const auto& component : means) of_planes.push_back(component[static_cast<std::size_t>(planes.first + k)]);
    }
    const Buffer<double> on_device(of_planes);
    return at_cells<T>(Fluctuation<order>{at_center, on_device.data()}, cells, cells_[0]);
  }
  for (const auto& [descriptor, field] : state.fields()) {
    if (descriptor.name == quantity.name) return at_cells<T>(Plain{field.view()}, cells, cells_[0]);
  }
  throw Error(ExitCode::internal, "the flow has no field " + quantity.name);
}

template <class T>
std::vector<std::vector<T>> CenterFields::compute(const State& state, const CenterQuantity& quantity,
                                                  const CellChoice& cells) {
  if (order_ == Order::fourth) return compute_in_order<Order::fourth, T>(state, quantity, cells);
  return compute_in_order<Order::second, T>(state, quantity, cells);
}

template std::vector<std::vector<float>> CenterFields::compute(const State&, const CenterQuantity&, const CellChoice&);
template std::vector<std::vector<double>> CenterFields::compute(const State&, const CenterQuantity&, const CellChoice&);

}  // namespace sluice
