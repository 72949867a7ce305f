#pragma once
// Parts of arrays, and the loops that copy them.
#include <cstddef>
#include <vector>

#include "core/decomp/view3.hpp"
#include "core/support/box3.hpp"

namespace sluice {

namespace device {
class Stream;
}  // namespace device

/// A box of an array in device memory: planes of rows of contiguous elements, each a real or a complex number. Strides
/// are in bytes.
struct ArrayPart {
  std::byte* data = nullptr;
  std::size_t element_bytes = 0;
  std::size_t row_bytes = 0;
  int rows = 0, planes = 0;
  std::ptrdiff_t row_stride = 0, plane_stride = 0;

  bool empty() const { return row_bytes == 0 || rows == 0 || planes == 0; }
  std::size_t bytes() const { return row_bytes * static_cast<std::size_t>(rows) * static_cast<std::size_t>(planes); }
  /// A copy of this part at `block`, without gaps.
  ArrayPart packed_at(std::byte* block) const {
    const auto row = static_cast<std::ptrdiff_t>(row_bytes);
    return {block, element_bytes, row_bytes, rows, planes, row, rows * row};
  }
};

/// A box of local indices of a view. The part may be written only if T is not const.
template <class T>
ArrayPart part_of(View3<T> view, const Box3& box) {
  if (box.empty()) return {};
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  T* first = &view(static_cast<int>(box.lo[0]), static_cast<int>(box.lo[1]), static_cast<int>(box.lo[2]));
  auto* data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(first));
  return {data,
          sizeof(T),
          static_cast<std::size_t>(box.nx()) * sizeof(T),
          box.ny(),
          box.nz(),
          view.stride_y * size,
          view.stride_z * size};
}

/// A part sent to a rank of a communicator, or received from it.
struct PeerPart {
  int peer = 0;
  ArrayPart part;
};
/// Parts for one peer are consecutive and are sent in this order.
using Parts = std::vector<PeerPart>;

/// The addresses from the first element of the parts to the end of the last, ignoring empty parts.
struct AddressRange {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
};
AddressRange range_of(const Parts& parts);

/// Copies parts to parts of the same shape. All have the same element type.
class PartCopies {
 public:
  void add(const ArrayPart& from, const ArrayPart& to) {
    if (!from.empty()) copies_.push_back({from, to});
  }
  /// Issues as few loops as possible, so that copies to the memory of different devices do not wait for each other.
  void issue(const char* name) const;
  /// Issues them in a stream, beside the loops.
  void issue(device::Stream& stream) const;

 private:
  struct Copy {
    ArrayPart from, to;
  };
  template <class T>
  void issue_as(const char* name) const;

  std::vector<Copy> copies_;
};

}  // namespace sluice
