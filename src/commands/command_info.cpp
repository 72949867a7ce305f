#include <fmt/format.h>

#include <filesystem>

#include "io/files/checkpoint_format.hpp"
#include "io/files/describe.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/directory.hpp"

namespace sluice {

ExitCode command_info(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored) && !file.ends_with(".h5")) {
    fmt::print("{}", directory_status(file));
    return ExitCode::success;
  }
  const io::FileDescription description = io::describe(file);
  fmt::print("{}\n", description.text());
  if (description.intact()) return ExitCode::success;
  const bool is_checkpoint = description.format == io::format::checkpoint;
  throw Error(ExitCode::restart,
              fmt::format("{}: the file is damaged{}", file,
                          is_checkpoint ? "; `sluice run --restart auto` passes over it to an older checkpoint" : ""));
}

}  // namespace sluice
