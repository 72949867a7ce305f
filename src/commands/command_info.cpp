#include <fmt/format.h>
#include <mpi.h>

#include <filesystem>

#include "core/support/collective.hpp"
#include "io/files/checkpoint_format.hpp"
#include "io/files/describe.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/directory_status.hpp"

namespace sluice {

ExitCode command_info(const std::string& file) {
  run_on_root(MPI_COMM_WORLD, [&] {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored) && !file.ends_with(".h5")) {
      fmt::print("{}", directory_status(file));
      return;
    }
    const io::FileDescription description = io::describe(file);
    fmt::print("{}\n", description.text());
    if (!description.intact())
      throw Error(ExitCode::restart,
                  fmt::format("{}: the file is damaged{}", file,
                              description.format == io::format::checkpoint
                                  ? "; `sluice run --restart auto` passes over it to an older checkpoint"
                                  : ""));
  });
  return ExitCode::success;
}

}  // namespace sluice
