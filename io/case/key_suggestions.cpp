// What a user may have meant by a word that is no key.
#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

#include "io/case/keys.hpp"

namespace sluice::io {

namespace {

/// A name that users of other programs and readers of papers try, in lower case, and the keys that it can mean: of the
/// walls those of the bottom wall.
struct Meanings {
  const char* name;
  std::vector<std::string> keys;
};

const std::vector<Meanings>& synonyms() {
  static const std::vector<Meanings> list{
      {"re_tau", {"flow.reynolds.tau", "grid.stretching.re_tau"}},
      {"retau", {"flow.reynolds.tau", "grid.stretching.re_tau"}},
      {"re", {"flow.reynolds.bulk"}},
      {"re_b", {"flow.reynolds.bulk"}},
      {"re_bulk", {"flow.reynolds.bulk"}},
      {"re_c", {"flow.reynolds.center"}},
      {"re_w", {"flow.reynolds.wall"}},
      {"nu", {"flow.reynolds.viscosity"}},
      {"dpdx", {"flow.forcing.pressure_gradient"}},
      {"u_b", {"flow.forcing.bulk_velocity"}},
      {"u_bulk", {"flow.forcing.bulk_velocity"}},
      {"flow_rate", {"flow.forcing.bulk_velocity"}},
      {"mass_flow", {"flow.forcing.bulk_velocity"}},
      {"dp_dx", {"flow.forcing.pressure_gradient"}},
      {"forcing_y", {"flow.spanwise_forcing"}},
      {"pr", {"scalars[].prandtl"}},
      {"sc", {"scalars[].prandtl"}},
      {"schmidt", {"scalars[].prandtl"}},
      {"kappa", {"scalars[].prandtl"}},
      {"diffusivity", {"scalars[].prandtl"}},
      {"temperature", {"scalars[].walls.bottom.value", "scalars"}},
      {"heat_flux", {"scalars[].walls.bottom.flux"}},
      {"heat_source", {"scalars[].source"}},
      {"lower", {"walls.bottom", "scalars[].walls.bottom"}},
      {"upper", {"walls.top", "scalars[].walls.top"}},
      {"length", {"walls.bottom.slip_length", "domain.size"}},
      {"nx", {"grid.cells"}},
      {"ny", {"grid.cells"}},
      {"nz", {"grid.cells"}},
      {"lx", {"domain.size"}},
      {"ly", {"domain.size"}},
      {"lz", {"domain.size"}},
      {"t_end", {"time.end"}},
      {"nsteps", {"time.steps"}},
  };
  return list;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// A key of the bottom wall as that of the wall which the section belongs to.
std::string on_side(std::string key, std::string_view section) {
  static constexpr std::string_view bottom = "walls.bottom.";
  const auto side = key.find(bottom);
  if (side != std::string::npos && (std::string(section) + ".").find("walls.top.") != std::string::npos)
    key.replace(side, bottom.size(), "walls.top.");
  return key;
}

/// The keys that a synonym can mean: that of the section if there is one, else all, first those in the same part of the
/// case.
std::vector<std::string> keys_of_synonym(std::string_view section, std::string_view name) {
  const std::string word = lower_case(name);
  std::vector<std::string> keys;
  for (const Physics* term : introduced_physics()) {
    for (const Synonym& synonym : term->synonyms()) {
      if (synonym.name == word) keys.emplace_back(synonym.key);
    }
  }
  const auto found = std::ranges::find(synonyms(), word, &Meanings::name);
  if (found != synonyms().end()) std::ranges::copy(found->keys, std::back_inserter(keys));
  for (std::string& key : keys) key = on_side(std::move(key), section);
  std::vector<std::string> here;
  std::ranges::copy_if(keys, std::back_inserter(here),
                       [&](const std::string& key) { return find_key(key)->section() == section; });
  if (!here.empty()) return here;
  const std::string part(section.substr(0, section.find('.')));
  std::ranges::stable_partition(keys, [&](const std::string& key) { return key.starts_with(part + "."); });
  return keys;
}

/// The key of this name in the section that has most in common with the given one; empty if there is none.
std::string key_elsewhere(std::string_view section, std::string_view name) {
  std::string nearest;
  std::ptrdiff_t most_common = -1;
  for (const Key& key : case_keys()) {
    if (key.name() != name) continue;
    const std::ptrdiff_t common = std::ranges::mismatch(key.path, section).in2 - section.begin();
    if (common <= most_common) continue;
    most_common = common;
    nearest = key.path;
  }
  return nearest;
}

constexpr std::array value_synonyms{ValueSynonym{"half_channel", "open_channel"},
                                    ValueSynonym{"heated_channel", "channel", "scalars"},
                                    ValueSynonym{"poiseuille", "channel"},
                                    ValueSynonym{"x", "streamwise"},
                                    ValueSynonym{"u", "streamwise"},
                                    ValueSynonym{"y", "spanwise"},
                                    ValueSynonym{"v", "spanwise"},
                                    ValueSynonym{"z", "wall_normal"},
                                    ValueSynonym{"plus", "wall"},
                                    ValueSynonym{"+", "wall"},
                                    ValueSynonym{"inner", "wall"},
                                    ValueSynonym{"viscous", "wall"}};

/// What a value that users try means, if it is known.
std::optional<ValueSynonym> meaning_of_value(const std::string& word) {
  for (const Physics* term : introduced_physics()) {
    for (const ValueSynonym& synonym : term->value_synonyms()) {
      if (synonym.word == word) return synonym;
    }
  }
  const auto found = std::ranges::find(value_synonyms, word, &ValueSynonym::word);
  return found == value_synonyms.end() ? std::nullopt : std::optional(*found);
}

/// Of words that consist of several, such as pressure_gradient, the one that has a part near the word.
std::string nearest_by_part(std::string_view word, const std::vector<std::string>& candidates) {
  std::vector<std::string> parts;
  std::vector<std::string> owners;
  for (const std::string& candidate : candidates) {
    for (std::size_t start = 0; start < candidate.size();) {
      const std::size_t end = std::min(candidate.find('_', start), candidate.size());
      parts.push_back(candidate.substr(start, end - start));
      owners.push_back(candidate);
      start = end + 1;
    }
  }
  const std::string nearest = nearest_word(word, parts);
  const auto found = std::ranges::find(parts, nearest);
  return nearest.size() < 4 ? std::string() : owners[found - parts.begin()];
}

/// A key further inside the section of this one that has the word among its values; null if there is none.
const Key* key_with_choice(const Key& of, std::string_view word) {
  const std::string inside = of.section() + ".";
  const auto& keys = case_keys();
  const auto found = std::ranges::find_if(
      keys, [&](const Key& key) { return key.path.starts_with(inside) && contains(key.value.choices, word); });
  return found == keys.end() ? nullptr : &*found;
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 64;  // the distance takes time and memory proportional to the product of the lengths
  if (word.size() > longest) return {};
  std::string nearest;
  std::size_t smallest = std::max<std::size_t>(1, (word.size() + 1) / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    // A word of a few letters is near everything; a distance of a word's whole length means nothing in common.
    if (distance < smallest && distance < candidate.size()) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string nearest_value(const Key& key, std::string_view word) {
  std::vector<std::string> candidates = key.value.choices;
  candidates.insert(candidates.end(), key.words.begin(), key.words.end());
  if (candidates.empty()) return {};
  const std::optional<ValueSynonym> synonym = meaning_of_value(lower_case(word));
  if (synonym && contains(candidates, std::string_view(synonym->value))) {
    const std::string_view needs = synonym->needs;
    return "'" + std::string(synonym->value) + "'" + (needs.empty() ? "" : " with " + std::string(needs));
  }
  std::string near = nearest_word(word, candidates);
  if (near.empty()) {
    if (const Key* inside = key_with_choice(key, word)) return "'" + inside->path + ": " + std::string(word) + "'";
    near = nearest_by_part(word, candidates);
  }
  return near.empty() ? near : "'" + near + "'";
}

std::vector<std::string> nearest_keys(std::string_view section, std::string_view name) {
  if (auto meant = keys_of_synonym(section, name); !meant.empty()) return meant;

  std::vector<std::string> siblings;
  for (const Key* key : keys_of(section)) siblings.push_back(key->name());
  const std::string sibling = nearest_word(name, siblings);
  const std::string same_name = key_elsewhere(section, name);
  if (!sibling.empty() && (same_name.empty() || edit_distance(name, sibling) == 1))
    return {join_path(section, sibling)};
  if (!same_name.empty()) return {same_name};

  std::vector<std::string> names;
  for (const auto& key : case_keys()) names.push_back(key.name());
  const std::string near = key_elsewhere(section, nearest_word(name, names));
  return near.empty() ? std::vector<std::string>() : std::vector<std::string>{near};
}

}  // namespace sluice::io
