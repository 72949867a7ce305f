#include "solver/statistics/statistics.hpp"

#include <algorithm>

#include "core/device/parallel_for.hpp"
#include "solver/momentum/operators.hpp"

namespace sluice {

namespace {

using op::In;

constexpr int center_count = 21;
constexpr int face_count = 4;

SLUICE_INLINE double square(double a) {
  return a * a;
}

/// Values of one plane of centres, in the order of Statistics::profiles().
struct CenterMoments {
  In u, v, w, p;
  Metrics m;

  /// dw/dy - dv/dz on the edge at y face j and z face k.
  SLUICE_INLINE double omega_x(Cell c, int k) const {
    return static_cast<double>((w(c.i, c.j + 1, k) - w(c.i, c.j, k)) * m.inv_dy -
                               (v(c.i, c.j, k + 1) - v(c.i, c.j, k)) * m.inv_dz_center[k]);
  }
  /// du/dz - dw/dx on the edge at x face i and z face k.
  SLUICE_INLINE double omega_y(Cell c, int k) const {
    return static_cast<double>((u(c.i, c.j, k + 1) - u(c.i, c.j, k)) * m.inv_dz_center[k] -
                               (w(c.east, c.j, k) - w(c.i, c.j, k)) * m.inv_dx);
  }

  SLUICE_INLINE void operator()(Cell c, double (&out)[center_count]) const {
    const auto at_u = static_cast<double>(u(c.i, c.j, c.k));
    const auto at_v = static_cast<double>(v(c.i, c.j, c.k));
    const auto at_p = static_cast<double>(p(c.i, c.j, c.k));
    const auto below = static_cast<double>(w(c.i, c.j, c.k - 1));
    const auto above = static_cast<double>(w(c.i, c.j, c.k));
    const double uu = at_u * at_u;
    const double vv = at_v * at_v;
    const double below2 = below * below;
    const double above2 = above * above;
    const double omega_z = static_cast<double>((v(c.east, c.j, c.k) - v(c.i, c.j, c.k)) * m.inv_dx -
                                               (u(c.i, c.j + 1, c.k) - u(c.i, c.j, c.k)) * m.inv_dy);
    const double x_below = omega_x(c, c.k - 1);
    const double x_above = omega_x(c, c.k);
    const double y_below = omega_y(c, c.k - 1);
    const double y_above = omega_y(c, c.k);
    out[0] = at_u;
    out[1] = at_v;
    out[2] = (below + above) / 2;
    out[3] = at_p;
    out[4] = uu;
    out[5] = vv;
    out[6] = (below2 + above2) / 2;
    out[7] = static_cast<double>(op::uv_at_xy_edge(u, v, c.i, c.east, c.j, c.k));
    out[8] = at_p * at_p;
    out[9] = uu * at_u;
    out[10] = vv * at_v;
    out[11] = (below2 * below + above2 * above) / 2;
    out[12] = uu * uu;
    out[13] = vv * vv;
    out[14] = (below2 * below2 + above2 * above2) / 2;
    out[15] = (x_below + x_above) / 2;
    out[16] = (y_below + y_above) / 2;
    out[17] = omega_z;
    out[18] = (square(x_below) + square(x_above)) / 2;
    out[19] = (square(y_below) + square(y_above)) / 2;
    out[20] = square(omega_z);
  }
};

/// Values on one plane of z faces; plane k is the upper face of cell k, -1 the bottom wall.
struct FaceFluxes {
  In u, v, w;
  Metrics m;
  real nu;
  SLUICE_INLINE void operator()(Cell c, double (&out)[face_count]) const {
    out[0] = static_cast<double>(op::uw_at_xz_edge(u, w, c.i, c.east, c.j, c.k));
    out[1] = static_cast<double>(op::vw_at_yz_edge(v, w, c.i, c.j, c.k));
    out[2] = static_cast<double>(nu * op::ddz_center_to_face(u, c, m));
    out[3] = static_cast<double>(nu * op::ddz_center_to_face(v, c, m));
  }
};

/// Places the sums of this rank's planes, the first of which is global plane `first`, into all planes; adds over ranks;
/// averages.
template <std::size_t N>
void add_plane_means(const std::vector<std::array<ExactSum, N>>& local, std::int64_t first, std::int64_t planes,
                     double columns, MPI_Comm comm, std::vector<double>* sums) {
  std::vector<ExactSum> all(static_cast<std::size_t>(planes) * N);
  for (std::size_t k = 0; k < local.size(); ++k) {
    std::copy(local[k].begin(), local[k].end(),
              all.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(first) + k) * N));
  }
  all_reduce(all, comm);
  for (std::size_t k = 0; k < static_cast<std::size_t>(planes); ++k) {
    for (std::size_t n = 0; n < N; ++n) sums[n][k] += all[k * N + n].value() / columns;
  }
}

}  // namespace

