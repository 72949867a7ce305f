#pragma once
// A hash of everything in an HDF5 file but the elements of its fields, stored behind HDF5's own data, where HDF5 does
// not look. It is verified by plain reads before HDF5 opens the file: HDF5 1.10 may crash on damaged metadata.
//
// The end of the file is a list of 64-bit words: begin and end of each range of bytes that the hash does not cover, the
// number of ranges, the hash, and eight characters that tell that the list is there.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/support/error.hpp"

namespace sluice::io {

/// Bytes [begin, end) of a file.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Appends the hash to a complete HDF5 file. `excluded`: where the fields are, in any order, which need not be
/// written yet; each field has a hash of its own. Local. Throws Error(io).
void append_metadata_hash(const std::string& path, std::vector<ByteRange> excluded);

/// Accepts a file without such a hash: one of version 0.1 before it had one, or one that another program has changed.
/// Local. Throws Error(`code`) if the file does not have the hash that was stored with it.
void verify_metadata_hash(const std::string& path, ExitCode code);

/// The hash at the end of a file, not verified; none if it has none or cannot be read. Local.
std::optional<std::uint64_t> stored_metadata_hash(const std::string& path);

}  // namespace sluice::io
