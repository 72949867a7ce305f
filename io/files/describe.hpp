#pragma once
#include <string>
#include <vector>

namespace sluice::io {

/// What a file of ours holds, for `sluice info`.
struct FileDescription {
  std::string format;  ///< "Sluice checkpoint", "Sluice statistics", "Sluice slice", or "HDF5" for a file of others
  std::vector<std::string> lines;     ///< for people, one fact a line
  std::vector<std::string> problems;  ///< what is damaged; empty if the file is intact

  bool intact() const { return problems.empty(); }
  std::string text() const;  ///< all of it, with a verdict at the end
};

/// Reads the whole file and verifies every checksum and hash. Local. Throws Error(restart) if it cannot be
/// opened as HDF5 at all; damage inside is reported in the description.
FileDescription describe(const std::string& path);

}  // namespace sluice::io
