#include "io/files/file_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "io/files/hashes.hpp"
#include "io/files/hdf5.hpp"

namespace sluice::io {

namespace {

constexpr const char* contents_name = "contents";

bool is_group(const std::string& part) {
  return part.starts_with('/');
}

Contents recorded(const std::string& text) {
  Contents contents;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t hash = 0;
    words >> name;
    contents[name] = words >> std::hex >> hash ? std::optional(hash) : std::nullopt;
  }
  return contents;
}

/// The contents of a file that does not record them: what there is, and what every such file must have.
Contents found(const h5::File& file) {
  Contents contents{{"u", {}}, {"v", {}}, {"w", {}}, {"p", {}}, {"/state", {}}};
  for (const std::string& name : file.group("/").datasets()) {
    if (file.dataset("/" + name).shape().size() == 3) contents[name] = std::nullopt;
  }
  for (const std::string& name : file.group("/").groups()) {
    if (holds_values(file.group("/" + name))) contents["/" + name] = std::nullopt;
  }
  return contents;
}

}  // namespace

Values root_values(const char* format, const Provenance& provenance) {
  Values values;
  values.set("format", format);
  values.set("format_version", format::version);
  values.set("sluice_version", provenance.sluice_version);
  values.set("git_revision", provenance.git_revision);
  values.set("resolved_case", provenance.resolved_case);
  return values;
}

Values check_root(const h5::File& file, const char* format) {
  const h5::Group root = file.group("/");
  if (!root.has("format") || root.text("format") != format) {
    throw Error(ExitCode::restart, file.path() + ": this is not a " + format + " file");
  }
  if (root.integer("format_version") > format::version) {
    throw Error(ExitCode::restart, file.path() + ": written by a later version of Sluice (" +
                                       root.text("sluice_version") +
                                       "), in a format that this one does not know; use that version");
  }
  return read_values(file, "/");
}

void set_contents(Values& root, const Contents& contents) {
  std::string text;
  for (const auto& [name, hash] : contents) text += hash ? fmt::format("{} {:016x}\n", name, *hash) : name + "\n";
  root.set(contents_name, text);
}

Contents read_contents(const h5::File& file, const Values& root) {
  Contents contents = root.has(contents_name) ? recorded(root.text(contents_name)) : found(file);
  for (const auto& [name, hash] : contents) {
    const std::string path = is_group(name) ? name : "/" + name;
    const auto fail = [&](const char* problem) {
      throw Error(ExitCode::restart, fmt::format("{}: the file is damaged: the {} {} {}", file.path(),
                                                 is_group(name) ? "group" : "field", name, problem));
    };
    if (!file.has(path)) fail("is missing");
    if (!is_group(name) && file.dataset(path).shape().size() != 3) fail("is not three-dimensional");
  }
  return contents;
}

StoredFields stored_fields(const h5::File& file, const std::vector<std::string>& names) {
  StoredFields fields;
  for (const std::string& name : names) {
    const h5::Dataset dataset = file.dataset("/" + name);
    const h5::Shape shape = dataset.shape();
    if (shape.size() != 3) continue;
    const Extents extents{shape[0], shape[1], shape[2]};
    const h5::Type type = dataset.real_type();
    if (*std::ranges::min_element(extents) < 1)
      throw Error(ExitCode::restart, file.path() + ": the field " + name + " is empty");
    if (!fields.names.empty() && (extents != fields.shape || type != fields.type)) {
      throw Error(ExitCode::restart, file.path() + ": the fields " + fields.names.front() + " and " + name +
                                         " differ in " + (type == fields.type ? "shape" : "precision"));
    }
    fields.shape = extents;
    fields.type = type;
    fields.names.push_back(name);
  }
  return fields;
}

h5::Dataset field_of(const h5::File& file, const std::string& name, const std::string& remedy) {
  if (file.has("/" + name)) return file.dataset("/" + name);
  std::string stored;
  for (const std::string& other : file.group("/").datasets()) {
    if (file.dataset("/" + other).shape().size() == 3) stored += (stored.empty() ? "" : ", ") + other;
  }
  throw Error(ExitCode::restart, file.path() + ": the case needs the field " + name + ", which is not in this file (" +
                                     (stored.empty() ? "it has no fields" : "it has " + stored) + "). " + remedy);
}

std::uint64_t hash_of_pieces(const h5::Dataset& dataset, const PieceLayout& layout, std::int64_t begin,
                             std::int64_t end) {
  dataset.require_stored();
  std::vector<std::byte> buffer(layout.piece_bytes());
  std::uint64_t hash = 0;
  for (std::int64_t n = begin; n < end; ++n) {
    const Box3 box = layout.box(n);
    dataset.read(box, dataset.real_type(), buffer.data());
    const h5::Break others_may_read;
    hash += field_hash(box, layout.global(), layout.element_bytes(), buffer.data());
  }
  return hash;
}

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
  bytes.resize(stream.gcount());
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
