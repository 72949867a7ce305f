#pragma once
// Ensembles: several runs of one case. Each member is an ordinary case, which settings KEY=VALUE make from the common
// one.
#include <cstddef>
#include <string>
#include <vector>

#include "io/case/case.hpp"
#include "io/case/case_file.hpp"

namespace sluice::io {

/// The settings, as for `--set`, that make the case of each member from the text of the common one: its seed, its
/// varied keys, its output directory, and no ensemble. One list for each member; none if the case has no ensemble.
std::vector<std::vector<std::string>> member_settings(const Case& settings);

/// The names of the members' directories in that of the ensemble: member_00, member_01, ...
std::vector<std::string> member_names(const Case& settings);

/// The text of ensemble.json: the members, their directories, and the values of all keys that they vary.
std::string ensemble_record(const Case& settings);

/// The names of two members with equal seeds and values, such as "member_00 and member_02"; empty if all differ.
std::string first_equal_members(const Case& settings);

/// The directories in the text of ensemble.json. Throws Error(io) if the text is something else. `file`: its name.
std::vector<std::string> directories_in_record(const std::string& text, const std::string& file);

/// What ensemble.json is called.
inline constexpr const char* ensemble_file_name = "ensemble.json";

// For the checks of a case.

/// Why members cannot differ in the key of this path, and which keys can be varied; empty if they can.
std::string fault_of_varied(const std::string& path);

/// Contradictions between the keys of the ensemble and others.
std::vector<KeyFault> ensemble_faults(const Case& settings);

/// The value of a varied key for a member, as YAML.
std::string yaml_of_varied(const VariedKey& key, std::size_t member);

}  // namespace sluice::io
