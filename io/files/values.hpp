#pragma once
// Named values: the scalars, texts and small tables stored in a file beside the fields.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/support/error.hpp"

namespace sluice::io {

namespace h5 {
class File;
class Group;
}  // namespace h5

using Value = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

/// A set of named values, sorted by name. Doubles are stored bit for bit, NaN included. A pure value.
class Values {
 public:
  /// The attribute of a group with the hash of its values; no value has this name.
  static constexpr const char* hash_name = "values_hash";

  void set(const std::string& name, Value value) { values_[name] = std::move(value); }

  bool has(const std::string& name) const { return values_.count(name) != 0; }

  /// The value of that name. Throws Error(restart) if it is missing or of another type.
  std::int64_t integer(const std::string& name) const { return get<std::int64_t>(name, "an integer"); }
  double real(const std::string& name) const { return get<double>(name, "a real number"); }
  const std::string& text(const std::string& name) const { return get<std::string>(name, "a text"); }
  const std::vector<std::int64_t>& integers(const std::string& name) const {
    return get<std::vector<std::int64_t>>(name, "a list of integers");
  }
  const std::vector<double>& reals(const std::string& name) const {
    return get<std::vector<double>>(name, "a list of real numbers");
  }

  const std::map<std::string, Value>& all() const { return values_; }
  std::uint64_t hash() const;  ///< of names, types and bits

  /// Name used in messages about a missing value: "FILE, group /state".
  void set_origin(std::string origin) { origin_ = std::move(origin); }
  friend bool operator==(const Values& a, const Values& b) { return a.hash() == b.hash(); }

 private:
  [[noreturn]] void missing(const std::string& name, const char* kind) const;

  template <typename T>
  const T& get(const std::string& name, const char* kind) const {
    const auto found = values_.find(name);
    if (found == values_.end()) missing(name, kind);
    const T* value = std::get_if<T>(&found->second);
    if (value == nullptr) missing(name, kind);
    return *value;
  }

  std::map<std::string, Value> values_;
  std::string origin_ = "a set of values";
};

/// The values of several groups, in the order in which a file gets them.
using ValueGroups = std::vector<std::pair<std::string, Values>>;

/// Writes scalars and texts as attributes of the group, lists as one-dimensional datasets in it, and a hash of all as
/// the attribute `values_hash`. Creates the group unless it is the root. Local.
void write_values(h5::File& file, const std::string& group, const Values& values);

/// True if write_values made the group. Local.
bool holds_values(const h5::Group& group);

/// Whether to read the lists of a group, which may be large.
enum class Lists { read, skip };

/// Reads them and verifies the hash; without the lists, which it covers, the hash is not verified. Does not look for
/// lists in the root, which holds the fields. Local. Throws the file's error, and Error(restart) if the hash differs.
Values read_values(const h5::File& file, const std::string& group, Lists lists = Lists::read);

}  // namespace sluice::io