const std::vector<ProfileInfo>& Statistics::profiles() {
  static const std::vector<ProfileInfo> list{
      {"u", "streamwise velocity", false},
      {"v", "spanwise velocity", false},
      {"w", "wall-normal velocity", false},
      {"p", "pressure", false},
      {"uu", "u squared", false},
      {"vv", "v squared", false},
      {"ww", "w squared, mean of the two faces", false},
      {"uv", "u v, momentum flux on the edges", false},
      {"pp", "pressure squared", false},
      {"uuu", "u cubed", false},
      {"vvv", "v cubed", false},
      {"www", "w cubed, mean of the two faces", false},
      {"uuuu", "u to the fourth", false},
      {"vvvv", "v to the fourth", false},
      {"wwww", "w to the fourth, mean of the two faces", false},
      {"omega_x", "streamwise vorticity dw/dy - dv/dz", false},
      {"omega_y", "spanwise vorticity du/dz - dw/dx", false},
      {"omega_z", "wall-normal vorticity dv/dx - du/dy", false},
      {"omega_xx", "streamwise vorticity squared", false},
      {"omega_yy", "spanwise vorticity squared", false},
      {"omega_zz", "wall-normal vorticity squared", false},
      {"uw", "u w, the scheme's momentum flux through z faces", true},
      {"vw", "v w, the scheme's momentum flux through z faces", true},
      {"tau_xz", "viscous stress nu du/dz", true},
      {"tau_yz", "viscous stress nu dv/dz", true},
  };
  return list;
}

Statistics::Statistics(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls,
                       const Box3& box, MPI_Comm comm)
    : grid_(&grid),
      metrics_(metrics),
      viscosity_(static_cast<real>(flow.viscosity)),
      walls_(&walls),
      box_(box),
      comm_(comm),
      block_(empty_block()) {}

StatisticsBlock Statistics::empty_block() const {
  StatisticsBlock block;
  const auto nz = static_cast<std::size_t>(grid_->cells()[2]);
  for (const ProfileInfo& profile : profiles()) block.sums.emplace_back(profile.at_faces ? nz + 1 : nz, 0.0);
  return block;
}

void Statistics::sample(const State& state, double forcing) {
  const In u = state.velocity.u.view();
  const In v = state.velocity.v.view();
  const In w = state.velocity.w.view();
  const double columns = static_cast<double>(grid_->cells()[0]) * static_cast<double>(grid_->cells()[1]);
  const std::int64_t nz = grid_->cells()[2];

  add_plane_means(reduce_planes<center_count>("statistics at centres", box_.local(),
                                              CenterMoments{u, v, w, state.p.view(), metrics_}),
                  box_.lo[2], nz, columns, comm_, block_.sums.data());
  Box3 faces = box_.local();
  if (walls_->owns_bottom()) faces.lo[2] = -1;
  // Face profiles count from the bottom wall, so the upper face of global cell k is number k + 1.
  add_plane_means(reduce_planes<face_count>("statistics at faces", faces, FaceFluxes{u, v, w, metrics_, viscosity_}),
                  box_.lo[2] + 1 + faces.lo[2], nz + 1, columns, comm_, block_.sums.data() + center_count);

  if (block_.samples == 0) block_.time_begin = state.time;
  block_.time_end = state.time;
  block_.forcing += forcing;
  ++block_.samples;
}

StatisticsBlock Statistics::close_block() {
  StatisticsBlock closed = std::move(block_);
  block_ = empty_block();
  return closed;
}

}  // namespace sluice
