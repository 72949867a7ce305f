// Probability densities and quadrants of the velocity, sampled between steps.
#include "solver/statistics/densities.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "core/support/collective.hpp"
#include "solver/momentum/operators.hpp"
#include "solver/statistics/profile_table.hpp"

namespace sluice {

namespace {

constexpr double bins_per_deviation = 8;  ///< per standard deviation
constexpr double min_width = 1e-12;       ///< far below any fluctuation, so that no width is zero

/// What is counted in bins.
enum Quantity : std::size_t { u, v, w, p, shear_x, shear_y, u_edge, w_edge };

struct QuantityInfo {
  const char *name, *long_name;
  ProfileAxis axis;
};

constexpr std::array<QuantityInfo, 8> quantities{{
    {"u", "streamwise velocity", ProfileAxis::z_center},
    {"v", "spanwise velocity", ProfileAxis::z_center},
    {"w", "wall-normal velocity", ProfileAxis::z_face},
    {"p", "pressure", ProfileAxis::z_center},
    {"shear_x", "wall shear nu du/dz", ProfileAxis::wall},
    {"shear_y", "wall shear nu dv/dz", ProfileAxis::wall},
    {"u_joint", "streamwise velocity in the flux uw", ProfileAxis::chosen_face},
    {"w_joint", "wall-normal velocity in the flux uw", ProfileAxis::chosen_face},
}};

// The profiles: first the middle and the width of each quantity, those of joint histograms only with chosen faces; then
// what is counted; then the quadrants.
constexpr std::size_t middle_of(std::size_t quantity) {
  return 2 * quantity;
}
constexpr std::size_t width_of(std::size_t quantity) {
  return 2 * quantity + 1;
}
constexpr std::size_t quantity_count(bool with_joint) {
  return with_joint ? quantities.size() : static_cast<std::size_t>(Quantity::u_edge);
}

/// ubar^z and wbar^x at the edges above the cells, where the scheme forms its flux uw.
template <class C>
SLUICE_INLINE double u_at_edge(op::In u, const C& c) {
  return static_cast<double>(real(0.5) * (u(c.i, c.j, c.k) + u(c.i, c.j, c.k + 1)));
}
template <Order order, class C>
SLUICE_INLINE double w_at_edge(op::In w, const C& c) {
  return static_cast<double>(real(0.5) * op::sum_above<order>(op::along_x(w, c, c.j, c.k), 0));
}

template <Order order>
struct EdgeValues {
  using CellType = op::CellFor<order>;
  op::In u, w;

  SLUICE_INLINE void operator()(const CellType& c, double (&values)[2]) const {
    values[0] = u_at_edge(u, c);
    values[1] = w_at_edge<order>(w, c);
  }
};

/// The flux u'w' on the z faces by quadrants of (u', w'). Products that are not finite spoil all four.
template <Order order>
struct QuadrantProfiles {
  using CellType = op::CellFor<order>;
  static constexpr ProfileAxis axis = ProfileAxis::z_face;

  op::In u, w;
  const double *u_mean, *w_mean;  ///< by the local index of a face, that of k = -1 first

  struct Values {
    double flux[4], fraction[4];
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& c, Visitor& profile) {
    profile({"uw_q1", "u'w' where u' > 0 and w' > 0"}, c.flux[0]);
    profile({"uw_q2", "u'w' where u' < 0 and w' > 0"}, c.flux[1]);
    profile({"uw_q3", "u'w' where u' < 0 and w' < 0"}, c.flux[2]);
    profile({"uw_q4", "u'w' where u' > 0 and w' < 0"}, c.flux[3]);
    profile({"fraction_q1", "fraction of the points where u' > 0 and w' > 0"}, c.fraction[0]);
    profile({"fraction_q2", "fraction of the points where u' < 0 and w' > 0"}, c.fraction[1]);
    profile({"fraction_q3", "fraction of the points where u' < 0 and w' < 0"}, c.fraction[2]);
    profile({"fraction_q4", "fraction of the points where u' > 0 and w' < 0"}, c.fraction[3]);
  }

  SLUICE_INLINE Values at(const CellType& c) const {
    const double du = u_at_edge(u, c) - u_mean[c.k + 1];
    const double dw = w_at_edge<order>(w, c) - w_mean[c.k + 1];
    const double u_above = du > 0 ? 1.0 : 0.0;
    const double u_below = du < 0 ? 1.0 : 0.0;
    const double w_above = dw > 0 ? 1.0 : 0.0;
    const double w_below = dw < 0 ? 1.0 : 0.0;
    Values values{{}, {u_above * w_above, u_below * w_above, u_below * w_below, u_above * w_below}};
    SLUICE_UNROLL
    for (int n = 0; n < 4; ++n) values.flux[n] = du * dw * values.fraction[n];
    return values;
  }
};

struct Fields {
  op::In u, v, w, p;
  Metrics m;
  real nu;
};

/// A quantity at a cell; on its upper face if it is defined on faces.
template <Order order, Quantity of>
struct Value {
  using CellType = op::CellFor<order>;
  static constexpr Quantity quantity = of;
  Fields f;

