#include "src/commands/case_input.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/case/case_file.hpp"
#include "io/case/yaml_tree.hpp"
#include "src/outputs/file_names.hpp"

namespace sluice {

std::string read_text(const std::string& file, const std::string& what, std::size_t max_bytes) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::usage, fmt::format("{}: the {} cannot be read: {}", file, what, why));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) refuse("it is a directory");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(std::strerror(errno));
  std::string text(max_bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) refuse(std::strerror(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  text.shrink_to_fit();
  if (text.size() > max_bytes) refuse(fmt::format("it has more than {} bytes", max_bytes));
  return text;
}

namespace {

constexpr std::size_t max_stretching_bytes = 67108864;  // a million numbers of full precision take 20 MB

/// read_text() on rank 0, broadcast. Collective.
std::string read_shared_text(const std::string& file, const std::string& what, std::size_t max_bytes, MPI_Comm comm) {
  std::string text;
  run_on_root(comm, [&] { text = read_text(file, what, max_bytes); });
  broadcast(text, comm);
  return text;
}

/// The value of an environment variable of rank 0, broadcast: a launcher need not give it to the others. Collective.
std::optional<std::string> shared_variable(const std::string& name, MPI_Comm comm) {
  std::string text;  // with a character before the value, if there is one
  run_on_root(comm, [&] {
    if (const char* value = std::getenv(name.c_str())) text = std::string("=") + value;
  });
  broadcast(text, comm);
  return text.empty() ? std::nullopt : std::optional(text.substr(1));
}

}  // namespace

CaseInput read_case(const CaseOptions& options, MPI_Comm comm) {
  const std::string text = read_shared_text(options.file, "case file", io::max_yaml_bytes, comm);
  const std::string folder = std::filesystem::absolute(options.file).parent_path().string();
  CaseInput input;
  const auto read_table = [&](const std::string& file, std::size_t max_bytes) {
    return read_shared_text(file, "table in time", max_bytes, comm);
  };
  const auto variable = [&](const std::string& name) { return shared_variable(name, comm); };
  input.settings = io::parse_case(text, options.file, options.settings, folder, io::available_exchange_methods(),
                                  read_table, variable, name_conflicts);
  if (input.settings.stretching.kind == io::StretchingKind::file) {
    input.stretching_text = read_shared_text(
        input.settings.stretching.file, "file of face coordinates (grid.stretching.file)", max_stretching_bytes, comm);
  }
  return input;
}

}  // namespace sluice
