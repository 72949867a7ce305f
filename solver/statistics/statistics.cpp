// Profiles of means, moments, budgets: samples between steps, summed over blocks of time.
#include "solver/statistics/statistics.hpp"

#include <algorithm>

#include "solver/physics/sources.hpp"
#include "solver/physics/terms.hpp"
#include "solver/statistics/budget_profiles.hpp"
#include "solver/statistics/flow_profiles.hpp"
#include "solver/statistics/scalar_budget_profiles.hpp"

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
    append_profiles<ScalarProfiles<Order::second>>(list, scalar.name, scalar.long_name);
    append_profiles<ScalarFaceProfiles>(list, scalar.name, scalar.long_name);
    if (!budgets) continue;
    append_profiles<ScalarBudgetCenterProfiles<Order::second>>(list, scalar.name, scalar.long_name);
    append_profiles<ScalarBudgetFaceProfiles<Order::second>>(list, scalar.name, scalar.long_name);
    append_profiles<ScalarFluxFaceProfiles<Order::second>>(list, scalar.name, scalar.long_name);
    if (!forces_are_in_scalar_budgets(flow)) continue;
    append_profiles<ScalarForceCenterProfiles<Order::second>>(list, scalar.name, scalar.long_name);
    append_profiles<ScalarForceFaceProfiles<Order::second>>(list, scalar.name, scalar.long_name);
  }
  return list;
}

constexpr const char* by_phase = "phase_";  // begins the names of profiles by phase

std::vector<ProfileInfo> list_profiles(const StatisticsContent& content, const FlowParameters& flow) {
  std::vector<ProfileInfo> list = list_profiles(content.budgets, flow);
  if (content.phases.count == 0) return list;
  const auto add = [&](const std::string& name, const std::string& long_name, const char* units, ProfileAxis axis) {
    list.push_back({.name = by_phase + name,
                    .long_name = long_name + ", by phase",
                    .units = units,
                    .axis = axis,
                    .modes = ModeAxis::phases,
                    .phases = content.phases.count});
  };
  add("samples", "number of samples", "1", ProfileAxis::none);
  add("offset", "sum over the samples of their distance from the middle of the bin, in periods", "1",
      ProfileAxis::none);
  add("forcing", "sum over the samples of the mean streamwise force", "1", ProfileAxis::none);
  for (const ProfileInfo& moment : list_profiles(false, flow))
    add(moment.name, moment.long_name, moment.units.c_str(), moment.axis);
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

/// For the scalar of this number.
ScalarBudgetArrays scalar_budget_arrays(const State& state, const Metrics& metrics, const FlowParameters& flow,
                                        std::size_t number) {
  const auto [u, v, w, p] = views(state);
  const ScalarParameters& scalar = flow.scalars[number];
  return {.u = u,
          .v = v,
          .w = w,
          .p = p,
          .c = state.transported[number].field.view(),
          .m = metrics,
          .nu = static_cast<real>(flow.viscosity),
          .kappa = static_cast<real>(flow.diffusivity(scalar)),
          .streamwise_source = static_cast<real>(source_of(scalar).in_sweep(scalar).times_u)};
}

}  // namespace

Statistics::Statistics(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls,
                       const Box3& box, const StatisticsContent& content, MPI_Comm comm)
    : BlockSums(list_profiles(content, flow), grid.cells(), true),
      metrics_(metrics),
      viscosity_(static_cast<real>(flow.viscosity)),
      flow_(flow),
      means_(grid.cells(), box, walls, comm),
      budgets_(content.budgets),
      phases_(content.phases) {}

std::vector<ProfileInfo> Statistics::list(const StatisticsContent& content, const FlowParameters& flow) {
  return list_profiles(content, flow);
}

