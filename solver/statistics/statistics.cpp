#include "solver/statistics/statistics.hpp"

#include "solver/statistics/budget_profiles.hpp"
#include "solver/statistics/flow_profiles.hpp"

namespace sluice {

namespace {

std::vector<ProfileInfo> list_profiles(bool budgets) {
  std::vector<ProfileInfo> list;
  append_profiles<CenterProfiles<Order::second>>(list);  // those of order 4 have the same names
  append_profiles<FaceProfiles<Order::second>>(list);
  if (budgets) {
    append_profiles<EnergyCenterProfiles<Order::second>>(list);
    append_profiles<EnergyFaceProfiles<Order::second>>(list);
    append_profiles<StressFaceProfiles<Order::second>>(list);
  }
  for (std::size_t n = first_transported_field; n < flow_fields().size(); ++n) {
    const FieldDescriptor& field = flow_fields()[n];
    if (field.outputs.statistics) append_profiles<TransportedProfiles>(list, field.name, field.long_name);
  }
  return list;
}

}  // namespace

Statistics::Statistics(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls,
                       const Box3& box, bool budgets, MPI_Comm comm)
    : BlockSums(list_profiles(budgets), grid.cells(), true),
      metrics_(metrics),
      viscosity_(static_cast<real>(flow.viscosity)),
      order_(flow.order),
      means_(grid.cells(), box, walls, comm),
      budgets_(budgets) {}

template <class Table>
Statistics::Profiles Statistics::plane_means(const Table& table) const {
  constexpr bool at_faces = Table::axis == ProfileAxis::z_face;
  RankPlanes planes = means_.centers();
  if constexpr (at_faces) planes = Table::zero_on_walls ? means_.inner_faces() : means_.faces();
  return means_.means<profile_count<Table>>(at_faces ? "statistics at faces" : "statistics at centres",
                                            cells()[2] + (at_faces ? 1 : 0), {planes}, ProfileKernel<Table>{table});
}

template <Order order>
Statistics::Profiles Statistics::stress_budget(const State& state) const {
  const op::In u = state.velocity.u.view();
  const op::In v = state.velocity.v.view();
  const op::In w = state.velocity.w.view();
  const op::In p = state.p.view();
  const Profiles of_u = plane_means(StressCenterProfiles<order>{u, v, w, p, metrics_, viscosity_});
  Profiles means = plane_means(StressFaceProfiles<order>{u, v, w, p, metrics_, viscosity_});
  // u on an inner face is the mean of the two cells: the terms of its momentum equation are those of both.
  const std::size_t terms = of_u.size() / 2;
  for (std::size_t n = 0; n < terms; ++n) {
    for (std::size_t face = 1; face + 1 < means[n].size(); ++face)
      means[n][face] += (of_u[n][face - 1] + of_u[n + terms][face]) / 2;
  }
  return means;
}

std::size_t Statistics::add(const Profiles& means, std::size_t first) {
  for (const std::vector<double>& profile : means) {
    std::vector<double>& sum = sums(first++);
    for (std::size_t k = 0; k < profile.size(); ++k) sum[k] += profile[k];
  }
  return first;
}

void Statistics::sample(const State& state, double forcing) {
  const op::In u = state.velocity.u.view();
  const op::In v = state.velocity.v.view();
  const op::In w = state.velocity.w.view();
  const op::In p = state.p.view();
  std::size_t next = 0;
  op::with_order(order_, [&](auto order) {
    next = add(plane_means(CenterProfiles<order>{u, v, w, p, metrics_}), next);
    next = add(plane_means(FaceProfiles<order>{u, v, w, metrics_, viscosity_}), next);
    if (!budgets_) return;
    next = add(plane_means(EnergyCenterProfiles<order>{u, v, w, p, metrics_}), next);
    next = add(plane_means(EnergyFaceProfiles<order>{u, v, w, metrics_}), next);
    next = add(stress_budget<order>(state), next);
  });
  for (const auto& [descriptor, field] : state.transported) {
    if (descriptor.outputs.statistics) next = add(plane_means(TransportedProfiles{field.view()}), next);
  }

  count_sample(state.time, forcing);
}

}  // namespace sluice
