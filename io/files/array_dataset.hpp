#pragma once
// Datasets with a description, a hash of their values, which readers verify, and named dimensions: the attributes of
// the HDF5 Dimension Scales specification, which NetCDF-4, h5py and xarray understand. We write them ourselves because
// equal content must give equal bytes, and records of HDF5's high-level library contain uninitialised padding.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/files/file_format.hpp"
#include "io/files/hashes.hpp"
#include "io/files/hdf5.hpp"

namespace sluice::io {

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

/// What the values are, as xarray and others show it.
inline void set_meaning(h5::Dataset& dataset, const std::string& long_name, const std::string& units) {
  dataset.set("long_name", long_name);
  dataset.set("units", units);
}

template <typename T>
h5::Dataset write_array(h5::File& file, const std::string& path, const h5::Shape& shape, const std::vector<T>& data,
                        const std::string& long_name, const std::string& units) {
  h5::Dataset dataset = file.write_dataset(path, shape, h5::type_of<T>, data.data());
  set_meaning(dataset, long_name, units);
  dataset.set(format::hash, byte_hash(0, data.data(), data.size() * sizeof(T)));
  return dataset;
}

/// A coordinate.
template <typename T>
void write_scale(h5::File& file, const std::string& path, const std::vector<T>& line, const std::string& long_name) {
  h5::Dataset dataset = write_array(file, path, {std::ssize(line)}, line, long_name, "1");
  make_dimension_scale(dataset, path.substr(path.rfind('/') + 1));
}

/// All values. Throws Error(restart) if they do not have their hash.
template <typename T>
std::vector<T> read_array(const h5::File& file, const std::string& path) {
  const h5::Dataset dataset = file.dataset(path);
  std::vector<T> data = dataset.values<T>();
  if (dataset.hash(format::hash) != byte_hash(0, data.data(), data.size() * sizeof(T))) {
    throw Error(ExitCode::restart, file.path() + ": the dataset " + path +
                                       " is damaged: its values do not have the hash that was stored with them");
  }
  return data;
}

}  // namespace sluice::io
