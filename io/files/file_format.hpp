#pragma once
// What Sluice's HDF5 files have in common, and which files Sluice wrote: a run removes and renames no others.
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/hdf5.hpp"
#include "io/files/local_block.hpp"
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
inline constexpr const char* slice = "Sluice slice";  // of earlier versions, one time each
inline constexpr const char* fields = "Sluice fields";
inline constexpr const char* probe = "Sluice probe";
inline constexpr const char* probe_part = "Sluice probe part";
inline constexpr std::int64_t version = 1;
inline constexpr const char* hash = "hash";  ///< attribute of a dataset: its field_hash

}  // namespace format

/// The attributes of a file's root: format, format_version, sluice_version, git_revision, resolved_case.
Values root_values(const char* format, const Provenance& provenance);

/// Reads them. Local. Throws Error(restart) for a file of another format or of a later version.
Values check_root(const h5::File& file, const char* format);

/// What a checkpoint must hold: the fields by name ("u"), with their hashes, and the groups of values by path
/// ("/state"), which have their own. The writer records it in the root, so that a part that is missing, or has the name
/// of another, is found. Older files do not record it; the fields then have no hashes here.
using Contents = std::map<std::string, std::optional<std::uint64_t>>;

/// The root attribute with a line for each part: its name, and the hash of a field.
void set_contents(Values& root, const Contents& contents);

/// Local. Throws Error(restart) if a part is missing. `root`: from check_root.
Contents read_contents(const h5::File& file, const Values& root);

/// The three-dimensional datasets of these names in a file's root, all of one shape and type.
struct StoredFields {
  Extents shape{};  ///< nz, ny, nx
  h5::Type type = h5::Type::float64;
  std::vector<std::string> names;
};

/// Local. Throws Error(restart) if the fields differ in shape.
StoredFields stored_fields(const h5::File& file, const std::vector<std::string>& names);

/// The dataset of a field in a file's root. Local. If there is none, throws Error(restart), which says what the file
/// has and ends with `remedy`, a sentence.
h5::Dataset field_of(const h5::File& file, const std::string& name, const std::string& remedy);

/// The field_hash of the pieces [begin, end) of a stored field, read one at a time. Local.
std::uint64_t hash_of_pieces(const h5::Dataset& dataset, const PieceLayout& layout, std::int64_t begin,
                             std::int64_t end);

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
