#include "io/files/array_dataset.hpp"

#include <hdf5.h>

#include <map>
#include <utility>

#include "io/files/hdf5.hpp"

namespace sluice::io {

namespace {

using h5::Handle;

void write_list(h5::Dataset& dataset, const char* name, std::int64_t stored, std::int64_t memory, std::size_t size,
                const void* data) {
  const hsize_t extent = size;
  dataset.write_attribute(name, Handle(H5Screate_simple(1, &extent, nullptr), H5Sclose), stored, memory, data);
}

/// Here, unlike elsewhere, the specification requires fixed-length strings.
void set_fixed_text(h5::Dataset& dataset, const char* name, const std::string& value) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), value.size() + 1);
  dataset.write_attribute(name, Handle(H5Screate(H5S_SCALAR), H5Sclose), type.get(), type.get(), value.c_str());
}

hobj_ref_t reference_to(const h5::Object& object) {
  hobj_ref_t reference = 0;
  if (H5Rcreate(&reference, object.id(), ".", H5R_OBJECT, -1) < 0) object.context().fail("refer to " + object.name());
  return reference;
}

void set_dimension_list(h5::Dataset& dataset, std::vector<hobj_ref_t> scales) {
  std::vector<hvl_t> lists;
  for (hobj_ref_t& scale : scales) lists.push_back({1, &scale});
  const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
  write_list(dataset, "DIMENSION_LIST", type.get(), type.get(), lists.size(), lists.data());
}

void set_labels(h5::Dataset& dataset, const std::vector<std::string>& labels) {
  std::vector<const char*> characters;
  for (const std::string& label : labels) characters.push_back(label.c_str());
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  write_list(dataset, "DIMENSION_LABELS", type.get(), type.get(), characters.size(), characters.data());
}

/// An element of a coordinate's list of datasets that use it.
struct Use {
  hobj_ref_t dataset;
  int dimension;
};

void set_reference_list(h5::Dataset& scale, const std::vector<Use>& uses) {
  const Handle memory(H5Tcreate(H5T_COMPOUND, sizeof(Use)), H5Tclose);
  H5Tinsert(memory.get(), "dataset", offsetof(Use, dataset), H5T_STD_REF_OBJ);
  H5Tinsert(memory.get(), "dimension", offsetof(Use, dimension), H5T_NATIVE_INT);
  const Handle stored(H5Tcopy(memory.get()), H5Tclose);
  H5Tpack(stored.get());
  write_list(scale, "REFERENCE_LIST", stored.get(), memory.get(), uses.size(), uses.data());
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

void make_dimension_scale(h5::Dataset& dataset, const std::string& name) {
  set_fixed_text(dataset, "CLASS", "DIMENSION_SCALE");
  set_fixed_text(dataset, "NAME", name);
}

std::vector<std::string> dimension_labels(const h5::Dataset& dataset) {
  if (!dataset.has("DIMENSION_LABELS")) return {};
  const Handle attribute(H5Aopen(dataset.id(), "DIMENSION_LABELS", H5P_DEFAULT), H5Aclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count < 0 || H5Tis_variable_str(type.get()) <= 0) dataset.context().fail("read the axes of " + dataset.name());
  std::vector<char*> texts(count, nullptr);
  if (H5Aread(attribute.get(), type.get(), static_cast<void*>(texts.data())) < 0)
    dataset.context().fail("read the axes of " + dataset.name());
  std::vector<std::string> labels;
  for (const char* text : texts) labels.emplace_back(text == nullptr ? "" : text);
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, static_cast<void*>(texts.data()));
  return labels;
}

void DimensionScales::write(h5::File& file) const {
  std::map<std::string, std::vector<Use>> uses;
  for (const auto& [path, attached] : scales_) {
    h5::Dataset dataset = file.dataset(path);
    std::vector<hobj_ref_t> scales;
    std::vector<std::string> labels;
    for (const std::string& scale : attached) {
      uses[scale].push_back({reference_to(dataset), static_cast<int>(scales.size())});
      scales.push_back(reference_to(file.dataset(scale)));
      labels.push_back(last_part(scale));
    }
    set_dimension_list(dataset, std::move(scales));
    set_labels(dataset, labels);
  }
  for (const auto& [path, users] : uses) {
    h5::Dataset scale = file.dataset(path);
    set_reference_list(scale, users);
  }
}

}  // namespace sluice::io
