#pragma once
#include <algorithm>
#include <complex>

#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"
#include "core/support/box3.hpp"
#include "core/support/error.hpp"

namespace sluice {

/// Where in a cell a value lives. A face value belongs to the cell below it: u(i) at x = (i+1) dx, w(k) at
/// the upper face of cell k.
enum class Location { center, x_face, y_face, z_face };

/// One array of the flow on one rank: its x-pencil, its location and one halo layer in y and z. Move-only.
/// Rows may be padded (`row_length` >= nx), so that a real-to-complex transform along x fits in place.
class Field {
 public:
  Field() = default;
  Field(const Box3& box, Location location, std::int64_t row_length = 0)
      : box_(box),
        location_(location),
        row_length_(std::max(row_length, box.extent(0))),
        buffer_(static_cast<std::size_t>(row_length_ * (box.extent(1) + 2) * (box.extent(2) + 2))) {}

  const Box3& box() const { return box_; }  ///< global indices owned by this rank
  Box3 local_box() const { return box_.local(); }
  Location location() const { return location_; }
  std::int64_t row_length() const { return row_length_; }
  std::int64_t plane_length() const {
    return row_length_ * (box_.extent(1) + 2);
  }  ///< elements between planes, y halo included
  std::size_t bytes() const { return buffer_.bytes(); }
  Buffer<real>& buffer() { return buffer_; }
  const Buffer<real>& buffer() const { return buffer_; }

  View3<real> view() { return make_view<real>(buffer_.data()); }
  View3<const real> view() const { return make_view<const real>(buffer_.data()); }
  View3<const real> cview() const { return view(); }

  /// The rows read as complex numbers, after a transform along x in place: row_length() / 2 numbers a row.
  View3<std::complex<real>> complex_view() {
    SLUICE_REQUIRE(row_length_ % 2 == 0, "rows of odd length cannot be read as complex numbers");
    auto* data = reinterpret_cast<std::complex<real>*>(buffer_.data());
    View3<std::complex<real>> view;
    view.stride_y = row_length_ / 2;
    view.stride_z = plane_length() / 2;
    view.origin = data + view.stride_y + view.stride_z;
#ifdef SLUICE_DEBUG
    view.n[0] = static_cast<int>(row_length_ / 2);
    view.n[1] = box_.ny();
    view.n[2] = box_.nz();
    view.halo = 1;
#endif
    return view;
  }

 private:
  template <class T>
  View3<T> make_view(T* data) const {
    View3<T> view;
    view.stride_y = row_length_;
    view.stride_z = plane_length();
    view.origin = data + view.stride_y + view.stride_z;
#ifdef SLUICE_DEBUG
    view.n[0] = box_.nx();
    view.n[1] = box_.ny();
    view.n[2] = box_.nz();
    view.halo = 1;
#endif
    return view;
  }

  Box3 box_;
  Location location_ = Location::center;
  std::int64_t row_length_ = 0;
  Buffer<real> buffer_;
};

}  // namespace sluice
