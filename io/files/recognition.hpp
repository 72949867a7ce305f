#pragma once
// Which files Sluice wrote. A run removes and renames no others.
#include <initializer_list>
#include <string>

namespace sluice::io {

/// What a file with the name of an HDF5 file of ours is. Links are followed.
enum class Origin {
  ours,        ///< an HDF5 file of one of the formats asked for
  damaged,     ///< it begins as an HDF5 file, but cannot be read
  unreadable,  ///< it does not even begin as an HDF5 file: another file, or one of ours overwritten from its beginning
  foreign,     ///< an HDF5 file of another format, or no regular file
};

/// `formats`: of namespace format. Local; does not throw.
Origin origin_of(const std::string& path, std::initializer_list<const char*> formats);

/// Whether Sluice wrote a file whose name users choose: others may have files with names of that pattern.
bool is_ours(const std::string& path, std::initializer_list<const char*> formats);

/// Whether a file with a fixed name of ours, such as step_0001200.h5, is certainly not one of ours.
bool is_foreign(const std::string& path, std::initializer_list<const char*> formats);

/// Whether a file that a killed run may have left unfinished begins as an HDF5 file or has no content yet.
bool is_unfinished_hdf5(const std::string& path);

/// The first bytes of a regular file, at most `count`; "" if there is none.
std::string first_bytes(const std::string& path, std::size_t count);

}  // namespace sluice::io
