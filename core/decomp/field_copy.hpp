#pragma once
#include <vector>

#include "core/decomp/field.hpp"

namespace sluice {

/// Copies the cells that the rank owns, no halo, between a field and a contiguous host array (x fastest). Not
/// for use in a step: a GPU build allocates a device buffer of that size for the time of the call. Local.
std::vector<real> download(const Field& field);
/// The same for a part of the field: a box of local indices.
std::vector<real> download(const Field& field, const Box3& local_box);
void upload(const std::vector<real>& host, Field& field);
/// From one field to another of the same box, on the device; rows may be padded differently.
void copy_cells(const Field& from, Field& to);

}  // namespace sluice
