#include "solver/statistics/statistics.hpp"

#include <algorithm>

#include "solver/statistics/budget_profiles.hpp"
#include "solver/statistics/flow_profiles.hpp"

namespace sluice {

namespace {

std::vector<ProfileInfo> list_profiles(bool budgets, const FlowParameters& flow) {
  std::vector<ProfileInfo> list;
  append_profiles<CenterProfiles<Order::second>>(list);  // those of order 4 have the same names
  append_profiles<FaceProfiles<Order::second>>(list);
  if (budgets) {
    append_profiles<EnergyCenterProfiles<Order::second>>(list);
    append_profiles<EnergyFaceProfiles<Order::second>>(list);
    append_profiles<StressFaceProfiles<Order::second>>(list);
  }
  for (const FieldDescriptor& scalar : scalar_fields(flow)) {
    append_profiles<ScalarProfiles>(list, scalar.name, scalar.long_name);
    append_profiles<ScalarFaceProfiles>(list, scalar.name, scalar.long_name);
  }
  return list;
}

// Numbers of the first profile of each table in that list.
constexpr std::size_t first_at_centers = 0;
constexpr std::size_t first_at_faces = first_at_centers + profile_count<CenterProfiles<Order::second>>;
constexpr std::size_t first_energy_at_centers = first_at_faces + profile_count<FaceProfiles<Order::second>>;
constexpr std::size_t first_energy_at_faces =
    first_energy_at_centers + profile_count<EnergyCenterProfiles<Order::second>>;
constexpr std::size_t first_stress = first_energy_at_faces + profile_count<EnergyFaceProfiles<Order::second>>;
constexpr std::size_t after_stress = first_stress + profile_count<StressFaceProfiles<Order::second>>;

struct Views {
  op::In u, v, w, p;
};

Views views(const State& state) {
  return {state.velocity.u.view(), state.velocity.v.view(), state.velocity.w.view(), state.p.view()};
}

}  // namespace

Statistics::Statistics(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls,
                       const Box3& box, bool budgets, MPI_Comm comm)
    : BlockSums(list_profiles(budgets, flow), grid.cells(), true),
      metrics_(metrics),
      viscosity_(static_cast<real>(flow.viscosity)),
      order_(flow.order),
      means_(grid.cells(), box, walls, comm),
      budgets_(budgets) {
  for (const ScalarParameters& scalar : flow.scalars)
    diffusivities_.push_back(static_cast<real>(flow.diffusivity(scalar)));
}

double Statistics::block_bytes(const std::array<std::int64_t, 3>& cells, bool budgets, const FlowParameters& flow) {
  return bytes_of(list_profiles(budgets, flow), cells);
}

template <class Table>
void Statistics::issue_means(const Table& table) {
  constexpr bool at_faces = Table::axis == ProfileAxis::z_face;
  RankPlanes planes = means_.centers();
  if constexpr (at_faces) planes = Table::zero_on_walls ? means_.inner_faces() : means_.faces();
  means_.issue<profile_count<Table>>(at_faces ? "statistics at faces" : "statistics at centres",
                                     cells()[2] + (at_faces ? 1 : 0), {planes}, ProfileKernel<Table>{table});
}

void Statistics::number(std::size_t first, int count) {
  for (int n = 0; n < count; ++n) issued_.push_back(first++);
}

template <class Table>
void Statistics::issue(const Table& table, std::size_t first) {
  issue_means(table);
  number(first, profile_count<Table>);
}

template <class First, class Second>
void Statistics::issue(const First& first_table, std::size_t first, const Second& second_table, std::size_t second) {
  issue_means(Together<First, Second>{first_table, second_table});
  number(first, profile_count<First>);
  number(second, profile_count<Second>);
}

template <Order order>
void Statistics::issue_flow(const State& state) {
  const auto [u, v, w, p] = views(state);
  const CenterProfiles<order> at_centers{u, v, w, p, metrics_};
  const FaceProfiles<order> at_faces{u, v, w, metrics_, viscosity_};
  if (!budgets_) {
    issue(at_centers, first_at_centers);
    issue(at_faces, first_at_faces);
    return;
  }
  const EnergyCenterProfiles<order> energy_at_centers{u, v, w, p, metrics_};
  issue(at_centers, first_at_centers);
  issue(energy_at_centers, first_energy_at_centers);
  issue(at_faces, first_at_faces, EnergyFaceProfiles<order>{u, v, w, metrics_}, first_energy_at_faces);
  issue(StressFaceProfiles<order>{u, v, w, p, metrics_, viscosity_}, first_stress);
}

template <Order order>
void Statistics::issue_stress_of_u(const State& state) {
  const auto [u, v, w, p] = views(state);
  issue_means(StressCenterProfiles<order>{u, v, w, p, metrics_, viscosity_});
}

void Statistics::combine_stress(Profiles& means) const {
  constexpr std::size_t terms = profile_count<StressCenterProfiles<Order::second>> / 2;
  const std::size_t first_of_u = means.size() - 2 * terms;
  const auto at_faces = static_cast<std::size_t>(std::ranges::find(issued_, first_stress) - issued_.begin());
  // u on an inner face is the mean of the two cells: the terms of its momentum equation are those of both.
  for (std::size_t n = 0; n < terms; ++n) {
    std::vector<double>& term = means[at_faces + n];
    const std::vector<double>& below = means[first_of_u + n];
    const std::vector<double>& above = means[first_of_u + n + terms];
    for (std::size_t face = 1; face + 1 < term.size(); ++face) term[face] += (below[face - 1] + above[face]) / 2;
  }
  means.resize(first_of_u);
}

void Statistics::sample(const State& state, double forcing) {
  issued_.clear();
  op::with_order(order_, [&](auto order) { issue_flow<order>(state); });
  std::size_t next = budgets_ ? after_stress : first_energy_at_centers;
  const auto [u, v, w, p] = views(state);
  for (std::size_t n = 0; n < state.transported.size(); ++n) {
    const op::In c = state.transported[n].field.view();
    issue(ScalarProfiles{u, v, c}, next);
    next += static_cast<std::size_t>(profile_count<ScalarProfiles>);
    issue(ScalarFaceProfiles{w, c, metrics_, diffusivities_[n]}, next);
    next += static_cast<std::size_t>(profile_count<ScalarFaceProfiles>);
  }
  if (budgets_) op::with_order(order_, [&](auto order) { issue_stress_of_u<order>(state); });

  Profiles means = means_.take();
  if (budgets_) combine_stress(means);
  for (std::size_t n = 0; n < means.size(); ++n) {
    std::vector<double>& sum = sums(issued_[n]);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += means[n][k];
  }
  count_sample(state.time, forcing);
}

}  // namespace sluice
