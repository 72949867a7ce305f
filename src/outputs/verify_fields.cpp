// Fields at cell centres, of which a series is one entry of the report. No checkpoint expects them.
#include <fmt/format.h>

#include <system_error>

#include "io/files/checkpoint_reader.hpp"
#include "io/files/posix_file.hpp"
#include "src/outputs/verifier.hpp"

namespace sluice {

void Verifier::verify_fields() {
  std::error_code error;
  for (const std::string& name : io::numbered_prefixes(path("fields"), error)) {
    std::error_code ignored;
    const std::vector<std::int64_t> steps = io::numbered_files(path("fields"), name, ignored);
    if (steps.empty()) continue;  // a run has just removed them
    FileReport report{fmt::format("fields/{}_*.h5", name), "", {}, {}};
    report.contents = fmt::format("{} files up to step {}", steps.size(), steps.back());
    for (const std::int64_t step : steps) {
      const std::string file = path("fields/" + io::numbered_name(name, step));
      if (!is_intact(report, file)) continue;
      guarded(report, [&] {
        const io::CheckpointReader reader(MPI_COMM_SELF, file, io::format::fields);
        if (reader.step() != step) {
          add_problem(report, fmt::format("{}: its name does not fit what it holds, step {}", file, reader.step()));
        }
      });
    }
    report_.files.push_back(std::move(report));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    report_.files.push_back({"fields", "", {path("fields") + ": cannot be listed: " + error.message()}, {}});
}

}  // namespace sluice
