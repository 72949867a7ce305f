#pragma once
// The only table of case-file keys: every key with its member of Case, range, default, unit and documentation sentence.
// It is used to check and read the file, to write the resolved case and compare it with a checkpoint's, and to generate
// the commented template and the reference page.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "io/case/key_value.hpp"
#include "model/key_row.hpp"
#include "model/physics.hpp"

namespace sluice::io {

using Key = KeyRow<KeyValue>;

/// Adds the keys, rules and synonyms of these terms. Once, before anything else of io/case is used; `physics` must
/// last.
void introduce(PhysicsList physics);

/// The terms that were introduced.
PhysicsList introduced_physics();

/// Whether a term gives the velocity far above the wall, which drives the flow.
bool is_driven_from_above(const FlowParameters& flow);

/// The table, in the order of the documentation: a section before its keys.
const std::vector<Key>& case_keys();

/// The key of this path, or null.
const Key* find_key(std::string_view path);

/// The keys directly inside a section ("" for the case itself), in order.
std::vector<const Key*> keys_of(std::string_view section);

/// Whether a restart refuses another value of this key by default: `physical` of the key and of all enclosing sections.
bool is_physical(const Key& key);

/// Whether statistics of flows that differ in this key must not be averaged together: `physical` and `sampled` of the
/// key and of all enclosing sections.
bool is_sampled(const Key& key);

template <class Value>
bool contains(const std::vector<Value>& list, const auto& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// "a.b" from "a" and "b", "b" from "" and "b".
std::string join_path(std::string_view section, std::string_view name);

/// The values that the key accepts, in words.
std::string allowed_text(const Key& key);

/// The candidate nearest to a misspelt word by edit distance (a swap of neighbours counts as one edit); empty if none
/// is near enough.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

/// The allowed value that an unknown one may have meant, in quotes, with what else it needs; empty if none is near.
std::string nearest_value(const Key& key, std::string_view word);

/// The keys that an unknown one may have meant: those that its usual meaning in papers and other programs names, else
/// the nearest in the same section, else one of that name, or of a name near it, elsewhere.
std::vector<std::string> nearest_keys(std::string_view section, std::string_view name);

/// All exchange methods known to Sluice, `auto` included.
const std::vector<std::string>& known_exchange_methods();

/// The exchange methods available in this build, `auto` included.
const std::vector<std::string>& available_exchange_methods();

/// The commented case file that `sluice init` prints.
std::string case_template();

/// The reference page of the case file, in Markdown: docs/case-reference.md.
std::string generate_key_reference();

}  // namespace sluice::io
