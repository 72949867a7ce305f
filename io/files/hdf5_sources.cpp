// Where the elements of a dataset are: in the file itself, in chunks, in other HDF5 files or in plain external files.
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "io/files/hdf5.hpp"

namespace sluice::io::h5 {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void incomplete(const Dataset& dataset, const std::string& why) {
  throw Error(dataset.context().code,
              fmt::format("{}: the dataset {} is not complete: {}. HDF5 would read other values there, usually zeros; "
                          "put back what is missing, or write the file again",
                          dataset.context().path, dataset.name(), why));
}

/// Calls an HDF5 function that fills a buffer with a text and returns its length.
template <class Get>
std::string text_from(const Dataset& dataset, const Get& get) {
  const ssize_t length = get(nullptr, 0);
  if (length < 0) dataset.context().fail("examine dataset " + dataset.name());
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  get(text.data(), text.size());
  text.resize(length);
  return text;
}

/// The path of a file to which a dataset refers; `prefix`: what HDF5 puts before relative ones.
fs::path referred(const std::string& name, const std::string& prefix) {
  return fs::path(name).is_absolute() || prefix.empty() ? fs::path(name) : fs::path(prefix) / name;
}

/// Plain files with its elements: HDF5 takes those beyond their ends as zeros.
void require_external_files(const Dataset& dataset, hid_t properties, hid_t access) {
  const std::string prefix =
      text_from(dataset, [&](char* text, std::size_t size) { return H5Pget_efile_prefix(access, text, size); });
  for (int n = 0; n < H5Pget_external_count(properties); ++n) {
    std::string name(4096, '\0');
    off_t offset = 0;
    hsize_t bytes = 0;
    if (H5Pget_external(properties, static_cast<unsigned>(n), name.size() - 1, name.data(), &offset, &bytes) < 0)
      dataset.context().fail("examine dataset " + dataset.name());
    const fs::path file = referred(name.c_str(), prefix);
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file, error);
    if (error)
      incomplete(dataset,
                 fmt::format("its values are in {}, which cannot be read: {}", file.string(), error.message()));
    const hsize_t needed = bytes == H5F_UNLIMITED ? H5Dget_storage_size(dataset.id()) : bytes;
    if (size < offset + needed)
      incomplete(dataset, fmt::format("its values are in {}, which is too short: {} bytes, not {}", file.string(), size,
                                      offset + needed));
  }
}

/// A chunk that was never written has no place in the file.
void require_chunks(const Dataset& dataset, hid_t properties) {
  const Shape shape = dataset.shape();
  std::vector<hsize_t> chunk(shape.size());
  if (H5Pget_chunk(properties, static_cast<int>(chunk.size()), chunk.data()) < 0)
    dataset.context().fail("examine dataset " + dataset.name());
  hsize_t expected = 1;
  for (std::size_t n = 0; n < shape.size(); ++n) expected *= (shape[n] + chunk[n] - 1) / chunk[n];
#if H5_VERSION_GE(1, 10, 5)
  hsize_t found = 0;
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  if (H5Dget_num_chunks(dataset.id(), space.get(), &found) < 0)
    dataset.context().fail("examine dataset " + dataset.name());
  if (found < expected) incomplete(dataset, fmt::format("{} of its {} chunks were written", found, expected));
#endif
}

/// One of the selections that a virtual dataset joins.
struct Mapping {
  std::string file;     ///< as the dataset names it
  std::string dataset;  ///< in that file
  Handle space;         ///< of the virtual dataset, with the elements selected
  Handle source;        ///< likewise of the source
};

std::vector<Mapping> mappings_of(const Dataset& dataset, hid_t properties) {
  std::size_t count = 0;
  if (H5Pget_virtual_count(properties, &count) < 0) dataset.context().fail("examine dataset " + dataset.name());
  std::vector<Mapping> mappings;
  for (std::size_t n = 0; n < count; ++n) {
    mappings.push_back(
        {text_from(dataset,
                   [&](char* text, std::size_t size) { return H5Pget_virtual_filename(properties, n, text, size); }),
         text_from(dataset,
                   [&](char* text, std::size_t size) { return H5Pget_virtual_dsetname(properties, n, text, size); }),
         Handle(H5Pget_virtual_vspace(properties, n), H5Sclose),
         Handle(H5Pget_virtual_srcspace(properties, n), H5Sclose)});
  }
  return mappings;
}

