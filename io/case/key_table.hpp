#pragma once
// The parts of the key table, for keys.cpp only. A section precedes its keys; the template and the reference page use
// this order.
#include <vector>

#include "io/case/keys.hpp"

namespace sluice::io::key_table {

inline const Range positive{.minimum = {0}, .above = true};
inline const Range not_negative{.minimum = {0}};
// Counts that index cells have 32 bits; their product always has 64 bits.
inline const Range time_step{.minimum = {1e-10}};  ///< far below, adding it to the time changes nothing
inline const Range counting{.minimum = {1}, .maximum = 1e6};

std::vector<Key> flow_keys();
std::vector<Key> grid_keys();
std::vector<Key> wall_keys();
std::vector<Key> scalar_keys();
std::vector<Key> time_keys();
std::vector<Key> initial_keys();
std::vector<Key> solver_keys();
std::vector<Key> output_keys();
std::vector<Key> ensemble_keys();

}  // namespace sluice::io::key_table
