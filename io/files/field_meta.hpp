#pragma once
// What the files know of a field: its name, its place on the staggered grid, its precision.
#include <cstddef>
#include <string>

namespace sluice::io {

/// Where on its cell a value lives. A face value is stored with the cell below it: index i of an x face is at
/// (i + 1) dx.
enum class Location { center, x_face, y_face, z_face };

enum class Precision { single_, double_ };

template <typename Real>
inline constexpr Precision precision_of = sizeof(Real) == 4 ? Precision::single_ : Precision::double_;

inline std::size_t bytes_of(Precision precision) {
  return precision == Precision::single_ ? 4 : 8;
}

/// A field of a checkpoint or a slice.
struct FieldMeta {
  std::string name;       ///< of the dataset: u, v, w, p
  std::string long_name;  ///< in words, with the reference scale: "streamwise velocity / U_b"
  std::string units;      ///< "1" for everything that is made dimensionless
  Location location = Location::center;
};

}  // namespace sluice::io
