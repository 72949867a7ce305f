// Points, lines and planes of the flow against time. Each rank collects the values of its own points in its device's
// memory. Before a checkpoint, or when the memory for them is full, rank 0 gathers them. It writes small samples alone;
// large ones are written by all ranks.

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/decomp/field_copy.hpp"
#include "core/support/nearest.hpp"
#include "model/schedule.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/observer.hpp"
#include "src/outputs/output_needs.hpp"
#include "src/outputs/series_files.hpp"

namespace sluice {

namespace {

/// The points of a grid line nearest to the requested positions; all of them if there are none. In increasing order, as
/// the positions are.
std::vector<int> nearest_points(const std::vector<double>& line, const std::optional<std::vector<double>>& positions) {
  std::vector<int> indices;
  for (int n = 0; !positions && n < std::ssize(line); ++n) indices.push_back(n);
  for (const double position : positions.value_or(std::vector<double>()))
    indices.push_back(static_cast<int>(nearest_index(line, position)));
  return indices;
}

/// The points at which a probe takes a field, and those of them that a rank owns.
struct FieldPoints {
  FieldPoints(Location location, const io::GridLines& lines, const io::ProbeSpec& spec, const Box3& owned) {
    const std::array<const std::optional<std::vector<double>>*, 3> positions{&spec.x, &spec.y, &spec.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool on_faces = location == std::array{Location::x_face, Location::y_face, Location::z_face}[axis];
      const std::vector<double>& line = on_faces ? lines.face[axis] : lines.center[axis];
      indices[axis] = nearest_points(line, *positions[axis]);
      all.hi[axis] = std::ssize(indices[axis]);
      piece.lo[axis] = std::ranges::lower_bound(indices[axis], owned.lo[axis]) - indices[axis].begin();
      piece.hi[axis] = std::ranges::lower_bound(indices[axis], owned.hi[axis]) - indices[axis].begin();
      for (const int index : indices[axis]) coordinates[axis].push_back(line[index]);
    }
  }

  std::array<std::vector<int>, 3> indices;  ///< on the grid
  std::array<std::vector<double>, 3> coordinates;
  Box3 all;    ///< counted from 0
  Box3 piece;  ///< the part of them that the rank owns
};

/// The part of a probe that concerns one field.
class SampledField {
 public:
  SampledField(const Field& field, const io::GridLines& lines, const io::ProbeSpec& spec)
      : points_(field.location(), lines, spec, field.box()) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::vector<int> local;
      for (std::int64_t n = points_.piece.lo[axis]; n < points_.piece.hi[axis]; ++n)
        local.push_back(points_.indices[axis][n] - static_cast<int>(field.box().lo[axis]));
      local_indices_[axis] = Buffer<int>(local);
    }
  }

  void allocate(std::int64_t max_samples) { values_ = Buffer<real>(max_samples * points_.piece.volume()); }

  const std::array<std::vector<double>, 3>& coordinates() const { return points_.coordinates; }

  void sample(const Field& field, std::int64_t number) {
    copy_points(field, local_indices_, values_.data() + number * points_.piece.volume());
  }

  /// What is stored of all samples. Collective.
  void add_to(SeriesSamples& samples, MPI_Comm comm) const {
    std::vector<real> own = values_.download();
    own.resize(samples.whole.size() * points_.piece.volume());
    samples.add_field(comm, points_.all, points_.piece, std::move(own));
  }

 private:
  FieldPoints points_;
  std::array<Buffer<int>, 3> local_indices_;
  Buffer<real> values_;
};

/// A probe on one rank: samples not yet written.
class Probe {
 public:
  Probe(const io::ProbeSpec& spec, const RunContext& run)
      : spec_(spec), run_(run), description_(series_description(run, spec.name)) {
    description_.every = static_cast<double>(spec.every);
    const io::GridLines lines = grid_lines_of(run.simulation.grid);
    for (const auto& [descriptor, field] : fields()) {
      const SampledField& points = sampled_.emplace_back(*field, lines, spec);
      description_.fields.push_back(descriptor);
      for (std::size_t axis = 0; axis < 3; ++axis)
        description_.coordinates[io::coordinate_names(descriptor)[2 - axis]] = points.coordinates()[axis];
    }
    for (SampledField& field : sampled_) field.allocate(description_.held_samples());
  }

  const io::ProbeDescription& description() const { return description_; }

