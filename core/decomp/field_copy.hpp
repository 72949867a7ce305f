#pragma once
#include <array>
#include <vector>

#include "core/decomp/field.hpp"

namespace sluice {

/// Copies the rank's own cells, without halo, between a field and a contiguous host array (x fastest). Not for use in a
/// step: in a GPU build each call allocates a device buffer of that size. Local.
std::vector<real> download(const Field& field);
/// The same for a part of the field: a box of local indices.
std::vector<real> download(const Field& field, const Box3& local_box);
/// The same for several fields, one after the other into memory of device::allocate_host().
void download(const std::vector<const Field*>& fields, real* host);
void upload(const std::vector<real>& host, Field& field);
/// The same between a field and a contiguous device array. Do not wait for it.
void pack(const Field& field, real* to);
void unpack(const real* from, Field& field);
/// Copies the cells at all combinations of these local indices, which are in device memory, to a device array, x
/// fastest. Does not wait for it.
void copy_points(const Field& field, const std::array<Buffer<int>, 3>& points, real* to);
/// Copies one field to another on the same box, on the device; row padding may differ.
void copy_cells(const Field& from, Field& to);
/// The same with the halo of the field that has the smaller one.
void copy_with_halo(const Field& from, Field& to);

}  // namespace sluice
