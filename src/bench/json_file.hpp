#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sluice {

/// Writes the result of a benchmark as JSON; does nothing if `path` is empty. Throws Error(io).
void write_json(const std::string& path, const nlohmann::ordered_json& json);

}  // namespace sluice
