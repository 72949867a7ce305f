#pragma once
#include <string>

namespace sluice::io {

/// A JSON schema (draft 7) of the case file: keys, types, ranges, alternatives and descriptions, for editors. Rules
/// between sections are not in it.
std::string generate_key_schema();

}  // namespace sluice::io
