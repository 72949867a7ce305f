#include "src/bench/json_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"

namespace sluice {

void write_json(const std::string& path, const nlohmann::ordered_json& json) {
  if (path.empty()) return;
  std::ofstream file(path);
  file << json.dump(2) << "\n";
  file.close();
  if (!file) throw Error(ExitCode::io, fmt::format("{}: could not be written", path));
}

}  // namespace sluice
