// The initial fields that are read from files: set_from_fields and set_from_checkpoint.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/decomp/field_copy.hpp"
#include "core/support/collective.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/snapshot.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

/// Refuses values that are no numbers where the user can still be told which: later they look like a flow that failed.
/// `values`: of a box of the dataset.
template <class T>
void require_finite(const io::h5::Dataset& dataset, const Box3& box, const std::vector<T>& values) {
  const auto is_finite = [](T value) { return std::isfinite(value); };
  const auto found = std::ranges::find_if_not(values, is_finite);
  if (found == values.end()) return;
  const std::int64_t nx = box.extent(0);
  const std::int64_t n = found - values.begin();
  throw Error(
      ExitCode::restart,
      fmt::format("{}: dataset {} is not finite: it is {} at [{}, {}, {}] (z, y, x, counted from 0); start from a "
                  "file with numbers everywhere",
                  dataset.context().path, dataset.name(), *found, box.lo[2] + n / (nx * box.extent(1)),
                  box.lo[1] + n / nx % box.extent(1), box.lo[0] + n % nx));
}

/// Planes (ny, nx) of a dataset of the source; keeps the last two, and the uppermost of a periodic box.
class PlaneReader {
 public:
  explicit PlaneReader(const io::h5::Dataset& dataset) : dataset_(dataset), shape_(dataset.shape()) {}

  const std::vector<double>& plane(std::int64_t k) {
    const auto found = planes_.find(k);
    if (found != planes_.end()) return found->second;
    if (planes_.size() == 3) planes_.erase(planes_.begin());  // lines go upwards: the lowest is no longer needed
    std::vector<double> values(shape_[1] * shape_[2]);
    const Box3 box{{0, 0, k}, {shape_[2], shape_[1], k + 1}};
    dataset_.read(box, io::h5::Type::float64, values.data());
    require_finite(dataset_, box, values);
    return planes_.emplace(k, std::move(values)).first->second;
  }
  std::int64_t planes() const { return shape_[0]; }

 private:
  const io::h5::Dataset& dataset_;
  io::h5::Shape shape_;
  std::map<std::int64_t, std::vector<double>> planes_;
};

/// Two neighbours and the weight of the upper one.
struct Between {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  double weight = 0;
};

/// For uniform periodic points: target n of `to` in a source of `from` points. Both are at (index + offset) times their
/// own spacing.
Between periodic(std::int64_t n, std::int64_t to, std::int64_t from, double offset) {
  const double at = (static_cast<double>(n) + offset) / static_cast<double>(to) * static_cast<double>(from) - offset;
  const double floor = std::floor(at);
  const auto lower = static_cast<std::int64_t>(floor);
  return {(lower + from) % from, (lower + 1 + from) % from, at - floor};
}

/// For increasing coordinates; indices -1 and size denote the walls below and above.
Between in_line(double z, const std::vector<double>& points, double bottom, double top) {
  const std::int64_t above = std::ranges::upper_bound(points, z) - points.begin();
  const std::int64_t size = std::ssize(points);
  const double low = above > 0 ? points[above - 1] : bottom;
  const double high = above < size ? points[above] : top;
  return {above - 1, above, high > low ? (z - low) / (high - low) : 0};
}

/// The field's value on a wall, of x and y; none if it has no gradient there.
std::optional<Formula> value_on(bool top, const WallCondition& wall, const FieldDescriptor& descriptor) {
  if (descriptor.at_wall == AtWall::normal_velocity) return wall.constant_velocity(2);
  if (descriptor.at_wall == AtWall::given) {
    const GivenAtWall& given = descriptor.given_at_wall[top ? 1 : 0];
    return given.is_value ? std::optional(given.formula) : std::nullopt;
  }
  if (descriptor.at_wall == AtWall::no_gradient || wall.kind == WallKind::free_slip) return std::nullopt;
  return wall.constant_velocity(descriptor.location == Location::x_face ? 0 : 1);
}

/// A field on the rank's cells, interpolated from the source.
class Interpolation {
 public:
  Interpolation(const Grid& grid, const FlowParameters& flow, const io::GridLines& source)
      : grid_(grid), flow_(flow), source_(source) {}

