#pragma once
// YAML text to a validated Case, and back.
#include <string>
#include <string_view>
#include <vector>

#include "io/case/case.hpp"
#include "io/case/keys.hpp"
#include "io/case/numbers.hpp"

namespace sluice::io {

/// Reads and validates a case. Works on text, so that one process can read the file and all can parse alike.
/// text: the case file. file_name: for messages. overrides: the KEY=VALUE of each --set, applied in order;
/// setting one of several alternatives removes the others. base_directory: the folder that paths in the file
/// resolve against; paths in overrides resolve against the working directory. exchange_methods: what
/// parallel.exchange may be. Throws Error(ExitCode::usage) that names every problem with file:line:column or
/// --set, key, and what is allowed.
Case parse_case(const std::string& text, const std::string& file_name, const std::vector<std::string>& overrides,
                const std::string& base_directory,
                const std::vector<std::string>& exchange_methods = available_exchange_methods());

/// The case as resolved: YAML with every default filled in and every path absolute. parse_case reads it back
/// to an equal Case, to the last bit of every number. Give parse_case known_exchange_methods() where the text
/// may come from another build.
std::string resolved_yaml(const Case& settings);

/// What differs between the case of a checkpoint and the case now that changes the flow or the bits of the
/// result: lines such as "flow.reynolds: 5714 -> 5600". Title, end, time step, parallel, output and walltime
/// are free to change. Files are compared by name, so that a moved case folder is no change.
std::vector<std::string> physical_changes(const Case& stored, const Case& now);

/// Text as a YAML scalar in double quotes, for the VALUE of an override made from a path or a name.
std::string quoted_yaml(std::string_view text);

}  // namespace sluice::io
