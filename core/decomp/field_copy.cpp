#include "core/decomp/field_copy.hpp"

#include <algorithm>

#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

/// to(i, j, k) = from(x + i, y + j, z + k)
struct CopyCell {
  View3<const real> from;
  View3<real> to;
  int x, y, z;
  SLUICE_INLINE void operator()(int i, int j, int k) const { to(i, j, k) = from(x + i, y + j, z + k); }
};

/// to(i, j, k) = from(x[i], y[j], z[k])
struct CopyPoint {
  View3<const real> from;
  View3<real> to;
  const int *x, *y, *z;
  SLUICE_INLINE void operator()(int i, int j, int k) const { to(i, j, k) = from(x[i], y[j], z[k]); }
};

}  // namespace

namespace {

void pack(const Field& field, const Box3& local_box, real* to) {
  const Box3 box = local_box.local();
  parallel_for(
      "download field", box,
      CopyCell{field.view(), contiguous_view(to, box.nx(), box.ny(), box.nz()), static_cast<int>(local_box.lo[0]),
               static_cast<int>(local_box.lo[1]), static_cast<int>(local_box.lo[2])});
}

}  // namespace

void pack(const Field& field, real* to) {
  pack(field, field.local_box(), to);
}

void unpack(const real* from, Field& field) {
  const Box3 box = field.local_box();
  parallel_for("upload field", box,
               CopyCell{contiguous_view(from, box.nx(), box.ny(), box.nz()), field.view(), 0, 0, 0});
}

std::vector<real> download(const Field& field) {
  return download(field, field.local_box());
}

std::vector<real> download(const Field& field, const Box3& local_box) {
  Buffer<real> packed(static_cast<std::size_t>(local_box.volume()));
  pack(field, local_box, packed.data());
  return packed.download();
}

void download(const std::vector<const Field*>& fields, real* host) {
  Buffer<real> packed;
  for (const Field* field : fields) {
    const auto size = static_cast<std::size_t>(field->local_box().volume());
    packed.enlarge(size);
    pack(*field, packed.data());
    device::copy_async(host, packed.data(), size * sizeof(real));  // the next field is packed after it
    host += size;
  }
  device::synchronize();
}

void upload(const std::vector<real>& host, Field& field) {
  SLUICE_REQUIRE(host.size() == static_cast<std::size_t>(field.local_box().volume()),
                 "the host array does not match the field");
  const Buffer<real> packed(host);
  unpack(packed.data(), field);
  device::synchronize();
}

void copy_points(const Field& field, const std::array<Buffer<int>, 3>& points, real* to) {
  const Box3 box = box_of(static_cast<std::int64_t>(points[0].size()), static_cast<std::int64_t>(points[1].size()),
                          static_cast<std::int64_t>(points[2].size()));
  if (box.empty()) return;
  parallel_for("copy of points", box,
               CopyPoint{field.view(), contiguous_view(to, box.nx(), box.ny(), box.nz()), points[0].data(),
                         points[1].data(), points[2].data()});
}

void copy_cells(const Field& from, Field& to) {
  SLUICE_REQUIRE(from.box() == to.box(), "fields on different pencils");
  parallel_for("copy of a field", from.local_box(), CopyCell{from.view(), to.view(), 0, 0, 0});
}

void copy_with_halo(const Field& from, Field& to) {
  SLUICE_REQUIRE(from.box() == to.box(), "fields on different pencils");
  Box3 box = from.local_box();
  const int halo[] = {0, std::min(from.halo().y, to.halo().y), std::min(from.halo().z, to.halo().z)};
  for (std::size_t axis = 1; axis < 3; ++axis) {
    box.lo[axis] -= halo[axis];
    box.hi[axis] += halo[axis];
  }
  parallel_for("copy of a field", box, CopyCell{from.view(), to.view(), 0, 0, 0});
}

}  // namespace sluice
