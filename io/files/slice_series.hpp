#pragma once
// Slices: the files that hold planes of fields.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/flow/field_descriptor.hpp"
#include "io/files/checkpoint_format.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/xdmf.hpp"

namespace sluice::io {

/// The plane of cells `index` normal to an axis (0, 1, 2 for x, y, z) of an array of this shape.
Box3 plane_box(const Extents& global, std::size_t axis, std::int64_t index);

/// The coordinates of a plane of cells: one cell along the axis.
GridLines plane_of(const GridLines& grid, std::size_t axis, std::int64_t index);

/// Common properties of all snapshots of a slice.
struct SliceDescription {
  std::string directory;  ///< created if missing
  std::string label;      ///< "z0.083"
  char normal = 'z';
  double at = 0;  ///< the requested coordinate; the file has the cell's own coordinates
  Provenance provenance;
  h5::Type type = h5::Type::float64;  ///< of the fields: float32 or float64
};

struct SliceField {
  FieldDescriptor descriptor;
  std::vector<std::byte> values;  ///< from gather_box
};

struct SliceSnapshot {
  std::int64_t step = 0;
  double time = 0;
  GridLines grid;  ///< from plane_of: one cell along the normal
  std::vector<SliceField> fields;
};

/// Snapshots of one plane: DIR/LABEL_0001200.h5 with fields of shape (nz, ny, nx), extent 1 along the normal, and
/// DIR/LABEL.xdmf, which makes them a time series. Both are replaced atomically. Rank 0 only; local. Throws Error(io).
class SliceSeries {
 public:
  /// Removes the label's snapshots after `restart_step`, or all of them if it is absent, and starts LABEL.xdmf with the
  /// rest.
  explicit SliceSeries(SliceDescription description, std::optional<std::int64_t> restart_step = std::nullopt);

  /// Writes the snapshot's file, then the new LABEL.xdmf. Returns the snapshot's hash.
  std::int64_t write(const SliceSnapshot& snapshot);

  /// A sentence for each snapshot that the constructor could not read: it is kept, but left out of LABEL.xdmf.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::string path_of(std::int64_t step) const;
  void write_xdmf() const;
  void take_existing(std::int64_t restart_step);
  void fill(h5::File& file, const SliceSnapshot& snapshot) const;

  SliceDescription description_;
  std::vector<XdmfSnapshot> snapshots_;
  std::vector<std::string> warnings_;
};

/// DIRECTORY/LABEL_0001200.h5
std::string slice_path(const std::string& directory, const std::string& label, std::int64_t step);

/// A hash of the fields in a snapshot's file, computed from their names and stored hashes. Local. Throws the file's
/// error.
std::int64_t slice_hash(const h5::File& file);

}  // namespace sluice::io
