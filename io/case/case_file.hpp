#pragma once
// Conversion of YAML text to a validated Case and back.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/case/case.hpp"
#include "io/case/keys.hpp"
#include "io/case/numbers.hpp"
#include "io/case/paths.hpp"
#include "io/case/time_tables.hpp"

namespace sluice::io {

/// What is wrong with a key, as the messages of parse_case have it after the key's path.
struct KeyFault {
  std::string path;
  std::string what;
};

/// Rules that need more than io/ knows. They are applied only to a case that is otherwise valid.
using FurtherRules = std::function<std::vector<KeyFault>(const Case&)>;

struct ParseOptions {
  std::vector<std::string> exchange_methods = available_exchange_methods();  ///< allowed values of parallel.exchange
  TextReader read_file{};  ///< reads the tables in time that the case has in files
  /// Reads the environment; without it, ~ and $ in paths stand for themselves, as in stored cases, whose paths are
  /// absolute.
  VariableReader variable{};
  FurtherRules further_rules{};
};

/// Reads and validates a case. Works on text: one process can read the file and all parse it alike. text: the case
/// file. file_name: for messages. overrides: the KEY=VALUE of each --set, applied in order; setting one of several
/// alternatives removes the others. base_directory: start of relative paths in the file; those in overrides start at
/// the working directory. Throws Error(ExitCode::usage) that lists every problem with file:line:column or --set, key,
/// and what is allowed.
Case parse_case(const std::string& text, const std::string& file_name, const std::vector<std::string>& overrides,
                const std::string& base_directory, const ParseOptions& options = {});

/// The value of solver.precision in the text of a case file and in the overrides, before anything is checked: the
/// program that reads the case follows from it. None if there is no value, or the text cannot be parsed.
std::optional<std::string> asked_precision(const std::string& text, const std::vector<std::string>& overrides);

/// The resolved case as YAML: every default filled in, every path absolute. parse_case reads it back to an equal Case,
/// every number bitwise equal. For text from another build or version, take parse_stored_case.
std::string resolved_yaml(const Case& settings);

/// Reads back what resolved_yaml of this or another build wrote, with all known exchange methods. A key that is absent
/// did not exist yet, and has the value that the flow had then. Throws like parse_case.
Case parse_stored_case(const std::string& text, const std::string& name);

/// Differences between a checkpoint's case and the current one that change the flow or the bits of the result: lines
/// such as "grid.cells: [96, 64, 48] -> [96, 64, 64]". Title, end, time step, parallel, output and walltime may change.
/// Files are compared by name, so that moving a case folder is not a change.
std::vector<std::string> physical_changes(const Case& stored, const Case& now);

/// The keys that statistics depend on (is_sampled), by path, with their values as in the resolved case. Keys without a
/// value are left out. In place of the Reynolds number stands the viscosity, as flow.reynolds.viscosity.
std::map<std::string, std::string> sampled_keys(const Case& settings);

/// The values of the same keys in a set that was stored before they existed: their defaults, or the value that the flow
/// had then. A key without either is unknown, and equal only where both sets lack it.
std::map<std::string, std::string> sampled_key_defaults();

/// Text as a YAML scalar in double quotes: makes an override's VALUE from a path or a name.
std::string quoted_yaml(std::string_view text);

}  // namespace sluice::io
