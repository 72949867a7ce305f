#pragma once
// Reads YAML files other than cases: a few keys, without a table of them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// The keys of one map of a file, each read once. Reports what is wrong in `problems`, and then returns nothing or
/// less.
class MapReader {
 public:
  MapReader(const YamlNode& map, std::string path, Problems& problems);

  std::string path_of(const std::string& key) const;

  /// Null if the key is absent, which is reported if it is required.
  const YamlNode* find(const std::string& key, bool required = true);

  /// None, and a problem, if it is no number or not above `limit`; without a problem if it is absent and not required.
  std::optional<double> number(const std::string& key, bool required = true, double limit = 0, bool above = true);

  /// An integer from 1 on.
  std::optional<std::int64_t> count(const std::string& key, bool required = true);
  std::optional<std::int64_t> count(const YamlNode& node, const std::string& path);

  std::string text(const std::string& key, const std::vector<std::string>& allowed, bool required = true);

  std::optional<bool> boolean(const std::string& key, bool required = true);

  // Lists with at least one value; a single value is a list of one. None, without a problem, if the key is absent.

  /// Texts; all of them `allowed`, unless that is empty.
  std::vector<std::string> texts(const std::string& key, const std::vector<std::string>& allowed);
  std::vector<std::int64_t> counts(const std::string& key);
  std::vector<bool> booleans(const std::string& key);
  /// Lists of `length` integers from 1 on, or a single such list.
  std::vector<std::vector<std::int64_t>> lists_of_counts(const std::string& key, std::size_t length, bool required);

  /// Reports the keys that nothing has asked for.
  void refuse_others();

 private:
  std::string read_text(const YamlNode& node, const std::string& path, const std::vector<std::string>& allowed);
  std::optional<bool> read_boolean(const YamlNode& node, const std::string& path);
  /// Calls read(node, path) for each item of a list, or for what is no list.
  template <class Read>
  void for_each_item(const std::string& key, const Read& read);

  const YamlNode& map_;
  std::string path_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace sluice::io
