#pragma once
// The coordinates stored in a file, and their names.
#include <array>
#include <string>
#include <vector>

#include "core/decomp/field.hpp"
#include "io/files/local_block.hpp"

namespace sluice::io {

namespace h5 {
class File;
}

/// Coordinates along x, y, z (in this order), in units of the half height h.
struct GridLines {
  std::array<std::vector<double>, 3> center;  ///< n values
  std::array<std::vector<double>, 3> face;    ///< n values: the upper face of each cell
  std::array<std::vector<double>, 3> node;    ///< n + 1 values: all faces, for plotting cells

  Extents shape() const;  ///< nz, ny, nx
  friend bool operator==(const GridLines&, const GridLines&) = default;
};

/// Uniform in x and y, nodes i Lx / nx; any z nodes. Centres are midpoints.
GridLines grid_lines(std::int64_t nx, double length_x, std::int64_t ny, double length_y, std::vector<double> z_node);

/// Writes /grid/x, x_face, x_node and so on, with units and long names. Links the n-value ones as /x, /x_face ... too:
/// tools that know NetCDF look for a dimension beside the data. Local.
void write_grid_lines(h5::File& file, const GridLines& grid);

/// Writes the time of a file's fields as the scalar /time, so that xarray and others put files of a series in order.
void write_time(h5::File& file, double time);

/// The names of all these in the root.
std::vector<std::string> grid_names();

/// Throws the file's error if the coordinates are damaged.
GridLines read_grid_lines(const h5::File& file);

/// The paths of a field's coordinates, slowest first: {"/grid/z", "/grid/y", "/grid/x_face"} for u.
std::vector<std::string> coordinates_of(Location location);

}  // namespace sluice::io
