#pragma once
#include <mpi.h>

#include <compare>
#include <cstddef>
#include <map>

#include "core/decomp/exchange/array_part.hpp"

namespace sluice {

/// MPI datatypes of parts of arrays, made once for each shape.
class ArrayTypes {
 public:
  ArrayTypes() = default;
  ArrayTypes(const ArrayTypes&) = delete;
  ArrayTypes& operator=(const ArrayTypes&) = delete;
  ~ArrayTypes();

  /// For a part that is not empty and starts `offset` bytes behind the address that MPI is given.
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
