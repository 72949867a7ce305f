#pragma once
#include <algorithm>
#include <complex>

#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"
#include "core/support/box3.hpp"
#include "core/support/error.hpp"

namespace sluice {

/// Where in a cell a value is defined. A face value belongs to the cell below it: u(i) at x = (i+1) dx, w(k) at the
/// upper face of cell k.
enum class Location { center, x_face, y_face, z_face };

/// Halo layers on either side of a rank's cells; x has none: every rank owns whole rows.
struct HaloWidth {
  int y = 1;
  int z = 1;
  friend bool operator==(const HaloWidth&, const HaloWidth&) = default;
};

/// One array of the flow on one rank: its x-pencil, its location and its halo in y and z, stored as T. Move-only.
/// Rows may be padded (`row_length` >= nx), so that a real-to-complex transform along x fits in place.
template <class T>
class BasicField {
 public:
  BasicField() = default;
  BasicField(const Box3& box, Location location, std::int64_t row_length = 0, HaloWidth halo = {})
      : box_(box),
        location_(location),
        halo_(halo),
        row_length_(std::max(row_length, box.extent(0))),
        buffer_(elements(box, row_length, halo)) {}

  /// Bytes of such a field.
  static double memory(const Box3& box, std::int64_t row_length = 0, HaloWidth halo = {}) {
    return static_cast<double>(elements(box, row_length, halo) * sizeof(T));
  }

  const Box3& box() const { return box_; }  ///< global indices owned by this rank
  Box3 local_box() const { return box_.local(); }
  Location location() const { return location_; }
  HaloWidth halo() const { return halo_; }
  std::int64_t row_length() const { return row_length_; }
  /// Elements between planes, y halo included.
  std::int64_t plane_length() const { return row_length_ * (box_.extent(1) + std::int64_t{2} * halo_.y); }
  std::size_t bytes() const { return buffer_.bytes(); }
  Buffer<T>& buffer() { return buffer_; }
  const Buffer<T>& buffer() const { return buffer_; }

  View3<T> view() { return make_view(buffer_.data(), row_length_, box_.nx()); }
  View3<const T> view() const { return make_view(buffer_.data(), row_length_, box_.nx()); }

  /// The rows as complex numbers, after an in-place transform along x: row_length() / 2 numbers per row.
  View3<std::complex<T>> complex_view() {
    SLUICE_REQUIRE(row_length_ % 2 == 0, "rows of odd length cannot be read as complex numbers");
    return make_view(reinterpret_cast<std::complex<T>*>(buffer_.data()), row_length_ / 2,
                     static_cast<int>(row_length_ / 2));
  }

 private:
  static std::size_t elements(const Box3& box, std::int64_t row_length, HaloWidth halo) {
    return static_cast<std::size_t>(std::max(row_length, box.extent(0)) * (box.extent(1) + std::int64_t{2} * halo.y) *
                                    (box.extent(2) + std::int64_t{2} * halo.z));
  }

  /// `nx` elements in rows of length `row`; they are part of its bounds.
  template <class Element>
  View3<Element> make_view(Element* data, std::int64_t row, int nx) const {
    const std::ptrdiff_t plane = row * (box_.extent(1) + std::int64_t{2} * halo_.y);
    const IndexBounds bounds =
        IndexBounds().along(0, 0, nx).along(1, -halo_.y, box_.ny() + halo_.y).along(2, -halo_.z, box_.nz() + halo_.z);
    return {bounds, data + halo_.y * row + halo_.z * plane, row, plane};
  }

  Box3 box_;
  Location location_ = Location::center;
  HaloWidth halo_;
  std::int64_t row_length_ = 0;
  Buffer<T> buffer_;
};

/// A field in the build's precision.
using Field = BasicField<real>;

}  // namespace sluice
