#pragma once
#include <string>
#include <vector>

namespace sluice::io {

/// The contents of a file written by Sluice, for `sluice info`.
struct FileDescription {
  std::string format;  ///< "Sluice checkpoint", "Sluice statistics", "Sluice slice", "Sluice probe" (" part") or "HDF5"
                       ///< for others
  std::vector<std::string> lines;     ///< readable text, one fact per line
  std::vector<std::string> problems;  ///< list of damage; empty if the file is intact

  bool intact() const { return problems.empty(); }
  std::string text() const;  ///< everything, with a verdict at the end
};

/// Whether the parts that a file of a slice or a probe joins are verified with it.
enum class Parts { verify, skip };

/// Reads the whole file and verifies every checksum and hash. Local. Throws Error(restart) if HDF5 cannot open the
/// file; damage inside is reported in the description.
FileDescription describe(const std::string& path, Parts parts = Parts::verify);

}  // namespace sluice::io
