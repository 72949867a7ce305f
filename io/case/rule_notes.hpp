#pragma once
#include <string>
#include <string_view>

#include "io/case/problems.hpp"
#include "io/case/yaml_tree.hpp"

namespace sluice::io {

/// Reports what a rule between keys finds, at the place of the key that it names.
class RuleNotes {
 public:
  RuleNotes(const YamlNode& root, Problems& problems) : root_(root), problems_(problems) {}

  void add(const std::string& path, const std::string& what) { problems_.add(place_of(path), path, what); }

 private:
  /// Place of the key or, if it is absent, of the nearest enclosing section in the file.
  Place place_of(std::string_view path) const;

  const YamlNode& root_;
  Problems& problems_;
};

}  // namespace sluice::io
