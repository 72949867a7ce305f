#include "src/run/precisions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/real.hpp"
#include "src/run/stop_control.hpp"

namespace sluice {

namespace {

bool has_precision(std::string_view precision) {
  return std::ranges::count(precisions(), precision) > 0;
}

/// The file name of the program of a precision that the build has.
std::string program_of(std::string_view precision) {
  return precision == precisions().front() ? "sluice" : fmt::format("sluice-{}", precision);
}

std::string reason(std::string_view precision) {
  if (!has_precision(precision)) {
    return fmt::format("this build has {} precision only; configure it with -DSLUICE_PRECISIONS=\"double;single\"",
                       fmt::join(precisions(), " and "));
  }
  return fmt::format(
      "the program on this rank has {} precision: either {} is missing beside it, or the rank could not read the case "
      "file before MPI started, since that is a pipe or is not on its machine; then set solver.precision={} on the "
      "command line",
      precision_name, program_of(precision), precision);
}

}  // namespace

std::vector<std::string> precisions() {
  std::vector<std::string> list;
  std::istringstream names(SLUICE_PRECISIONS);
  for (std::string name; names >> name;) list.push_back(name);
  return list;
}

void use_program_of(std::string_view precision, char** argv) {
  if (precision == precision_name || !has_precision(precision)) return;
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path other = own.parent_path() / program_of(precision);
  if (error || ::access(other.c_str(), X_OK) != 0) return;
  StopControl::hold_signals();
  ::execv(other.c_str(), argv);
  StopControl::catch_signals();  // it has failed
}

void require_precision(std::string_view precision, std::string_view what, MPI_Comm comm) {
  run_collectively(comm, [&] {
    if (precision == precision_name) return;
    throw Error(ExitCode::usage, fmt::format("{} is {}, but {}", what, precision, reason(precision)));
  });
}

}  // namespace sluice