double Statistics::block_bytes(const std::array<std::int64_t, 3>& cells, const StatisticsContent& content,
                               const FlowParameters& flow) {
  return bytes_of(list_profiles(content, flow), cells);
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
void Statistics::issue_scalar(const State& state, std::size_t number, std::size_t& next) {
  const auto [u, v, w, p] = views(state);
  const op::In c = state.transported[number].field.view();
  const auto issue_next = [&](const auto& table) {
    issue(table, next);
    next += static_cast<std::size_t>(profile_count<std::decay_t<decltype(table)>>);
  };
  issue_next(ScalarProfiles<order>{u, v, c});
  issue_next(ScalarFaceProfiles{w, c, metrics_, static_cast<real>(flow_.diffusivity(flow_.scalars[number]))});
  if (!budgets_) return;
  const ScalarBudgetArrays arrays = scalar_budget_arrays(state, metrics_, flow_, number);
  issue_next(ScalarBudgetCenterProfiles<order>{arrays});
  issue_next(ScalarBudgetFaceProfiles<order>{arrays});
  first_fluxes_.push_back(next);
  issue_next(ScalarFluxFaceProfiles<order>{arrays});
  if (!forces_are_in_scalar_budgets(flow_)) return;
  const ScalarForceArrays forces = ScalarForceArrays::of(state, metrics_, flow_, number);
  issue_next(ScalarForceCenterProfiles<order>{forces});
  issue_next(ScalarForceFaceProfiles<order>{forces});
}

template <Order order>
void Statistics::issue_terms_in_cells(const State& state) {
  const auto [u, v, w, p] = views(state);
  issue_means(StressCenterProfiles<order>{u, v, w, p, metrics_, viscosity_});
  for (std::size_t n = 0; n < first_fluxes_.size(); ++n)
    issue_means(ScalarFluxCenterProfiles<order>{scalar_budget_arrays(state, metrics_, flow_, n)});
}

void Statistics::add_terms_in_cells(Profiles& means) const {
  std::size_t next = issued_.size();
  const auto add = [&](std::size_t first, std::size_t terms) {
    const auto at_faces = static_cast<std::size_t>(std::ranges::find(issued_, first) - issued_.begin());
    // u and c on an inner face are the means of the two cells: the terms of their equations are those of both.
    for (std::size_t n = 0; n < terms; ++n) {
      std::vector<double>& term = means[at_faces + n];
      const std::vector<double>& below = means[next + n];
      const std::vector<double>& above = means[next + n + terms];
      for (std::size_t face = 1; face + 1 < term.size(); ++face) term[face] += (below[face - 1] + above[face]) / 2;
      if (flow_.periodic_z) term.back() += (below.back() + above.front()) / 2;
    }
    next += 2 * terms;
  };
  add(first_stress, profile_count<StressCenterProfiles<Order::second>> / 2);
  for (const std::size_t first : first_fluxes_) add(first, profile_count<ScalarFluxCenterProfiles<Order::second>> / 2);
  means.resize(issued_.size());
}

void Statistics::sample(const State& state, double forcing) {
  issued_.clear();
  first_fluxes_.clear();
  op::with_order(flow_.order, [&](auto order) {
    issue_flow<order>(state);
    std::size_t next = budgets_ ? after_stress : first_energy_at_centers;
    for (std::size_t n = 0; n < state.transported.size(); ++n) issue_scalar<order>(state, n, next);
    if (budgets_) issue_terms_in_cells<order>(state);
  });

  Profiles means = means_.take();
  if (budgets_) add_terms_in_cells(means);
  for (std::vector<double>& mean : means) {  // face 0 is the uppermost
    if (flow_.periodic_z && std::ssize(mean) == cells()[2] + 1) mean.front() = mean.back();
  }
  for (std::size_t n = 0; n < means.size(); ++n) {
    std::vector<double>& sum = sums(issued_[n]);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += means[n][k];
  }
  if (phases_.count > 0) add_to_phase(means, state.time, forcing);
  count_sample(state.time, forcing);
}

void Statistics::add_to_phase(const Profiles& means, double time, double forcing) {
  const auto [bin, offset] = phases_.at(time);
  const auto count = static_cast<std::size_t>(phases_.count);
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    const auto found = std::ranges::find(profiles(), by_phase + name, &ProfileInfo::name);
    if (found == profiles().end()) return;  // a term of a budget
    std::vector<double>& sum = sums(static_cast<std::size_t>(found - profiles().begin()));
    for (std::size_t k = 0; k < values.size(); ++k) sum[k * count + bin] += values[k];
  };
  add("samples", {1});
  add("offset", {offset});
  add("forcing", {forcing});
  for (std::size_t n = 0; n < means.size(); ++n) add(profiles()[issued_[n]].name, means[n]);
}

}  // namespace sluice
