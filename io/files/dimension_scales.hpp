#pragma once
// Named dimensions: the attributes of the HDF5 Dimension Scales specification, which NetCDF-4, h5py and xarray
// understand. We write them ourselves because equal content must give equal bytes, and records of HDF5's high-level
// library contain uninitialised padding.
#include <string>
#include <utility>
#include <vector>

namespace sluice::io {

namespace h5 {
class Dataset;
class File;
}  // namespace h5

/// Declares a one-dimensional dataset to be a coordinate. Local.
void make_dimension_scale(h5::Dataset& dataset, const std::string& name);

/// Names of a dataset's coordinates, one per dimension; empty if it was written without them. Local.
std::vector<std::string> dimension_labels(const h5::Dataset& dataset);

/// Collects which coordinates belong to which datasets, then writes all of it: a coordinate lists the datasets that use
/// it.
class DimensionScales {
 public:
  /// `scales`: paths of the coordinates, one per dimension. Also labels the dimensions with the coordinates' names.
  void attach(const std::string& dataset, const std::vector<std::string>& scales) {
    scales_.push_back({dataset, scales});
  }
  void write(h5::File& file) const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> scales_;  ///< of each dataset
};

}  // namespace sluice::io
