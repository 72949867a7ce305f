#pragma once
// XDMF: small XML files that let ParaView open our HDF5 files as cells or points of rectilinear grids.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/files/file_format.hpp"

namespace sluice::io {

/// One HDF5 file as XDMF describes it, with /grid/x_node, y_node, z_node and each field at its root.
struct XdmfSnapshot {
  std::string file;  ///< name relative to the XDMF file
  double time = 0;
  StoredFields fields;
};

/// A document with one snapshot.
std::string xdmf_document(const XdmfSnapshot& snapshot);

/// Three scalars that ParaView shows as one vector.
struct XdmfVector {
  std::string name;
  std::array<std::string, 3> components;  ///< fields
};

// The documents of series are empty texts if there is no time: ParaView's reader crashes on a series without times.

/// A document with a time series of snapshots whose values are those at points, the cell centres /grid/x, y and z.
/// `vectors`: those of them whose components a snapshot has.
std::string xdmf_points_series(const std::string& name, const std::vector<XdmfSnapshot>& snapshots,
                               const std::vector<XdmfVector>& vectors);

/// An HDF5 file with fields (samples, nz, ny, nx) at its root.
struct XdmfSamples {
  std::string file;  ///< name relative to the XDMF file
  std::vector<double> time;
};

/// Fields of one shape at points, with their samples in several files.
struct XdmfPlane {
  std::string name;
  std::array<std::string, 3> lines;  ///< datasets of the points' coordinates along z, y and x
  StoredFields fields;
  std::vector<XdmfSamples> parts;
};

/// A document with all samples as a time series. Each field of a sample is a hyperslab of the dataset.
std::string xdmf_plane(const XdmfPlane& plane);

/// Writes a document to a file atomically; removes the file if the document is empty. Throws Error(io).
void write_xdmf(const std::string& path, const std::string& document);
/// Whether a file begins as these documents do, or a killed run has written nothing to it yet. Local.
bool is_xdmf_of_ours(const std::string& path);

/// The path with the extension .xdmf.
std::string xdmf_path(const std::string& path);

}  // namespace sluice::io
