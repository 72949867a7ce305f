#include "src/outputs/stored_accuracy.hpp"

#include <span>
#include <utility>

#include "core/support/error.hpp"
#include "io/files/hashed_array.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/statistics_file.hpp"
#include "src/outputs/sampled_file.hpp"

namespace sluice {

StatisticsFlow statistics_flow(const io::Case& settings, std::vector<double> z_face) {
  StatisticsFlow flow{settings.flow.viscosity,
                      settings.flow.bottom,
                      settings.flow.top,
                      settings.flow_type == io::FlowType::couette,
                      {},
                      std::move(z_face),
                      settings.flow.rotation,
                      settings.flow.buoyancy,
                      settings.flow.scalars};
  for (std::size_t k = 0; k + 1 < flow.z_face.size(); ++k) flow.z.push_back((flow.z_face[k] + flow.z_face[k + 1]) / 2);
  return flow;
}

Accuracy stored_accuracy(const std::string& file, const io::Case& settings) {
  io::StatisticsSpec spec;
  spec.path = file;
  spec.unrecorded_parameters = sampled_parameters(settings);
  const io::h5::File stored = io::h5::File::open(file, ExitCode::restart);
  spec.z = io::read_array<double>(stored, "/grid/z");
  spec.z_face = io::read_array<double>(stored, "/grid/z_face");
  const StatisticsFlow flow = statistics_flow(settings, spec.z_face);
  const io::StatisticsFile statistics(std::move(spec), true);
  const std::span<const StatisticsBlock> blocks = statistics.latest_blocks(sampled_parameters(settings));
  if (blocks.empty()) return {};
  return assess(KeyFigures(flow, statistics.profiles()), settings.time.until, blocks);
}

}  // namespace sluice
