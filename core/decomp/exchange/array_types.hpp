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
  /// `max_count`: the largest count given to MPI; what has more elements is made of nested types.
  explicit ArrayTypes(std::size_t max_count) : max_count_(max_count) {}
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

  std::size_t max_count_;
  std::map<Shape, MPI_Datatype> types_;
};

}  // namespace sluice