fs::path source_path(const Dataset& dataset, const Mapping& mapping) {
  const fs::path& own = dataset.context().path;
  return mapping.file == "." ? own : own.parent_path() / mapping.file;  // an absolute name replaces the folder
}

/// The source has all elements that are taken from it.
void require_source(const Dataset& dataset, const Mapping& mapping) {
  const fs::path file = source_path(dataset, mapping);
  const std::string what = fmt::format("it takes values from {} in {}", mapping.dataset, file.string());
  if (mapping.file.find('%') != std::string::npos || mapping.dataset.find('%') != std::string::npos)
    incomplete(dataset, what + ", one of a series of sources that cannot be checked");
  try {
    const File opened = File::open(file.string(), dataset.context().code);
    const Dataset source = opened.dataset(mapping.dataset);
    const Shape shape = source.shape();
    std::vector<hsize_t> first(shape.size());
    std::vector<hsize_t> last(shape.size());
    const bool same_rank = H5Sget_simple_extent_ndims(mapping.source.get()) == static_cast<int>(shape.size());
    bool fits = same_rank && (H5Sget_select_type(mapping.source.get()) == H5S_SEL_ALL ||
                              H5Sget_select_bounds(mapping.source.get(), first.data(), last.data()) >= 0);
    for (std::size_t n = 0; fits && n < shape.size(); ++n) fits = last[n] < static_cast<hsize_t>(shape[n]);
    if (!fits) incomplete(dataset, what + ", which has fewer values");
    source.require_complete();
  } catch (const Error& error) {
    incomplete(dataset, fmt::format("{}: {}", what, error.what()));
  }
}

void require_sources(const Dataset& dataset, hid_t properties) {
  hssize_t covered = 0;  // counted twice where mappings overlap, as no writer lets them
  for (const Mapping& mapping : mappings_of(dataset, properties)) {
    if (source_path(dataset, mapping) != fs::path(dataset.context().path) || mapping.dataset != dataset.name())
      require_source(dataset, mapping);
    covered += H5Sget_select_npoints(mapping.space.get());
  }
  const hssize_t elements = elements_of(dataset.shape());
  if (covered < elements)
    incomplete(dataset, fmt::format("it takes {} of its {} values from other datasets; the rest are not stored",
                                    covered, elements));
}

Handle properties_of(const Dataset& dataset) {
  return {H5Dget_create_plist(dataset.id()), H5Pclose};
}

}  // namespace

void Dataset::require_complete() const {
  const Handle properties = properties_of(*this);
  switch (H5Pget_layout(properties.get())) {
    case H5D_VIRTUAL:
      return require_sources(*this, properties.get());
    case H5D_CHUNKED:
      return require_chunks(*this, properties.get());
    case H5D_CONTIGUOUS:
      if (H5Pget_external_count(properties.get()) > 0) {
        const Handle access(H5Dget_access_plist(id()), H5Pclose);
        return require_external_files(*this, properties.get(), access.get());
      }
      if (H5Dget_storage_size(id()) == 0) incomplete(*this, "its values were never written");
      return;
    case H5D_COMPACT:
      return;
    default:
      context().fail("examine dataset " + name());
  }
}

std::vector<VirtualPart> Dataset::virtual_parts() const {
  const Handle properties = properties_of(*this);
  if (H5Pget_layout(properties.get()) != H5D_VIRTUAL) return {};
  std::vector<VirtualPart> parts;
  hsize_t row = 0;
  for (const Mapping& mapping : mappings_of(*this, properties.get())) {
    const std::size_t rank = shape().size();
    std::vector<hsize_t> first(rank);
    std::vector<hsize_t> last(rank);
    if (rank == 0 || H5Sget_select_bounds(mapping.space.get(), first.data(), last.data()) < 0 || first[0] != row ||
        mapping.dataset != name()) {
      throw Error(context().code, fmt::format("{}: the dataset {} is damaged: it does not hold its parts in order",
                                              context().path, name()));
    }
    parts.push_back({mapping.file, static_cast<std::int64_t>(last[0] - first[0] + 1)});
    row = last[0] + 1;
  }
  return parts;
}

}  // namespace sluice::io::h5
