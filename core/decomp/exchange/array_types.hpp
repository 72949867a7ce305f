#pragma once
#include <mpi.h>

#include <compare>
#include <cstddef>
#include <map>

#include "core/decomp/exchange/array_part.hpp"

namespace sluice {

/// MPI datatypes of array parts, created once for each shape.
class ArrayTypes {
 public:
  ArrayTypes() = default;
  ArrayTypes(const ArrayTypes&) = delete;
  ArrayTypes& operator=(const ArrayTypes&) = delete;
  ~ArrayTypes();

  /// For a non-empty part that starts `offset` bytes after the address given to MPI.
  MPI_Datatype of(const ArrayPart& part, std::ptrdiff_t offset);

 private:
  struct Shape {
    std::ptrdiff_t offset;
    std::size_t row_bytes;
    int rows, planes;
    std::ptrdiff_t row_stride, plane_stride;
    auto operator<=>(const Shape&) const = default;
  };

  std::map<Shape, MPI_Datatype> types_;
};

}  // namespace sluice
