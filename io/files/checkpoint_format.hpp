#pragma once
// The definitions shared by the writer and the readers of checkpoints.
#include <cstdint>
#include <string>

#include "io/files/values.hpp"

namespace sluice::io {

/// The program version and case that produced a file.
struct Provenance {
  std::string sluice_version;
  std::string git_revision;
  std::string resolved_case;  ///< the case file with all defaults, of any length
};

namespace format {

inline constexpr const char* checkpoint = "Sluice checkpoint";
inline constexpr const char* statistics = "Sluice statistics";
inline constexpr const char* slice = "Sluice slice";
inline constexpr std::int64_t version = 1;
inline constexpr const char* hash = "hash";  ///< attribute of a dataset: its field_hash

}  // namespace format

/// The attributes of a file's root: format, format_version, sluice_version, git_revision, resolved_case.
Values root_values(const char* format, const Provenance& provenance);

/// Reads them. Local. Throws Error(restart) for a file of another format or of a later version.
Values check_root(const h5::File& file, const char* format);

}  // namespace sluice::io
