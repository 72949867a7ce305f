// Statistics in memory, and the functions of the module for them.
#include "python/bindings/statistics.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/support/error.hpp"
#include "io/files/statistics_file.hpp"
#include "python/bindings/session.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sluice::python {

MemoryStatistics::MemoryStatistics(Simulation& simulation)
    : simulation_(simulation),
      sampling_(simulation.settings.output.statistics),
      times_(sampling_),
      sums_(simulation.grid, simulation.stepper.metrics(), simulation.flow, simulation.stepper.walls(),
            simulation.box(), statistics_content(simulation.settings.output), simulation.comm.world()) {}

void MemoryStatistics::after_step() {
  if (!sampling_.enabled) return;
  if (times_.sample_due(simulation_.step(), simulation_.time())) {
    sample();
  } else {
    close_if_due();
  }
}

void MemoryStatistics::sample() {
  sums_.sample(simulation_.state(), simulation_.forcing.x);
  if (sampling_.enabled) close_if_due();
}

/// A sample that is due at the end of a block is the block's last.
void MemoryStatistics::close_if_due() {
  if (!times_.block_ends(sums_.open_block(), simulation_.time())) return;
  kept_.closed.push_back(std::make_shared<const StatisticsBlock>(sums_.close_block(simulation_.step())));
}

const MemoryStatistics::Samples& MemoryStatistics::samples() {
  kept_.open = sums_.open_block();
  return kept_;
}

void MemoryStatistics::set(const Samples& samples) {
  const auto& own = sums_.open_block().sums;
  const auto have_one_size = [](const auto& one, const auto& other) { return one.size() == other.size(); };
  if (!std::ranges::equal(own, samples.open.sums, have_one_size)) {
    reset();
    return;
  }
  kept_ = samples;
  sums_.set_open_block(samples.open);
}

void MemoryStatistics::reset() {
  kept_ = {};
  sums_.start_anew();
}

std::vector<const StatisticsBlock*> MemoryStatistics::blocks(bool unfinished) const {
  std::vector<const StatisticsBlock*> found;
  for (const auto& block : kept_.closed) found.push_back(block.get());
  if (unfinished && sums_.open_block().samples > 0) found.push_back(&sums_.open_block());
  return found;
}

std::int64_t MemoryStatistics::count() const {
  std::int64_t count = 0;
  for (const StatisticsBlock* block : blocks(true)) count += block->samples;
  return count;
}

std::map<std::string, std::vector<double>> MemoryStatistics::means() const {
  std::map<std::string, std::vector<double>> found;
  const auto samples = static_cast<double>(count());
  if (samples == 0) throw Error(ExitCode::usage, "there are no statistics yet: no sample was taken");
  for (std::size_t n = 0; n < sums_.profiles().size(); ++n) {
    const ProfileInfo& profile = sums_.profiles()[n];
    if (profile.modes != ModeAxis::none || profile.constant) continue;
    std::vector<double>& mean = found[profile.name];
    for (const StatisticsBlock* block : blocks(true)) {
      mean.resize(block->sums[n].size());
      std::ranges::transform(mean, block->sums[n], mean.begin(), std::plus());
    }
    for (double& value : mean) value /= samples;
  }
  return found;
}

void MemoryStatistics::write(const std::string& path, bool unfinished) const {
  const std::vector<const StatisticsBlock*> all = blocks(unfinished);
  if (all.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("there are no statistics yet: {} samples were taken, and no block of "
                            "output.statistics.block is complete; unfinished=True uses the samples of the open block",
                            count()));
  }
  io::StatisticsSpec spec = sampled_file_spec(simulation_, path, statistics_output, sums_.profiles());
  spec.profiles = sums_.profiles();  // also where the case takes none
  io::StatisticsFile file(std::move(spec), false);
  file.truncate_after(0, 0);
  for (const StatisticsBlock* block : all) {
    StatisticsBlock closed = *block;
    if (closed.step_end == 0) closed.step_end = simulation_.step();
    file.append(std::move(closed), sampled_parameters(simulation_.settings));
  }
  file.complete();
}

void add_statistics(nb::module_& module) {
  module.def(
      "begin_statistics", [](Session& session) { session.statistics(); }, "session"_a);
  module.def("sample_statistics", &Session::sample_statistics, "session"_a);
  module.def(
      "reset_statistics", [](Session& session) { session.statistics().reset(); }, "session"_a);
  module.def(
      "count_statistics", [](Session& session) { return session.statistics().count(); }, "session"_a);
  module.def(
      "mean_statistics", [](Session& session) { return session.statistics().means(); }, "session"_a);
  module.def(
      "write_statistics",
      [](Session& session, const std::string& path, bool unfinished) { session.statistics().write(path, unfinished); },
      "session"_a, "path"_a, "unfinished"_a);
  module.def(
      "statistics_heights",
      [](Session& session) {
        const Grid& grid = session.simulation().grid;
        std::vector<double> centers;
        for (std::int64_t k = 0; k < grid.cells()[2]; ++k) centers.push_back(grid.z_center(k));
        return std::pair(centers, grid.z_nodes());
      },
      "session"_a);
}

}  // namespace sluice::python
