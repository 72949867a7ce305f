// What a user may have meant by a word that is no key.
#include <algorithm>
#include <array>
#include <cctype>

#include "io/case/keys.hpp"

namespace sluice::io {

namespace {

/// A name that users of other programs and readers of papers try, in lower case, and the keys that it can mean.
struct Synonym {
  const char* name;
  std::vector<std::string> keys;
};

const std::vector<Synonym>& synonyms() {
  static const std::vector<Synonym> list{
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
      {"ro", {"flow.rotation.number"}},
      {"rossby", {"flow.rotation.number"}},
      {"coriolis", {"flow.rotation"}},
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

/// The keys that a synonym can mean; those in the same part of the case come first.
std::vector<std::string> keys_of_synonym(std::string_view section, std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::ranges::find(synonyms(), lower, &Synonym::name);
  if (found == synonyms().end()) return {};
  std::vector<std::string> keys = found->keys;
  const std::string part(section.substr(0, section.find('.')));
  std::ranges::stable_partition(keys, [&](const std::string& key) { return key.starts_with(part + "."); });
  return keys;
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

std::vector<std::string> nearest_keys(std::string_view section, std::string_view name) {
  std::vector<std::string> siblings;
  for (const Key* key : keys_of(section)) siblings.push_back(key->name());
  const std::string sibling = nearest_word(name, siblings);
  if (!sibling.empty()) return {join_path(section, sibling)};

  if (auto meant = keys_of_synonym(section, name); !meant.empty()) return meant;

  std::vector<std::string> names;
  for (const auto& key : case_keys()) names.push_back(key.name());
  const std::string elsewhere = nearest_word(name, names);
  const auto& keys = case_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name() == elsewhere; });
  return found == keys.end() ? std::vector<std::string>() : std::vector<std::string>{found->path};
}

}  // namespace sluice::io
