#include "io/files/xdmf.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "io/case/numbers.hpp"

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

std::string grid_element(const XdmfSnapshot& snapshot, const std::string& name) {
  const auto& [nz, ny, nx] = snapshot.fields.shape;
  std::string text = fmt::format("<Grid Name=\"{}\" GridType=\"Uniform\">\n", escaped(name));
  text += fmt::format("  <Time Value=\"{}\"/>\n", format_real(snapshot.time));
  text += fmt::format("  <Topology TopologyType=\"3DRectMesh\" Dimensions=\"{} {} {}\"/>\n", nz + 1, ny + 1, nx + 1);
  text += "  <Geometry GeometryType=\"VXVYVZ\">\n";
  text += "    " + data_item(std::to_string(nx + 1), 8, snapshot.file, "/grid/x_node") + "\n";
  text += "    " + data_item(std::to_string(ny + 1), 8, snapshot.file, "/grid/y_node") + "\n";
  text += "    " + data_item(std::to_string(nz + 1), 8, snapshot.file, "/grid/z_node") + "\n";
  text += "  </Geometry>\n";
  const std::string dimensions = fmt::format("{} {} {}", nz, ny, nx);
  for (const std::string& field : snapshot.fields.names) {
    text += fmt::format("  <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Cell\">\n", escaped(field));
    text += "    " + data_item(dimensions, h5::bytes_of(snapshot.fields.type), snapshot.file, "/" + field) + "\n";
    text += "  </Attribute>\n";
  }
  return text + "</Grid>\n";
}

std::string document(const std::string& content) {
  return "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n<Domain>\n" + content + "</Domain>\n</Xdmf>\n";
}

}  // namespace

std::string xdmf_document(const XdmfSnapshot& snapshot) {
  return document(grid_element(snapshot, "flow"));
}

std::string xdmf_series(const std::string& name, const std::vector<XdmfSnapshot>& snapshots) {
  std::string text =
      fmt::format("<Grid Name=\"{}\" GridType=\"Collection\" CollectionType=\"Temporal\">\n", escaped(name));
  for (const XdmfSnapshot& snapshot : snapshots) text += grid_element(snapshot, name);
  return document(text + "</Grid>\n");
}

std::string xdmf_path(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".xdmf").string();
}

}  // namespace sluice::io
