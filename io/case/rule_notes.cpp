#include "io/case/rule_notes.hpp"

#include <algorithm>

#include "io/case/numbers.hpp"

namespace sluice::io {

Place RuleNotes::place_of(std::string_view path) const {
  const YamlNode* node = &root_;
  Place place;
  while (!path.empty()) {
    const auto end = std::min(path.find_first_of(".["), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(end);
    if (part.ends_with(']')) {
      const auto index = parse_integer(part.substr(0, part.size() - 1)).value_or(0);
      if (static_cast<std::size_t>(index) >= node->items.size()) break;
      node = &node->items[static_cast<std::size_t>(index)];
    } else {
      const YamlEntry* entry = node->find_entry(part);
      if (entry == nullptr) break;
      node = &entry->value;
      place = entry->place;
    }
    if (node->kind == YamlNode::Kind::scalar) place = node->place;
    if (!path.empty()) path.remove_prefix(1);
  }
  return place;
}

}  // namespace sluice::io
