// Energy of the CPU packages, which Linux reads from the processors (RAPL).
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "core/device/energy_counters.hpp"
#include "core/support/error.hpp"

namespace sluice::device {

namespace {

template <class T>
std::optional<T> value_in(const std::string& file) {
  std::ifstream stream(file);
  T value{};
  return stream >> value ? std::optional(value) : std::nullopt;
}

/// `file` contains microjoules.
double joules_in(const std::string& file) {
  errno = 0;
  const std::optional<double> microjoules = value_in<double>(file);
  if (microjoules && *microjoules >= 0) return *microjoules * 1e-6;
  throw Error(ExitCode::resources,
              fmt::format("{} cannot be read ({})", file, errno != 0 ? std::strerror(errno) : "it contains no energy"));
}

}  // namespace

EnergyCounters energy_counters() {
  return package_counters("/sys/class/powercap");
}

EnergyCounters package_counters(const std::string& folder) {
  EnergyCounters counters{"CPU package", {}};
  // Other zones contain those of packages (psys), are parts of them (intel-rapl:0:0) or the same again
  // (intel-rapl-mmio:0).
  constexpr int max_zones = 64;
  for (int n = 0; n < max_zones; ++n) {
    const std::string zone = fmt::format("{}/intel-rapl:{}", folder, n);
    if (!value_in<std::string>(zone + "/name").value_or("").starts_with("package")) continue;
    const std::string file = zone + "/energy_uj";
    joules_in(file);
    counters.list.push_back({zone, [file] { return joules_in(file); }, joules_in(zone + "/max_energy_range_uj")});
  }
  if (counters.list.empty())
    throw Error(ExitCode::resources, fmt::format("the system has no energy counter of a CPU package in {}", folder));
  return counters;
}

}  // namespace sluice::device
