#include "io/files/xdmf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "io/case/numbers.hpp"
#include "io/files/file_format.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

namespace {

/// Escapes the five characters that XML reserves.
std::string escaped(const std::string& text) {
  constexpr std::string_view reserved = "&<>\"'";
  constexpr std::array names{"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
  std::string result;
  for (const char c : text) {
    const std::size_t n = reserved.find(c);
    n == std::string_view::npos ? result += c : result += names[n];
  }
  return result;
}

std::string data_item(const std::string& dimensions, std::size_t bytes, const std::string& file,
                      const std::string& path) {
  return fmt::format(
      "<DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"{}\" Format=\"HDF\">{}:{}</DataItem>", dimensions,
      bytes, escaped(file), path);
}

std::string scalar_attribute(const XdmfSnapshot& snapshot, const std::string& field, const char* center,
                             const std::string& dimensions) {
  return fmt::format("  <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"{}\">\n    {}\n  </Attribute>\n",
                     escaped(field), center,
                     data_item(dimensions, h5::bytes_of(snapshot.fields.type), snapshot.file, "/" + field));
}

/// A rectilinear grid up to its coordinates. `dimensions`: of its points.
std::string grid_begin(const std::string& name, double time, const std::string& dimensions) {
  return fmt::format(
      "<Grid Name=\"{}\" GridType=\"Uniform\">\n  <Time Value=\"{}\"/>\n"
      "  <Topology TopologyType=\"3DRectMesh\" Dimensions=\"{}\"/>\n  <Geometry GeometryType=\"VXVYVZ\">\n",
      escaped(name), format_real(time), dimensions);
}

std::string grid_element(const XdmfSnapshot& snapshot, const std::string& name) {
  const auto& [nz, ny, nx] = snapshot.fields.shape;
  std::string text = grid_begin(name, snapshot.time, fmt::format("{} {} {}", nz + 1, ny + 1, nx + 1));
  text += "    " + data_item(std::to_string(nx + 1), 8, snapshot.file, "/grid/x_node") + "\n";
  text += "    " + data_item(std::to_string(ny + 1), 8, snapshot.file, "/grid/y_node") + "\n";
  text += "    " + data_item(std::to_string(nz + 1), 8, snapshot.file, "/grid/z_node") + "\n";
  text += "  </Geometry>\n";
  const std::string dimensions = fmt::format("{} {} {}", nz, ny, nx);
  for (const std::string& field : snapshot.fields.names) text += scalar_attribute(snapshot, field, "Cell", dimensions);
  return text + "</Grid>\n";
}

std::string vector_attribute(const XdmfSnapshot& snapshot, const XdmfVector& vector, const std::string& dimensions) {
  std::string text = fmt::format(
      "  <Attribute Name=\"{}\" AttributeType=\"Vector\" Center=\"Node\">\n"
      "    <DataItem ItemType=\"Function\" Function=\"JOIN($0, $1, $2)\" Dimensions=\"{} 3\">\n",
      escaped(vector.name), dimensions);
  for (const std::string& component : vector.components) {
    text += "      " + data_item(dimensions, h5::bytes_of(snapshot.fields.type), snapshot.file, "/" + component) + "\n";
  }
  return text + "    </DataItem>\n  </Attribute>\n";
}

std::string points_element(const XdmfSnapshot& snapshot, const std::string& name,
                           const std::vector<XdmfVector>& vectors) {
  const auto& [nz, ny, nx] = snapshot.fields.shape;
  const std::string dimensions = fmt::format("{} {} {}", nz, ny, nx);
  std::string text = grid_begin(name, snapshot.time, dimensions);
  for (const auto& [axis, size] : {std::pair("x", nx), std::pair("y", ny), std::pair("z", nz)})
    text += "    " + data_item(std::to_string(size), 8, snapshot.file, std::string("/grid/") + axis) + "\n";
  text += "  </Geometry>\n";
  std::vector<std::string> scalars = snapshot.fields.names;
  const auto has = [&](const std::string& field) {
    return std::ranges::find(snapshot.fields.names, field) != snapshot.fields.names.end();
  };
  for (const XdmfVector& vector : vectors) {
    if (!std::ranges::all_of(vector.components, has)) continue;
    text += vector_attribute(snapshot, vector, dimensions);
    std::erase_if(scalars, [&](const std::string& field) {
      return std::ranges::find(vector.components, field) != vector.components.end();
    });
  }
  for (const std::string& field : scalars) text += scalar_attribute(snapshot, field, "Node", dimensions);
  return text + "</Grid>\n";
}

/// A sample of a plane.
std::string sample_element(const XdmfPlane& plane, const XdmfSamples& part, std::size_t sample) {
  const auto& [nz, ny, nx] = plane.fields.shape;
  const std::string dimensions = fmt::format("{} {} {}", nz, ny, nx);
  std::string text = grid_begin(plane.name, part.time[sample], dimensions);
  for (const auto& [line, size] : {std::pair(plane.lines[2], nx), {plane.lines[1], ny}, {plane.lines[0], nz}})
    text += "    " + data_item(std::to_string(size), 8, part.file, "/" + line) + "\n";
  text += "  </Geometry>\n";
  for (const std::string& field : plane.fields.names) {
    text += fmt::format(
        "  <Attribute Name=\"{0}\" AttributeType=\"Scalar\" Center=\"Node\">\n"
        "    <DataItem ItemType=\"HyperSlab\" Dimensions=\"{1}\">\n"
        "      <DataItem Dimensions=\"3 4\" NumberType=\"Int\" Format=\"XML\">{2} 0 0 0  1 1 1 1  1 {1}</DataItem>\n"
        "      {3}\n    </DataItem>\n  </Attribute>\n",
        escaped(field), dimensions, sample,
        data_item(fmt::format("{} {}", part.time.size(), dimensions), h5::bytes_of(plane.fields.type), part.file,
                  "/" + field));
  }
  return text + "</Grid>\n";
}

/// The comment distinguishes our files from those of other tools.
constexpr std::string_view beginning = "<?xml version=\"1.0\"?>\n<!-- Sluice -->\n<Xdmf Version=\"2.0\">\n";

std::string document(const std::string& content) {
  return std::string(beginning) + "<Domain>\n" + content + "</Domain>\n</Xdmf>\n";
}

/// Empty without grids.
std::string series(const std::string& name, const std::string& grids) {
  if (grids.empty()) return {};
  return document(fmt::format("<Grid Name=\"{}\" GridType=\"Collection\" CollectionType=\"Temporal\">\n{}</Grid>\n",
                              escaped(name), grids));
}

}  // namespace

std::string xdmf_document(const XdmfSnapshot& snapshot) {
  return document(grid_element(snapshot, "flow"));
}

std::string xdmf_points_series(const std::string& name, const std::vector<XdmfSnapshot>& snapshots,
                               const std::vector<XdmfVector>& vectors) {
  std::string grids;
  for (const XdmfSnapshot& snapshot : snapshots) grids += points_element(snapshot, name, vectors);
  return series(name, grids);
}

std::string xdmf_plane(const XdmfPlane& plane) {
  std::string grids;
  for (const XdmfSamples& part : plane.parts) {
    for (std::size_t sample = 0; sample < part.time.size(); ++sample) grids += sample_element(plane, part, sample);
  }
  return series(plane.name, grids);
}

void write_xdmf(const std::string& path, const std::string& document) {
  if (document.empty()) {
    if (is_xdmf_of_ours(path)) remove_file(path);
  } else {
    write_atomically(path, document);
  }
}

bool is_xdmf_of_ours(const std::string& path) {
  const std::string bytes = first_bytes(path, beginning.size());
  return bytes.empty() || bytes == beginning;
}

std::string xdmf_path(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".xdmf").string();
}

}  // namespace sluice::io
