#include "core/decomp/exchange/array_types.hpp"

#include "core/decomp/exchange/mpi_buffers.hpp"
#include "core/support/collective.hpp"

namespace sluice {

ArrayTypes::~ArrayTypes() {
  for (auto& [shape, type] : types_) MPI_Type_free(&type);
}

MPI_Datatype ArrayTypes::of(const ArrayPart& part, std::ptrdiff_t offset) {
  const Shape shape{offset, part.row_bytes, part.rows, part.planes, part.row_stride, part.plane_stride};
  if (const auto known = types_.find(shape); known != types_.end()) return known->second;

  MPI_Datatype plane = MPI_DATATYPE_NULL;
  MPI_Datatype planes = MPI_DATATYPE_NULL;
  MPI_Datatype placed = MPI_DATATYPE_NULL;
  const int row = mpi_element_count(part.row_bytes, "a row");
  const int one = 1;
  const MPI_Aint displacement = offset;
  check_mpi(MPI_Type_create_hvector(part.rows, row, part.row_stride, mpi_element_type(), &plane),
            "MPI_Type_create_hvector");
  check_mpi(MPI_Type_create_hvector(part.planes, 1, part.plane_stride, plane, &planes), "MPI_Type_create_hvector");
  check_mpi(MPI_Type_create_hindexed(1, &one, &displacement, planes, &placed), "MPI_Type_create_hindexed");
  check_mpi(MPI_Type_commit(&placed), "MPI_Type_commit");
  MPI_Type_free(&plane);
  MPI_Type_free(&planes);
  types_.emplace(shape, placed);
  return placed;
}

}  // namespace sluice
