#include "src/commands/commands.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/real.hpp"
#include "io/case/case_file.hpp"
#include "io/case/ensemble.hpp"
#include "io/case/yaml_tree.hpp"
#include "io/files/hdf5_parallel.hpp"
#include "io/files/posix_file.hpp"
#include "src/outputs/run_files.hpp"
#include "src/run/precisions.hpp"

namespace sluice {

namespace {

constexpr std::size_t max_stretching_bytes = 67108864;  // a million numbers of full precision take 20 MB

/// io::read_input() on rank 0, broadcast. Collective.
std::string read_shared_text(const std::string& file, const std::string& what, std::size_t max_bytes, MPI_Comm comm) {
  std::string text;
  run_on_root(comm, [&] { text = io::read_input(file, what, max_bytes); });
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

/// What this build cannot do, and names that files need for something else.
std::vector<io::KeyFault> further_faults(const io::Case& settings) {
  std::vector<io::KeyFault> faults = name_conflicts(settings);
  if (settings.output.writer.kind == io::WriterKind::hdf5 && !io::h5::is_parallel())
    faults.push_back({"output.writer", std::string(io::h5::no_parallel_hdf5) + "; allowed: direct"});
  return faults;
}

}  // namespace

void use_program_of(const CaseOptions& options, char** argv) {
  std::error_code error;
  std::string text;
  if (std::filesystem::is_regular_file(options.file, error)) {  // a pipe can be read once only
    try {
      text = io::read_input(options.file, "case file", io::max_yaml_bytes);
    } catch (const Error&) {  // read_case reports it, once for all ranks
      text.clear();
    }
  }
  if (const auto precision = io::asked_precision(text, options.settings)) use_program_of(*precision, argv);
}

CaseInput read_case(const CaseOptions& options, MPI_Comm comm) {
  const std::string text = read_shared_text(options.file, "case file", io::max_yaml_bytes, comm);
  return parse_case(text, options, comm);
}

CaseInput parse_case(const std::string& text, const CaseOptions& options, MPI_Comm comm) {
  const std::string folder = std::filesystem::absolute(options.file).parent_path().string();
  CaseInput input;
  const auto read_table = [&](const std::string& file, std::size_t max_bytes) {
    return read_shared_text(file, "table in time", max_bytes, comm);
  };
  const auto variable = [&](const std::string& name) { return shared_variable(name, comm); };
  input.settings = io::parse_case(text, options.file, options.settings, folder,
                                  {.read_file = read_table, .variable = variable, .further_rules = further_faults});
  if (!input.settings.precision) input.settings.precision = precision_name;
  require_precision(*input.settings.precision, "solver.precision", comm);
  if (input.settings.stretching.kind == io::StretchingKind::file) {
    input.stretching_text = read_shared_text(
        input.settings.stretching.file, "file of face coordinates (grid.stretching.file)", max_stretching_bytes, comm);
  }
  return input;
}

std::vector<CaseInput> parse_members(const std::string& text, const CaseOptions& options, const CaseInput& common,
                                     const std::vector<std::string>& last, MPI_Comm comm) {
  const std::vector<std::string> names = io::member_names(common.settings);
  const std::vector<std::vector<std::string>> settings = io::member_settings(common.settings);
  std::vector<CaseInput> members;
  for (std::size_t n = 0; n < names.size(); ++n) {
    CaseOptions of_member = options;
    of_member.file += fmt::format(" ({})", names[n]);  // for messages
    for (const auto* list : {&settings[n], &last})
      of_member.settings.insert(of_member.settings.end(), list->begin(), list->end());
    members.push_back(parse_case(text, of_member, comm));
    if (members.back().settings.stretching == members.front().settings.stretching) continue;
    throw Error(ExitCode::usage,
                fmt::format("the case {} has another grid than the first member, because grid.stretching.re_tau "
                            "follows flow.reynolds.tau; set grid.stretching.re_tau",
                            of_member.file));
  }
  return members;
}

EnsembleInput read_ensemble(const CaseOptions& options, const std::vector<std::string>& last, MPI_Comm comm) {
  const std::string text = read_shared_text(options.file, "case file", io::max_yaml_bytes, comm);
  CaseOptions with_last = options;
  with_last.settings.insert(with_last.settings.end(), last.begin(), last.end());
  EnsembleInput input{parse_case(text, with_last, comm), {}};
  if (input.common.settings.ensemble.members > 0)
    input.members = parse_members(text, options, input.common, last, comm);
  return input;
}

}  // namespace sluice