  SLUICE_INLINE double operator()(const CellType& c) const {
    if constexpr (quantity == Quantity::u) return static_cast<double>(f.u(c.i, c.j, c.k));
    if constexpr (quantity == Quantity::v) return static_cast<double>(f.v(c.i, c.j, c.k));
    if constexpr (quantity == Quantity::w) return static_cast<double>(f.w(c.i, c.j, c.k));
    if constexpr (quantity == Quantity::p) return static_cast<double>(f.p(c.i, c.j, c.k));
    if constexpr (quantity == Quantity::u_edge) return u_at_edge(f.u, c);
    if constexpr (quantity == Quantity::w_edge) return w_at_edge<order>(f.w, c);
    if constexpr (quantity == Quantity::shear_x) return static_cast<double>(f.nu * op::ddz_center_to_face(f.u, c, f.m));
    if constexpr (quantity == Quantity::shear_y) return static_cast<double>(f.nu * op::ddz_center_to_face(f.v, c, f.m));
  }
};

/// Distance of a value from the middle of the bins, in widths. `bins`: by the local index of a plane, that of k = -1
/// first.
SLUICE_INLINE double distance(const PlaneBins* bins, double value, int k) {
  return (value - bins[k + 1].middle) * bins[k + 1].inverse_width;
}

/// The bin of a distance, which is given in bin widths. Distances beyond all bins are counted in the first or the last
/// bin, NaN in the first.
template <int bins>
SLUICE_INLINE int bin_of(double distance) {
  const double from_first = distance + 0.5 * bins;
  const double positive = from_first > 0 ? from_first : 0.0;
  return static_cast<int>(positive < bins - 1 ? positive : bins - 1.0);
}

template <class Value>
struct Bin {
  using CellType = typename Value::CellType;
  Value value;
  const PlaneBins* bins;

  SLUICE_INLINE int operator()(const CellType& c) const {
    return bin_of<histogram_bins>(distance(bins, value(c), c.k));
  }
};

/// Joint bins are two widths wide.
template <class First, class Second>
struct JointBin {
  using CellType = typename First::CellType;
  First first;
  Second second;
  const PlaneBins *bins_of_first, *bins_of_second;

  SLUICE_INLINE int operator()(const CellType& c) const {
    return bin_of<joint_bins>(distance(bins_of_first, first(c), c.k) / 2) * joint_bins +
           bin_of<joint_bins>(distance(bins_of_second, second(c), c.k) / 2);
  }
};

template <class Value>
struct PlainValue {
  using CellType = typename Value::CellType;
  Value value;

  SLUICE_INLINE void operator()(const CellType& c, double (&values)[1]) const { values[0] = value(c); }
};

/// The squared distance from the middle of the bins.
template <class Value>
struct SquaredDistance {
  using CellType = typename Value::CellType;
  Value value;
  const PlaneBins* bins;

