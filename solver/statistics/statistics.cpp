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

/// Number of the first of StressFaceProfiles in that list.
constexpr std::size_t first_stress_profile =
    profile_count<CenterProfiles<Order::second>> + profile_count<FaceProfiles<Order::second>> +
    profile_count<EnergyCenterProfiles<Order::second>> + profile_count<EnergyFaceProfiles<Order::second>>;

struct Views {
  op::In u, v, w, p;
};

Views views(const State& state) {
  return {state.velocity.u.view(), state.velocity.v.view(), state.velocity.w.view(), state.p.view()};
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
void Statistics::issue(const Table& table) {
  constexpr bool at_faces = Table::axis == ProfileAxis::z_face;
  RankPlanes planes = means_.centers();
  if constexpr (at_faces) planes = Table::zero_on_walls ? means_.inner_faces() : means_.faces();
  means_.issue<profile_count<Table>>(at_faces ? "statistics at faces" : "statistics at centres",
                                     cells()[2] + (at_faces ? 1 : 0), {planes}, ProfileKernel<Table>{table});
}

template <Order order>
void Statistics::issue_flow(const State& state) {
  const auto [u, v, w, p] = views(state);
  issue(CenterProfiles<order>{u, v, w, p, metrics_});
  issue(FaceProfiles<order>{u, v, w, metrics_, viscosity_});
  if (!budgets_) return;
  issue(EnergyCenterProfiles<order>{u, v, w, p, metrics_});
  issue(EnergyFaceProfiles<order>{u, v, w, metrics_});
  issue(StressFaceProfiles<order>{u, v, w, p, metrics_, viscosity_});
}

template <Order order>
void Statistics::issue_stress_of_u(const State& state) {
  const auto [u, v, w, p] = views(state);
  issue(StressCenterProfiles<order>{u, v, w, p, metrics_, viscosity_});
}

void Statistics::combine_stress(Profiles& means) {
  constexpr std::size_t terms = profile_count<StressCenterProfiles<Order::second>> / 2;
  const std::size_t first_of_u = means.size() - 2 * terms;
  // u on an inner face is the mean of the two cells: the terms of its momentum equation are those of both.
  for (std::size_t n = 0; n < terms; ++n) {
    std::vector<double>& at_faces = means[first_stress_profile + n];
    const std::vector<double>& below = means[first_of_u + n];
    const std::vector<double>& above = means[first_of_u + n + terms];
    for (std::size_t face = 1; face + 1 < at_faces.size(); ++face)
      at_faces[face] += (below[face - 1] + above[face]) / 2;
  }
  means.resize(first_of_u);
}

void Statistics::sample(const State& state, double forcing) {
  op::with_order(order_, [&](auto order) { issue_flow<order>(state); });
  for (const auto& [descriptor, field] : state.transported) {
    if (descriptor.outputs.statistics) issue(TransportedProfiles{field.view()});
  }
  if (budgets_) op::with_order(order_, [&](auto order) { issue_stress_of_u<order>(state); });

  Profiles means = means_.take();
  if (budgets_) combine_stress(means);
  for (std::size_t n = 0; n < means.size(); ++n) {
    std::vector<double>& sum = sums(n);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += means[n][k];
  }
  count_sample(state.time, forcing);
}

}  // namespace sluice