  void fill(const io::h5::File& file, const Described<Field>& target) const {
    const auto& [descriptor, field] = target;
    const io::h5::Dataset dataset =
        io::field_of(file, descriptor.name, "Use a checkpoint that has it, or initial: {type: fields} with all fields");
    PlaneReader reader(dataset);
    const Box3& box = field.box();
    const bool z_face = descriptor.location == Location::z_face;
    const std::vector<double>& z_points = z_face ? source_.face[2] : source_.center[2];
    std::vector<real> values;
    values.reserve(box.volume());
    for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
      const double z = z_face ? grid_.z_nodes()[k + 1] : grid_.z_center(k);
      const Between in_z = flow_.periodic_z ? periodic(k, grid_.cells()[2], source_.shape()[0], z_face ? 1 : 0.5)
                                            : in_line(z, z_points, 0, grid_.length_z());
      append_plane(reader, descriptor, in_z, box, values);
    }
    upload(values, field);
  }

 private:
  void append_plane(PlaneReader& reader, const FieldDescriptor& descriptor, const Between& in_z, const Box3& box,
                    std::vector<real>& values) const {
    const std::int64_t nx = source_.shape()[2];
    const std::int64_t ny = source_.shape()[1];
    const double offset_x = descriptor.location == Location::x_face ? 1 : 0.5;
    const double offset_y = descriptor.location == Location::y_face ? 1 : 0.5;
    const std::optional<Formula> bottom = value_on(false, flow_.bottom, descriptor);
    const std::optional<Formula> top = value_on(true, flow_.top, descriptor);
    // Null beyond a wall; without a gradient there, the nearest plane.
    const auto plane_or_wall = [&](std::int64_t k) -> const std::vector<double>* {
      if ((k < 0 && bottom) || (k >= reader.planes() && top)) return nullptr;
      return &reader.plane(std::clamp<std::int64_t>(k, 0, reader.planes() - 1));
    };
    const std::vector<double>* lower = plane_or_wall(in_z.lower);
    const std::vector<double>* upper = plane_or_wall(in_z.upper);
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      const Between in_y = periodic(j, grid_.cells()[1], ny, offset_y);
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) {
        const Between in_x = periodic(i, grid_.cells()[0], nx, offset_x);
        const FormulaPoint point{(static_cast<double>(i) + offset_x) * grid_.dx(),
                                 (static_cast<double>(j) + offset_y) * grid_.dy()};
        const auto at = [&](const std::vector<double>* plane, const std::optional<Formula>& wall) {
          if (plane == nullptr) return (*wall)(point);
          const auto value = [&](std::int64_t jj, std::int64_t ii) { return (*plane)[jj * nx + ii]; };
          const double front = std::lerp(value(in_y.lower, in_x.lower), value(in_y.lower, in_x.upper), in_x.weight);
          const double back = std::lerp(value(in_y.upper, in_x.lower), value(in_y.upper, in_x.upper), in_x.weight);
          return std::lerp(front, back, in_y.weight);
        };
        values.push_back(static_cast<real>(std::lerp(at(lower, bottom), at(upper, top), in_z.weight)));
      }
    }
  }

  const Grid& grid_;
  const FlowParameters& flow_;
  const io::GridLines& source_;
};

/// A scalar that the file does not have begins as without a file.
bool begins_without(const io::h5::File& file, const FieldDescriptor& field) {
  return field.at_wall == AtWall::given && !file.has("/" + field.name);
}

bool is_uniform(const std::vector<double>& nodes) {
  const double spacing = (nodes.back() - nodes.front()) / static_cast<double>(nodes.size() - 1);
  for (std::size_t k = 0; k + 1 < nodes.size(); ++k)
    if (std::abs(nodes[k + 1] - nodes[k] - spacing) > 1e-10 * spacing) return false;
  return true;
}

void make_initial(Simulation& simulation) {
  State& state = simulation.state();
  simulation.stepper.project(state);
  simulation.state_replaced();
  state.time = 0;
  state.step = 0;
}

}  // namespace

void set_from_fields(Simulation& simulation, const std::string& path) {
  set_zero(simulation.state(), simulation.stepper);
  set_scalars(simulation.state(), simulation.stepper, simulation.grid, simulation.flow);
  const auto& cells = simulation.grid.cells();
  const io::h5::Shape expected{cells[2], cells[1], cells[0]};
  run_collectively(simulation.comm.world(), [&] {
    const io::h5::File file = io::h5::File::open(path, ExitCode::restart);
    for (const auto& [descriptor, field] : simulation.state().prognostic_fields()) {
      if (begins_without(file, descriptor)) continue;
      const std::string name = "/" + descriptor.name;
      const io::h5::Dataset dataset = io::field_of(
          file, descriptor.name,
          fmt::format("Add it as dataset {} of shape ({}, {}, {})", name, expected[0], expected[1], expected[2]));
      if (dataset.shape() != expected || !dataset.is_floating()) {
        throw Error(
            ExitCode::restart,
            fmt::format(
                "{}: dataset {} must hold real numbers of shape ({}, {}, {}), which is (nz, ny, nx) of grid.cells",
                path, name, expected[0], expected[1], expected[2]));
      }
      dataset.require_complete();
      const Box3& box = field.box();
      std::vector<real> values(box.volume());
      dataset.read(box, io::h5::type_of<real>, values.data());
      require_finite(dataset, box, values);
      upload(values, field);
    }
  });
  make_initial(simulation);
}

void set_from_checkpoint(Simulation& simulation, const std::string& path) {
  const io::CheckpointReader reader(simulation.comm.world(), path);
  for (const std::string& name : reader.fields().names) reader.verify_field(name);
  const io::GridLines& source = reader.grid();
  set_zero(simulation.state(), simulation.stepper);
  set_scalars(simulation.state(), simulation.stepper, simulation.grid, simulation.flow);
  run_collectively(simulation.comm.world(), [&] {
    const double height = source.face[2].back();
    if (std::abs(height - simulation.grid.length_z()) > 1e-12) {
      throw Error(
          ExitCode::restart,
          fmt::format("{}: its domain is {} high, this one {}: only domains of the same height can be interpolated",
                      path, height, simulation.grid.length_z()));
    }
    if (simulation.flow.periodic_z && !is_uniform(source.node[2])) {
      throw Error(ExitCode::restart,
                  fmt::format("{}: its grid is stretched along z, so that its flow is not periodic there", path));
    }
    const io::h5::File file = io::h5::File::open(path, ExitCode::restart);
    const Interpolation interpolation(simulation.grid, simulation.flow, source);
    for (const Described<Field>& field : simulation.state().prognostic_fields()) {
      if (!begins_without(file, field.descriptor)) interpolation.fill(file, field);
    }
  });
  make_initial(simulation);
  set_bulk_velocity(simulation.state(), simulation.stepper, simulation.grid, simulation.flow, simulation.comm.world());
}

void start_from_initial(Simulation& simulation) {
  const io::InitialSpec& initial = simulation.settings.initial;
  if (initial.kind == io::InitialKind::fields) {
    set_from_fields(simulation, initial.file);
  } else if (initial.kind == io::InitialKind::checkpoint) {
    set_from_checkpoint(simulation, initial.file);
  } else {
    simulation.initialise();
  }
}

}  // namespace sluice
