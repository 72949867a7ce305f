#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/flow/field_descriptor.hpp"
#include "io/files/checkpoint_format.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/plane.hpp"
#include "io/files/xdmf.hpp"

namespace sluice::io {

/// What all snapshots of a slice have in common.
struct SliceDescription {
  std::string directory;  ///< created if missing
  std::string label;      ///< "z0.083"
  char normal = 'z';
  double at = 0;  ///< the coordinate asked for; the cell's own coordinates are in the file
  Provenance provenance;
  Precision precision = Precision::double_;  ///< of the stored fields
};

struct SliceField {
  FieldDescriptor descriptor;
  std::vector<double> values;  ///< from gather_plane
};

struct SliceSnapshot {
  std::int64_t step = 0;
  double time = 0;
  GridLines grid;  ///< from plane_of: one cell along the normal
  std::vector<SliceField> fields;
};

/// Snapshots of one plane: DIR/LABEL_0001200.h5, fields of shape (nz, ny, nx) with extent 1 along the normal,
/// and DIR/LABEL.xdmf that strings them together in time. Both are replaced atomically. For rank 0 alone;
/// local. Throws Error(io).
class SliceSeries {
 public:
  /// Removes the label's snapshots after `restart_step`, or all of them without it, and begins LABEL.xdmf
  /// with the others.
  explicit SliceSeries(SliceDescription description, std::optional<std::int64_t> restart_step = std::nullopt);

  /// Writes the snapshot's file, then the new LABEL.xdmf. Returns the path of the first.
  std::string write(const SliceSnapshot& snapshot);

 private:
  std::string path_of(std::int64_t step) const;
  std::string xdmf_text() const;
  void take_existing(std::int64_t restart_step);
  void fill(h5::File& file, const SliceSnapshot& snapshot) const;

  SliceDescription description_;
  std::vector<XdmfSnapshot> snapshots_;
};

}  // namespace sluice::io
