#include "io/files/grid_lines.hpp"

#include <utility>

#include "io/files/array_dataset.hpp"
#include "io/files/hashes.hpp"
#include "io/files/hdf5.hpp"

namespace sluice::io {

namespace {

constexpr const char* hash_name = "grid_hash";
constexpr std::array<const char*, 3> axis_names{"x", "y", "z"};
constexpr std::array<const char*, 3> directions{"streamwise", "spanwise", "wall-normal"};

void write_line(h5::File& file, const std::string& name, const std::string& meaning, const std::vector<double>& line) {
  const std::string path = "/grid/" + name;
  h5::Dataset dataset = file.write_dataset(path, {std::ssize(line)}, h5::Type::float64, line.data());
  set_meaning(dataset, meaning + " / h", "1");
  make_dimension_scale(dataset, name);
}

/// The coordinates that have a second name in the root.
std::vector<std::string> linked_lines() {
  std::vector<std::string> names;
  for (const char* axis : axis_names) {
    names.emplace_back(axis);
    names.push_back(std::string(axis) + "_face");
  }
  return names;
}

std::uint64_t hash_of(const GridLines& grid) {
  std::uint64_t hash = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const auto* line : {&grid.center[axis], &grid.face[axis], &grid.node[axis]}) {
      hash = byte_hash(hash, line->data(), line->size() * sizeof(double));
    }
  }
  return hash;
}

}  // namespace

Extents GridLines::shape() const {
  return {std::ssize(center[2]), std::ssize(center[1]), std::ssize(center[0])};
}

GridLines grid_lines(std::int64_t nx, double length_x, std::int64_t ny, double length_y, std::vector<double> z_node) {
  const auto uniform = [](std::int64_t n, double length) {
    std::vector<double> node;
    for (std::int64_t i = 0; i <= n; ++i) node.push_back(static_cast<double>(i) * length / static_cast<double>(n));
    return node;
  };
  GridLines grid;
  grid.node = {uniform(nx, length_x), uniform(ny, length_y), std::move(z_node)};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::vector<double>& node = grid.node[axis];
    for (std::size_t n = 0; n + 1 < node.size(); ++n) grid.center[axis].push_back((node[n] + node[n + 1]) / 2);
    grid.face[axis].assign(node.begin() + 1, node.end());
  }
  return grid;
}

void write_grid_lines(h5::File& file, const GridLines& grid) {
  h5::Group group = file.create_group("/grid");
  group.set(hash_name, hash_of(grid));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string name = axis_names[axis];
    const std::string direction = directions[axis];
    write_line(file, name, direction + " coordinate of cell centres", grid.center[axis]);
    write_line(file, name + "_face", direction + " coordinate of the upper face of each cell", grid.face[axis]);
    write_line(file, name + "_node", direction + " coordinate of all faces", grid.node[axis]);
  }
  for (const std::string& name : linked_lines()) file.link("/grid/" + name, "/" + name);
}

std::vector<std::string> grid_names() {
  std::vector<std::string> names = linked_lines();
  names.emplace_back("grid");
  names.emplace_back("time");
  return names;
}

void write_time(h5::File& file, double time) {
  h5::Dataset dataset = file.write_dataset("/time", {}, h5::Type::float64, &time);
  set_meaning(dataset, "time of the fields / (h/U)", "1");
}

GridLines read_grid_lines(const h5::File& file) {
  GridLines grid;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string name = axis_names[axis];
    const auto read = [&](const std::string& line) { return file.dataset("/grid/" + line).values<double>(); };
    grid.center[axis] = read(name);
    grid.face[axis] = read(name + "_face");
    grid.node[axis] = read(name + "_node");
  }
  bool fit = true;  // forged files may have the right hash
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t n = grid.center[axis].size();
    fit = fit && n > 0 && grid.face[axis].size() == n && grid.node[axis].size() == n + 1;
  }
  if (!fit || file.group("/grid").hash(hash_name) != hash_of(grid)) {
    throw Error(file.context().code, file.path() + ": the coordinates in group /grid are damaged");
  }
  return grid;
}

std::vector<std::string> coordinates_of(Location location) {
  return {location == Location::z_face ? "/grid/z_face" : "/grid/z",
          location == Location::y_face ? "/grid/y_face" : "/grid/y",
          location == Location::x_face ? "/grid/x_face" : "/grid/x"};
}

}  // namespace sluice::io
