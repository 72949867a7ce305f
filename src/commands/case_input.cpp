#include "src/commands/case_input.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/case/case_file.hpp"

namespace sluice {

namespace {

/// Content of a text file, read on rank 0 and broadcast. `what` names it in the message. Throws Error(usage).
/// Collective.
std::string read_shared_text(const std::string& file, const std::string& what, MPI_Comm comm) {
  std::string text;
  run_on_root(comm, [&] {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream content;
    if (!stream || std::filesystem::is_directory(file)) {
      throw Error(ExitCode::usage, fmt::format("{}: the {} cannot be read: {}", file, what,
                                               errno != 0 ? std::strerror(errno) : "it is a directory"));
    }
    content << stream.rdbuf();
    text = content.str();
  });
  broadcast(text, comm);
  return text;
}

}  // namespace

CaseInput read_case(const CaseOptions& options, MPI_Comm comm) {
  const std::string text = read_shared_text(options.file, "case file", comm);
  const std::string folder = std::filesystem::absolute(options.file).parent_path().string();
  CaseInput input;
  input.settings = io::parse_case(text, options.file, options.settings, folder);
  if (input.settings.stretching.kind == io::StretchingKind::file) {
    input.stretching_text =
        read_shared_text(input.settings.stretching.file, "file of face coordinates (grid.stretching.file)", comm);
  }
  return input;
}

}  // namespace sluice
