#pragma once
// Tables in time, where a case may give one in place of a number: {table: FILE} or {times: [...], values: [...]},
// either with a period. A file is replaced by its points before anything else looks at the case, so that the resolved
// case does not depend on it.
#include <functional>
#include <string>

#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"
#include "model/formula.hpp"

namespace sluice::io {

inline constexpr std::size_t max_table_points = 2000;  ///< so that the resolved case stays within what read_yaml reads
inline constexpr const char* table_forms =
    "a table in time, {table: FILE} or {times: [0, 1], values: [1, 2]}, either with a period";

/// Returns the text of a file, of at most this many bytes. Throws Error.
using TextReader = std::function<std::string(const std::string& path, std::size_t max_bytes)>;

/// Replaces the file of each table of the case by its points. `base_directory`: start of relative paths.
void load_tables(YamlNode& root, const std::string& base_directory, const TextReader& read, Problems& problems);

/// Describes what is wrong with a table of points; empty if there is nothing.
std::string fault_of_table(const YamlNode& node);

/// A table without fault; of another, a constant.
TimeFunction time_table(const YamlNode& node);

/// The table as YAML that time_table reads back bitwise.
std::string text_of_table(const TimeTable& table);

}  // namespace sluice::io
