// Checks DIR/NAME.h5 of a probe or a slice as an HDF5 reader sees it: the part files that its datasets join must exist
// and fit.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "io/files/file_format.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/probe_series.hpp"

namespace sluice::io {

namespace {

/// The parts that all datasets with samples join; `names`: these datasets.
std::vector<h5::VirtualPart> parts_of(const h5::File& joined, std::vector<std::string>& names) {
  std::vector<h5::VirtualPart> parts = joined.dataset("/time").virtual_parts();
  for (const std::string& name : joined.group("/").datasets()) {
    const std::vector<h5::VirtualPart> own = joined.dataset("/" + name).virtual_parts();
    if (own.empty()) continue;  // coordinates
    names.push_back(name);
    const auto is_same = [](const h5::VirtualPart& a, const h5::VirtualPart& b) {
      return a.file == b.file && a.rows == b.rows;
    };
    if (!std::ranges::equal(own, parts, is_same))
      throw Error(ExitCode::restart, fmt::format("{}: the file is damaged: /{} does not join the same parts as /time",
                                                 joined.path(), name));
  }
  return parts;
}

/// A part may have more samples than NAME.h5 lists: a run replaces the part first.
void verify_part(const h5::File& joined, const h5::VirtualPart& part, const std::vector<std::string>& names) {
  const std::string path = (std::filesystem::path(joined.path()).parent_path() / part.file).string();
  const h5::File file = h5::File::open(path, ExitCode::restart);
  verify_probe_part(file);
  if (file.group("/").text("name") != joined.group("/").text("name"))
    throw Error(ExitCode::restart, path + ": it is a part of a different file, not of " + joined.path());
  for (const std::string& name : names) {
    const h5::Shape listed = joined.dataset("/" + name).shape();
    const h5::Shape found = file.has("/" + name) ? file.dataset("/" + name).shape() : h5::Shape();
    const bool fits = !found.empty() && found[0] >= part.rows &&
                      std::equal(found.begin() + 1, found.end(), listed.begin() + 1, listed.end());
    if (!fits)
      throw Error(ExitCode::restart, fmt::format("{}: its /{} is not what {} joins: its shape is ({}), but {} "
                                                 "samples are needed",
                                                 path, name, joined.path(), h5::text_of(found), part.rows));
  }
}

}  // namespace

std::vector<std::string> probe_names() {
  std::vector<std::string> names = grid_names();  // with the time
  names.emplace_back("step");
  return names;
}

std::vector<std::string> problems_of_parts(const h5::File& joined) {
  std::vector<std::string> names;
  std::vector<std::string> problems;
  for (const h5::VirtualPart& part : parts_of(joined, names)) {
    try {
      verify_part(joined, part, names);
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  return problems;
}

}  // namespace sluice::io
