#pragma once
// Datasets with a description and a hash of their values, which readers verify.
#include <cstdint>
#include <string>
#include <vector>

#include "io/files/checkpoint_format.hpp"
#include "io/files/dimension_scales.hpp"
#include "io/files/field_hash.hpp"
#include "io/files/hdf5.hpp"

namespace sluice::io {

template <typename T>
h5::Dataset write_array(h5::File& file, const std::string& path, const h5::Shape& shape, const std::vector<T>& data,
                        const std::string& long_name, const std::string& units) {
  h5::Dataset dataset = file.write_dataset(path, shape, h5::type_of<T>, data.data());
  dataset.set("long_name", long_name);
  dataset.set("units", units);
  dataset.set(format::hash, byte_hash(0, data.data(), data.size() * sizeof(T)));
  return dataset;
}

/// A coordinate.
template <typename T>
void write_scale(h5::File& file, const std::string& path, const std::vector<T>& line, const std::string& long_name) {
  h5::Dataset dataset = write_array(file, path, {static_cast<std::int64_t>(line.size())}, line, long_name, "1");
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
