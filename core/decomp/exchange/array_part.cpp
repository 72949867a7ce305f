#include "core/decomp/exchange/array_part.hpp"

#include <algorithm>
#include <complex>

#include "core/device/parallel_for.hpp"
#include "core/device/stream.hpp"
#include "core/device/together.hpp"
#include "core/device/traits.hpp"

namespace sluice {

namespace {

/// Copies one part. Strides are in elements.
template <class T>
struct CopyPart {
  const T* from = nullptr;
  T* to = nullptr;
  std::ptrdiff_t from_row = 0, from_plane = 0, to_row = 0, to_plane = 0;
  int nx = 0, rows = 0, planes = 0;

  SLUICE_INLINE void operator()(int i, int j, int k) const {
    to[i + j * to_row + k * to_plane] = from[i + j * from_row + k * from_plane];
  }
};

/// Copies several parts, a plane of each in turn.
template <class T>
struct CopyParts {
  static constexpr int max_count = 8;
  static constexpr std::size_t most_together = 64;  ///< kernels in a launch: launch_cuda.hpp
  CopyPart<T> copies[max_count];
  int count = 0;

  SLUICE_INLINE void operator()(int i, int j, int k) const {
    const CopyPart<T>& copy = copies[k % count];
    const int plane = k / count;
    if (i < copy.nx && j < copy.rows && plane < copy.planes) copy(i, j, plane);
  }
};

template <class T>
CopyPart<T> copy_of(const ArrayPart& from, const ArrayPart& to) {
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  return {reinterpret_cast<const T*>(from.data),
          reinterpret_cast<T*>(to.data),
          from.row_stride / size,
          from.plane_stride / size,
          to.row_stride / size,
          to.plane_stride / size,
          static_cast<int>(from.row_bytes / sizeof(T)),
          from.rows,
          from.planes};
}

}  // namespace

AddressRange range_of(const Parts& parts) {
  AddressRange range;
  for (const auto& [peer, part] : parts) {
    if (part.empty()) continue;
    std::byte* const end =
        part.data + (part.planes - 1) * part.plane_stride + (part.rows - 1) * part.row_stride + part.row_bytes;
    range.begin = range.begin == nullptr ? part.data : std::min(range.begin, part.data);
    range.end = std::max(range.end, end);
  }
  return range;
}

template <class T>
void PartCopies::issue_as(const char* name) const {
  constexpr int max_planes = device::max_blocks_along_yz;  // in one loop on a GPU
  int depth = 1;
  for (const Copy& copy : copies_) depth = std::max(depth, copy.from.planes);
  // A CPU gains nothing from larger loops.
  const device::Independent independent;
  const auto all = static_cast<int>(copies_.size());
  const int together = loops_on_gpu ? std::clamp(max_planes / depth, 1, std::min(all, CopyParts<T>::max_count)) : 1;
  for (std::size_t first = 0; first < copies_.size(); first += static_cast<std::size_t>(together)) {
    CopyParts<T> loop;
    Box3 box;
    for (std::size_t n = first; n < copies_.size() && loop.count < together; ++n) {
      const CopyPart<T>& copy = loop.copies[loop.count++] = copy_of<T>(copies_[n].from, copies_[n].to);
      box.hi[0] = std::max<std::int64_t>(box.hi[0], copy.nx);
      box.hi[1] = std::max<std::int64_t>(box.hi[1], copy.rows);
      box.hi[2] = std::max<std::int64_t>(box.hi[2], copy.planes);
    }
    loop.count = together;  // the last loop has empty copies, so that it is like the others
    box.hi[2] *= together;
    if (together == 1) {
      parallel_for(name, box, loop.copies[0]);
    } else {
      parallel_for(name, box, loop);
    }
  }
}

void PartCopies::issue(const char* name) const {
  if (copies_.empty()) return;
  if (copies_.front().from.element_bytes == sizeof(real)) {
    issue_as<real>(name);
  } else {
    issue_as<std::complex<real>>(name);
  }
}

void PartCopies::issue(device::Stream& stream) const {
  const auto bytes = [](std::ptrdiff_t distance) { return static_cast<std::size_t>(distance); };
  for (const auto& [from, to] : copies_) {
    const auto row = static_cast<std::ptrdiff_t>(from.row_bytes);
    if (from.row_stride == row && to.row_stride == row) {
      stream.copy_rows(to.data, bytes(to.plane_stride), from.data, bytes(from.plane_stride),
                       from.row_bytes * bytes(from.rows), bytes(from.planes));
      continue;
    }
    for (int plane = 0; plane < from.planes; ++plane) {
      stream.copy_rows(to.data + plane * to.plane_stride, bytes(to.row_stride), from.data + plane * from.plane_stride,
                       bytes(from.row_stride), from.row_bytes, bytes(from.rows));
    }
  }
}

}  // namespace sluice