  bool due(const Moment& now) const {
    return now.occasion == Occasion::step && now.step % spec_.every == 0 && is_reached(spec_.start, now.time);
  }
  bool is_full() const { return std::ssize(times_.step) == description_.held_samples(); }

  void sample() {
    const State& state = run_.flow.state();
    const auto sources = fields();
    for (std::size_t n = 0; n < sources.size(); ++n) sampled_[n].sample(*sources[n].second, std::ssize(times_.step));
    times_.step.push_back(state.step);
    times_.time.push_back(state.time);
  }

  /// The samples not yet written. Collective.
  SeriesSamples take() {
    SeriesSamples samples{std::exchange(times_, {}), {}, {}};
    if (samples.whole.size() == 0) return samples;
    for (const SampledField& field : sampled_) field.add_to(samples, run_.simulation.comm.world());
    return samples;
  }

 private:
  /// Their arrays change places from step to step.
  std::vector<std::pair<FieldDescriptor, const Field*>> fields() const {
    std::vector<std::pair<FieldDescriptor, const Field*>> list;
    for (const auto& [descriptor, field] : run_.flow.state().fields()) {
      if (std::ranges::find(spec_.fields, descriptor.name) != spec_.fields.end()) list.emplace_back(descriptor, &field);
    }
    return list;
  }

  const io::ProbeSpec& spec_;
  RunContext run_;
  io::ProbeDescription description_;
  std::vector<SampledField> sampled_;
  io::ProbeSamples times_;  ///< of the samples not yet written
};

class ProbeObserver : public Observer {
 public:
  explicit ProbeObserver(const RunContext& run)
      : run_(run), probes_(probes_of(run)), files_(run, companion_names::probes_group, descriptions_of(probes_)) {}

  std::vector<std::string> check_files(const Start& start) override { return files_.check(start); }
  void go_back(const Start& start) override { files_.go_back(start); }
  void save(io::ValueGroups& checkpoint) const override { files_.save(checkpoint); }
  void restore(const io::CheckpointReader& checkpoint) override { files_.restore(checkpoint); }

  bool due(const Moment& now) const override {
    return std::ranges::any_of(probes_, [&](const Probe& probe) { return probe.due(now); });
  }

  void observe(const Moment& now) override {
    for (std::size_t n = 0; n < probes_.size(); ++n) {
      if (!probes_[n].due(now)) continue;
      probes_[n].sample();
      if (probes_[n].is_full()) write(n);
    }
  }

  void sync() override {
    for (std::size_t n = 0; n < probes_.size(); ++n) write(n);
  }

 private:
  /// Appends to the file what the ranks hold of a probe. Collective.
  void write(std::size_t number) {
    const SeriesSamples samples = probes_[number].take();
    if (samples.whole.size() > 0) files_.append(number, samples);
  }

  static std::vector<Probe> probes_of(const RunContext& run) {
    std::vector<Probe> probes;
    for (const io::ProbeSpec& spec : run.simulation.settings.output.probes) probes.emplace_back(spec, run);
    return probes;
  }

  static std::vector<io::ProbeDescription> descriptions_of(const std::vector<Probe>& probes) {
    std::vector<io::ProbeDescription> descriptions;
    for (const Probe& probe : probes) descriptions.push_back(probe.description());
    return descriptions;
  }

  RunContext run_;
  std::vector<Probe> probes_;
  SeriesFiles files_;
};

}  // namespace

OutputNeed probe_need(const io::ProbeSpec& spec, const Grid& grid, const FlowParameters& flow, const Box3& owned) {
  const io::GridLines lines = grid_lines_of(grid);
  std::int64_t values = 0;
  std::int64_t own_values = 0;
  for (const FieldDescriptor& field : fields_of(flow)) {
    if (std::ranges::find(spec.fields, field.name) == spec.fields.end()) continue;
    const FieldPoints points(field.location, lines, spec, owned);
    values += points.all.volume();
    own_values += points.piece.volume();
  }
  const std::size_t bytes = values * sizeof(real);
  const auto held = static_cast<double>(io::held_probe_samples(bytes));
  return {.size = static_cast<double>(bytes + sizeof(double) + sizeof(std::int64_t)),
          .memory = held * static_cast<double>(bytes),
          .own_memory = held * static_cast<double>(own_values) * sizeof(real)};
}

std::unique_ptr<Observer> make_probes(const RunContext& run) {
  if (run.simulation.settings.output.probes.empty() && !has_files(run)) return nullptr;
  return std::make_unique<ProbeObserver>(run);
}

}  // namespace sluice
