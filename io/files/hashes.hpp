#pragma once
// The hashes of a file: of fields, of other values, and of everything in an HDF5 file but the elements of its fields.
// The last one is stored behind HDF5's own data, where HDF5 does not look, and verified by plain reads before HDF5
// opens the file: HDF5 1.10 may crash on damaged metadata. The end of the file is then a list of 64-bit words: begin
// and end of each range of bytes that the hash does not cover, the number of ranges, the hash, and eight characters
// that tell that the list is there.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "io/files/local_block.hpp"

namespace sluice::io {

/// A box's part of a field's 64-bit hash: each element's global index and bits are mixed into 64 bits, and the results
/// are added mod 2^64. The hash of the field is the sum of the parts, so it does not depend on how the field is split.
/// Local.
std::uint64_t field_hash(const Box3& box, const Extents& global, std::size_t element_bytes, const void* data);

/// A hash of any bytes, chained onto `seed`.
std::uint64_t byte_hash(std::uint64_t seed, const void* data, std::size_t bytes);

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

/// The hash at the end of a file, not verified; nullopt if the file has no hash or cannot be read. Local.
std::optional<std::uint64_t> stored_metadata_hash(const std::string& path);

}  // namespace sluice::io