  SLUICE_INLINE void operator()(const CellType& c, double (&values)[1]) const {
    const double widths = distance(bins, value(c), c.k);
    values[0] = widths * widths;
  }
};

struct ClearCount {
  std::int64_t* counts;
  SLUICE_INLINE void operator()(int n, int /*unused*/, int /*unused*/) const { counts[n] = 0; }
};

bool is_counted(const ProfileInfo& profile) {
  return profile.modes != ModeAxis::none;
}

std::vector<ProfileInfo> list_densities(std::size_t heights) {
  std::vector<ProfileInfo> list;
  const auto add = [&](const std::string& name, const std::string& long_name, ProfileAxis axis, ModeAxis modes) {
    list.push_back({name, long_name, "1", axis, modes, static_cast<std::int64_t>(heights)});
  };
  for (std::size_t n = 0; n < quantity_count(heights > 0); ++n) {
    const auto& [name, long_name, axis] = quantities[n];
    for (const char* constant : {"middle", "width"}) {
      add(std::string(name) + "_" + constant, constant + std::string(" of the bins of the ") + long_name, axis,
          ModeAxis::none);
      list.back().constant = true;
    }
  }
  const std::string points = "number of points in each bin of the ";
  for (const auto& [name, long_name, axis] : std::span(quantities).first(quantity_count(false)))
    add(std::string(name) + "_histogram", points + long_name, axis, ModeAxis::bins);
  add("shear_joint", points + "wall shear nu du/dz and nu dv/dz", ProfileAxis::wall, ModeAxis::bin_pairs);
  if (heights > 0) {
    add("uw_joint", points + "streamwise and the wall-normal velocity in the flux uw", ProfileAxis::chosen_face,
        ModeAxis::bin_pairs);
  }
  append_profiles<QuadrantProfiles<Order::second>>(list);  // those of order 4 have the same names
  return list;
}

}  // namespace

/// Adds to the counts of one histogram after the other.
struct Densities::CountPlaces {
  std::int64_t* next;  ///< in device memory
};

Densities::Densities(const Grid& grid, const Metrics& metrics, const FlowParameters& flow, const Walls& walls,
                     const Box3& box, const std::vector<std::int64_t>& joint_faces, MPI_Comm comm)
    : BlockSums(list_densities(joint_faces.size()), grid.cells(), rank_of(comm) == 0),
      metrics_(metrics),
      viscosity_(static_cast<real>(flow.viscosity)),
      order_(flow.order),
      means_(grid.cells(), box, walls, comm),
      joint_faces_(joint_faces) {}

std::vector<ProfileInfo> Densities::list(std::size_t heights) {
  return list_densities(heights);
}

double Densities::block_bytes(const std::array<std::int64_t, 3>& cells, std::size_t heights) {
  return bytes_of(list_densities(heights), cells);
}

std::size_t Densities::planes_of(std::size_t quantity) const {
  return static_cast<std::size_t>(profiles()[middle_of(quantity)].planes(cells()));
}

std::vector<RankPlanes> Densities::own_planes_of(std::size_t quantity) const {
  switch (quantities[quantity].axis) {
    case ProfileAxis::z_face:
      return {means_.faces()};
    case ProfileAxis::chosen_face:
      return means_.faces(joint_faces_);
    case ProfileAxis::wall:
      return means_.faces({0, cells()[2]});
    default:
      return {means_.centers()};
  }
}

void Densities::sample(const State& state, double forcing) {
  op::with_order(order_, [&](auto order) { sample_of<order>(state); });
  count_sample(state.time, forcing);
}

template <Order order>
void Densities::sample_of(const State& state) {
  const Fields fields{
      state.velocity.u.view(), state.velocity.v.view(), state.velocity.w.view(), state.p.view(), metrics_, viscosity_};
  const bool has_joint = !joint_faces_.empty();
  const std::vector<RankPlanes> faces{means_.faces()};
  if (counts_.size() == 0) {
    std::int64_t size = 0;
    for (const ProfileInfo& profile : profiles()) size += is_counted(profile) ? profile.length(cells()) : 0;
    counts_ = Buffer<std::int64_t>(static_cast<std::size_t>(size));
    counts_on_host_.reset(static_cast<std::int64_t*>(device::allocate_host(counts_.bytes())));
    u_means_ =
        Buffer<double>(means_.by_local_index(std::vector<double>(static_cast<std::size_t>(cells()[2]) + 1), faces));
    w_means_ = Buffer<double>(u_means_.size());
  }
  if (!has_bins_ && !take_bins_of_sums()) {
    fix_bins(Value<order, u>{fields});
    fix_bins(Value<order, v>{fields});
    fix_bins(Value<order, w>{fields});
    fix_bins(Value<order, p>{fields});
    fix_bins(Value<order, shear_x>{fields});
    fix_bins(Value<order, shear_y>{fields});
    if (has_joint) fix_bins(Value<order, u_edge>{fields});
    if (has_joint) fix_bins(Value<order, w_edge>{fields});
  }
  means_.issue<2>("means at edges", cells()[2] + 1, faces, EdgeValues<order>{fields.u, fields.w});
  CountPlaces places{counts_.data()};
  count(Value<order, u>{fields}, places);
  count(Value<order, v>{fields}, places);
  count(Value<order, w>{fields}, places);
  count(Value<order, p>{fields}, places);
  count(Value<order, shear_x>{fields}, places);
  count(Value<order, shear_y>{fields}, places);
  count_jointly(Value<order, shear_x>{fields}, Value<order, shear_y>{fields}, places);
  if (has_joint) count_jointly(Value<order, u_edge>{fields}, Value<order, w_edge>{fields}, places);

  // The host waits for the means while the counts are under way, and for the counts while the quadrants are.
  const auto means = means_.take();
  u_means_.upload(means_.by_local_index(means[0], faces));
  w_means_.upload(means_.by_local_index(means[1], faces));
  using Table = QuadrantProfiles<order>;
  means_.issue<profile_count<Table>>("quadrants", cells()[2] + 1, faces,
                                     ProfileKernel<Table>{{fields.u, fields.w, u_means_.data(), w_means_.data()}});
  add_counts();
  add_quadrants(means_.take());
}

bool Densities::take_bins_of_sums() {
  for (std::size_t quantity = 0; quantity < quantity_count(!joint_faces_.empty()); ++quantity) {
    std::vector<double> middles(planes_of(quantity)), widths(planes_of(quantity));
    if (holds_sums()) {
      middles = sums(middle_of(quantity));
      widths = sums(width_of(quantity));
    }
    for (std::vector<double>* values : {&middles, &widths}) {
      check_mpi(MPI_Bcast(values->data(), static_cast<int>(values->size()), MPI_DOUBLE, 0, means_.comm()),
                "MPI_Bcast of bins");
    }
    if (widths.front() == 0) return false;
    set_bins(quantity, middles, widths);
  }
  return true;
}

void Densities::set_bins(std::size_t quantity, const std::vector<double>& middles, const std::vector<double>& widths) {
  std::vector<PlaneBins> bins;
  for (std::size_t n = 0; n < middles.size(); ++n) bins.push_back({middles[n], 1 / widths[n]});
  bins_[quantity] = Buffer<PlaneBins>(means_.by_local_index(bins, own_planes_of(quantity)));
  has_bins_ = true;
}

template <class Value>
void Densities::fix_bins(const Value& value) {
  constexpr std::size_t quantity = Value::quantity;
  const std::vector<RankPlanes> planes = own_planes_of(quantity);
  const auto count = static_cast<std::int64_t>(planes_of(quantity));
  std::vector<double> middles = means_.means<1>("means for bins", count, planes, PlainValue<Value>{value})[0];
  std::vector<double> widths(middles.size(), 1);
  set_bins(quantity, middles, widths);
  widths =
      means_.means<1>("variances for bins", count, planes, SquaredDistance<Value>{value, bins_[quantity].data()})[0];
  for (std::size_t n = 0; n < widths.size(); ++n) {
    const double least = std::max(min_width, 16 * real_epsilon * std::abs(middles[n]));
    widths[n] = std::sqrt(widths[n]) / bins_per_deviation;
    if (quantity == w || quantity == w_edge) middles[n] = 0;
    if (widths[n] > least) continue;
    // The values of the plane are the same to round-off: the middle of a bin, not an edge.
    widths[n] = least;
    middles[n] -= least / 2;
  }
  set_bins(quantity, middles, widths);
  if (!holds_sums()) return;
  sums(middle_of(quantity)) = middles;
  sums(width_of(quantity)) = widths;
}

template <class Value>
void Densities::count(const Value& value, CountPlaces& places) {
  for (const auto& [box, first] : own_planes_of(Value::quantity)) {
    count_planes<histogram_bins>("histogram", box, Bin<Value>{value, bins_[Value::quantity].data()},
                                 places.next + first * histogram_bins);
  }
  places.next += static_cast<std::ptrdiff_t>(planes_of(Value::quantity)) * histogram_bins;
}

template <class First, class Second>
void Densities::count_jointly(const First& first, const Second& second, CountPlaces& places) {
  constexpr auto bins = std::ptrdiff_t{joint_bins} * joint_bins;
  const JointBin<First, Second> bin{first, second, bins_[First::quantity].data(), bins_[Second::quantity].data()};
  for (const auto& [box, number] : own_planes_of(First::quantity))
    count_planes<bins>("joint histogram", box, bin, places.next + number * bins);
  places.next += static_cast<std::ptrdiff_t>(planes_of(First::quantity)) * bins;
}

void Densities::add_counts() {
  std::int64_t* const all = counts_on_host_.get();
  device::copy(all, counts_.data(), counts_.bytes());
  parallel_for("clear counts", box_of(static_cast<std::int64_t>(counts_.size()), 1, 1), ClearCount{counts_.data()});
  check_mpi(MPI_Reduce(holds_sums() ? MPI_IN_PLACE : all, all, static_cast<int>(counts_.size()), MPI_INT64_T, MPI_SUM,
                       0, means_.comm()),
            "MPI_Reduce of densities");
  if (!holds_sums()) return;
  const std::int64_t* count = all;
  for (std::size_t n = 0; n < profiles().size(); ++n) {
    if (!is_counted(profiles()[n])) continue;
    for (double& sum : sums(n)) sum += static_cast<double>(*count++);
  }
}

void Densities::add_quadrants(const PlaneMeans::Profiles& quadrants) {
  if (!holds_sums()) return;
  const std::size_t first = profiles().size() - quadrants.size();
  for (std::size_t n = 0; n < quadrants.size(); ++n) {
    for (std::size_t face = 0; face < quadrants[n].size(); ++face) sums(first + n)[face] += quadrants[n][face];
  }
}

}  // namespace sluice
