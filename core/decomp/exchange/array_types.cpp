#include "core/decomp/exchange/array_types.hpp"

#include "core/decomp/exchange/mpi_buffers.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

/// `count` items without gaps, `bytes` each. Beyond max_count: items of max_count each, and the rest.
MPI_Datatype contiguous(std::size_t count, MPI_Datatype item, std::size_t bytes, std::size_t max_count) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (count <= max_count) {
    check_mpi(MPI_Type_contiguous(static_cast<int>(count), item, &type), "MPI_Type_contiguous");
    return type;
  }
  const std::size_t rest = count % max_count;
  MPI_Datatype chunk = contiguous(max_count, item, bytes, max_count);
  MPI_Datatype parts[] = {contiguous(count / max_count, chunk, max_count * bytes, max_count),
                          contiguous(rest, item, bytes, max_count)};
  const int lengths[] = {1, 1};
  const MPI_Aint displacements[] = {0, static_cast<MPI_Aint>((count - rest) * bytes)};
  check_mpi(MPI_Type_create_struct(rest > 0 ? 2 : 1, lengths, displacements, parts, &type), "MPI_Type_create_struct");
  for (MPI_Datatype* part : {&chunk, &parts[0], &parts[1]}) check_mpi(MPI_Type_free(part), "MPI_Type_free");
  return type;
}

}  // namespace

ArrayTypes::~ArrayTypes() {
  for (auto& [shape, type] : types_) MPI_Type_free(&type);  // unchecked: destructor
}

MPI_Datatype ArrayTypes::of(const ArrayPart& part, std::ptrdiff_t offset) {
  const Shape shape{offset, part.row_bytes, part.rows, part.planes, part.row_stride, part.plane_stride};
  if (const auto known = types_.find(shape); known != types_.end()) return known->second;

  MPI_Datatype plane = MPI_DATATYPE_NULL;
  MPI_Datatype planes = MPI_DATATYPE_NULL;
  MPI_Datatype placed = MPI_DATATYPE_NULL;
  const std::size_t row = part.row_bytes / sizeof(real);
  const int one = 1;
  const MPI_Aint displacement = offset;
  if (row * static_cast<std::size_t>(part.rows) <= max_count_) {
    check_mpi(MPI_Type_create_hvector(part.rows, static_cast<int>(row), part.row_stride, mpi_element_type(), &plane),
              "MPI_Type_create_hvector");
  } else {
    MPI_Datatype one_row = contiguous(row, mpi_element_type(), sizeof(real), max_count_);
    check_mpi(MPI_Type_create_hvector(part.rows, 1, part.row_stride, one_row, &plane), "MPI_Type_create_hvector");
    check_mpi(MPI_Type_free(&one_row), "MPI_Type_free");
  }
  check_mpi(MPI_Type_create_hvector(part.planes, 1, part.plane_stride, plane, &planes), "MPI_Type_create_hvector");
  check_mpi(MPI_Type_create_hindexed(1, &one, &displacement, planes, &placed), "MPI_Type_create_hindexed");
  check_mpi(MPI_Type_commit(&placed), "MPI_Type_commit");
  check_mpi(MPI_Type_free(&plane), "MPI_Type_free");
  check_mpi(MPI_Type_free(&planes), "MPI_Type_free");
  types_.emplace(shape, placed);
  return placed;
}

}  // namespace sluice
