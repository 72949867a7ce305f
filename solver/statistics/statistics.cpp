#include "solver/statistics/statistics.hpp"

#include <algorithm>

#include "solver/statistics/flow_profiles.hpp"

namespace sluice {

Statistics::Statistics(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls,
                       const Box3& box, MPI_Comm comm)
    : grid_(&grid),
      metrics_(metrics),
      viscosity_(static_cast<real>(flow.viscosity)),
      order_(flow.order),
      walls_(&walls),
      box_(box),
      comm_(comm) {
  append_profiles<CenterProfiles<Order::second>>(profiles_);  // those of order 4 have the same names
  append_profiles<FaceProfiles<Order::second>>(profiles_);
  for (std::size_t n = first_transported_field; n < flow_fields().size(); ++n) {
    const FieldDescriptor& field = flow_fields()[n];
    if (field.outputs.statistics) append_profiles<TransportedProfiles>(profiles_, field.name, field.long_name);
  }
  block_ = empty_block();
}

StatisticsBlock Statistics::empty_block() const {
  StatisticsBlock block;
  const auto nz = static_cast<std::size_t>(grid_->cells()[2]);
  for (const ProfileInfo& profile : profiles_)
    block.sums.emplace_back(profile.axis == ProfileAxis::z_face ? nz + 1 : nz, 0.0);
  return block;
}

template <class Table>
std::size_t Statistics::add_plane_means(const Table& table, std::size_t first) {
  constexpr auto count = static_cast<std::size_t>(profile_count<Table>);
  constexpr bool at_faces = Table::axis == ProfileAxis::z_face;
  Box3 box = box_.local();
  if (at_faces && walls_->owns(Walls::Side::bottom)) box.lo[2] = -1;
  const auto local = reduce_planes<profile_count<Table>>(at_faces ? "statistics at faces" : "statistics at centres",
                                                         box, ProfileKernel<Table>{table});

  // Face profiles count from the bottom wall, so the upper face of global cell k is number k + 1.
  const std::int64_t first_plane = box_.lo[2] + box.lo[2] + (at_faces ? 1 : 0);
  const std::size_t planes = block_.sums[first].size();
  std::vector<ExactSum> all(planes * count);
  for (std::size_t k = 0; k < local.size(); ++k) {
    std::ranges::copy(local[k], all.begin() + (first_plane + static_cast<std::int64_t>(k)) * profile_count<Table>);
  }
  all_reduce(all, comm_);
  const double columns = static_cast<double>(grid_->cells()[0]) * static_cast<double>(grid_->cells()[1]);
  for (std::size_t k = 0; k < planes; ++k) {
    for (std::size_t n = 0; n < count; ++n) block_.sums[first + n][k] += all[k * count + n].value() / columns;
  }
  return first + count;
}

void Statistics::sample(const State& state, double forcing) {
  const op::In u = state.velocity.u.view();
  const op::In v = state.velocity.v.view();
  const op::In w = state.velocity.w.view();
  std::size_t next = 0;
  op::with_order(order_, [&](auto order) {
    next = add_plane_means(CenterProfiles<order>{u, v, w, state.p.view(), metrics_}, next);
    next = add_plane_means(FaceProfiles<order>{u, v, w, metrics_, viscosity_}, next);
  });
  for (const auto& [descriptor, field] : state.transported) {
    if (descriptor.outputs.statistics) next = add_plane_means(TransportedProfiles{field.view()}, next);
  }

  if (block_.samples == 0) block_.time_begin = state.time;
  block_.time_end = state.time;
  block_.forcing += forcing;
  ++block_.samples;
}

StatisticsBlock Statistics::close_block(std::int64_t step) {
  StatisticsBlock closed = std::move(block_);
  closed.step_end = step;
  block_ = empty_block();
  return closed;
}

}  // namespace sluice
