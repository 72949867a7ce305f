#pragma once
// A machine for which `sluice check --machine` forecasts runs: what was measured on one device, and the links between
// devices. docs/file-formats.md describes the file.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "poisson/tridiagonal/line_plan.hpp"

namespace sluice {

/// How a device reaches others. An exchange takes `seconds`, `seconds_per_further` for each message but one, and the
/// time of its bytes.
struct Link {
  double bytes_per_second = 0;
  double seconds = 0;
  double seconds_per_further = 0;
};

/// What `sluice bench step` measured on one device: a whole step, or only phases.
struct MeasuredStep {
  std::string precision;
  std::string diffusion;  ///< empty: phases of both
  int order = 0;          ///< 0: phases of both
  std::array<std::int64_t, 3> cells{};
  int scalars = 0;  ///< that the flow transported
  LineStrategy z_lines{};
  double triad = 0;                      ///< bytes per second; of a whole step
  std::optional<double> seconds;         ///< of a whole step
  std::map<std::string, double> phases;  ///< seconds; may be empty

  double points() const {
    return static_cast<double>(cells[0]) * static_cast<double>(cells[1]) * static_cast<double>(cells[2]);
  }
};

struct Machine {
  std::string title;
  double memory = 0;  ///< of a device, in bytes
  int devices_per_host = 1;
  std::optional<Link> host, network;  ///< to devices of the same host and of others
  std::vector<MeasuredStep> steps;

  /// Whether the devices solve z lines as GPUs do.
  bool is_gpu() const;
};

/// Reads a machine file. `read_file` reads the results of benchmarks that it names. Throws Error(usage) that lists
/// every problem.
Machine parse_machine(const std::string& text, const std::string& file_name,
                      const std::function<std::string(const std::string& file)>& read_file);

}  // namespace sluice
