#pragma once
// XDMF: small XML files that let ParaView open our HDF5 files as cell data on a rectilinear grid.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/files/checkpoint_format.hpp"

namespace sluice::io {

/// One HDF5 file as XDMF describes it, with /grid/x_node, y_node, z_node and each field at its root.
struct XdmfSnapshot {
  std::string file;  ///< name relative to the XDMF file
  double time = 0;
  StoredFields fields;
};

/// A document with one snapshot.
std::string xdmf_document(const XdmfSnapshot& snapshot);

/// A document with a time series of snapshots.
std::string xdmf_series(const std::string& name, const std::vector<XdmfSnapshot>& snapshots);

/// Three scalars that ParaView shows as one vector.
struct XdmfVector {
  std::string name;
  std::array<std::string, 3> components;  ///< fields
};

/// A document with a time series of snapshots whose values are those at points, the cell centres /grid/x, y and z.
/// `vectors`: those of them whose components a snapshot has.
std::string xdmf_points_series(const std::string& name, const std::vector<XdmfSnapshot>& snapshots,
                               const std::vector<XdmfVector>& vectors);

/// The path with the extension .xdmf.
std::string xdmf_path(const std::string& path);

}  // namespace sluice::io
