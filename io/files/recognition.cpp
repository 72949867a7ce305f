#include "io/files/recognition.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "io/files/hdf5.hpp"
#include "io/files/metadata_hash.hpp"

namespace sluice::io {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view hdf5_signature{"\x89HDF\r\n\x1a\n", 8};

bool is_regular(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

std::string first_bytes(const std::string& path, std::size_t count) {
  if (!is_regular(path)) return "";
  std::string bytes(count, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

Origin origin_of(const std::string& path, std::initializer_list<const char*> formats) {
  if (!is_regular(path)) return Origin::foreign;
  if (first_bytes(path, hdf5_signature.size()) != hdf5_signature) return Origin::unreadable;
  try {
    const h5::File file = h5::File::open(path, ExitCode::restart);
    const h5::Group root = file.group("/");
    const bool known = root.has("format") && std::ranges::count(formats, root.text("format")) > 0;
    return known ? Origin::ours : Origin::foreign;
  } catch (const Error&) {
    return Origin::damaged;  // says enough; whoever reads the file reports what is wrong with it
  }
}

bool is_ours(const std::string& path, std::initializer_list<const char*> formats) {
  const Origin origin = origin_of(path, formats);
  return origin == Origin::ours || (origin == Origin::damaged && stored_metadata_hash(path));
}

bool is_foreign(const std::string& path, std::initializer_list<const char*> formats) {
  return origin_of(path, formats) == Origin::foreign;
}

bool is_unfinished_hdf5(const std::string& path) {
  const std::string bytes = first_bytes(path, hdf5_signature.size());
  const bool empty = std::ranges::all_of(bytes, [](char c) { return c == '\0'; });  // HDF5 writes its beginning last
  return is_regular(path) && (empty || bytes == hdf5_signature);
}

}  // namespace sluice::io
