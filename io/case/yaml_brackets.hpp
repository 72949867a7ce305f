#pragma once
// Brackets of a YAML text that do not match, which a parser notices far behind the place of the mistake.
#include <optional>
#include <string>

namespace sluice::io {

struct BracketFault {
  int line = 1, column = 1;  ///< of the bracket, from 1
  std::string what;
};

/// The first bracket that another kind closes, or that closes nothing; else the last that is never closed. None if all
/// match. A bracket counts where YAML gives it a meaning: not in comments, quotes and plain text.
std::optional<BracketFault> bracket_fault(const std::string& text);

}  // namespace sluice::io
