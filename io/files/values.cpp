#include "io/files/values.hpp"

#include "io/files/hashes.hpp"
#include "io/files/hdf5.hpp"

namespace sluice::io {

namespace {

constexpr const char* hash_name = Values::hash_name;

/// Writes an attribute, or a dataset for a list.
struct ValueWriter {
  h5::File& file;
  h5::Group& group;
  const std::string& name;

  template <typename Scalar>
  void operator()(const Scalar& value) const {
    group.set(name, value);
  }
  template <typename T>
  void operator()(const std::vector<T>& list) const {
    const h5::Dataset dataset =
        file.write_dataset(group.name() + "/" + name, {std::ssize(list)}, h5::type_of<T>, list.data());
    if (!list.empty()) file.exclude_from_metadata_hash(dataset);
  }
};

struct ValueHash {
  std::uint64_t seed;

  std::uint64_t operator()(std::int64_t value) const { return byte_hash(seed, &value, sizeof(value)); }
  std::uint64_t operator()(double value) const { return byte_hash(seed, &value, sizeof(value)); }
  std::uint64_t operator()(const std::string& value) const { return byte_hash(seed, value.data(), value.size()); }
  template <typename T>
  std::uint64_t operator()(const std::vector<T>& list) const {
    return byte_hash(seed, list.data(), list.size() * sizeof(T));
  }
};

void read_attributes(const h5::Group& group, Values& values) {
  for (const auto& [name, kind] : group.attributes()) {
    if (name == hash_name) continue;
    if (kind == h5::Object::Kind::text) values.set(name, group.text(name));
    if (kind == h5::Object::Kind::integer) values.set(name, group.integer(name));
    if (kind == h5::Object::Kind::real) values.set(name, group.real(name));
  }
}

void read_lists(const h5::File& file, const h5::Group& group, Values& values) {
  for (const std::string& name : group.datasets()) {
    const h5::Dataset dataset = file.dataset(group.name() + "/" + name);
    if (dataset.shape().size() > 1) continue;
    if (dataset.is_integer()) values.set(name, dataset.values<std::int64_t>());
    if (dataset.is_floating()) values.set(name, dataset.values<double>());
  }
}

}  // namespace

std::uint64_t Values::hash() const {
  std::uint64_t hash = values_.size();
  for (const auto& [name, value] : values_) {
    hash = byte_hash(hash + value.index(), name.data(), name.size());
    hash = std::visit(ValueHash{hash}, value);
  }
  return hash;
}

void Values::missing(const std::string& name, const char* kind) const {
  const char* problem = has(name) ? " is not " : " is missing; expected ";
  throw Error(ExitCode::restart, origin_ + ": the value '" + name + "'" + problem + kind +
                                     ". The file was written by another version of Sluice, or by another program");
}

void write_values(h5::File& file, const std::string& group, const Values& values) {
  h5::Group target = group == "/" ? file.group("/") : file.create_group(group);
  for (const auto& [name, value] : values.all()) std::visit(ValueWriter{file, target, name}, value);
  target.set(hash_name, values.hash());
}

bool holds_values(const h5::Group& group) {
  return group.has(hash_name);
}

Values read_values(const h5::File& file, const std::string& group, Lists lists) {
  const h5::Group source = file.group(group);
  Values values;
  values.set_origin(file.path() + ", group " + group);
  read_attributes(source, values);
  if (lists == Lists::skip) return values;
  if (group != "/") read_lists(file, source, values);
  if (!source.has(hash_name) || source.hash(hash_name) != values.hash()) {
    throw Error(ExitCode::restart, file.path() + ": the values of group " + group +
                                       " are damaged: they do not have the hash that was stored with them");
  }
  return values;
}

}  // namespace sluice::io
