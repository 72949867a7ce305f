#include "core/decomp/halo_exchange.hpp"

#include <algorithm>
#include <limits>

#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

/// to(i, to_j, k) = from(i, from_j, k) for whole rows and all k.
struct CopyRow {
  View3<const real> from;
  View3<real> to;
  int from_j, to_j;
  SLUICE_INLINE void operator()(int i, int /*j*/, int k) const { to(i, to_j, k) = from(i, from_j, k); }
};

/// to(i, j, to_k) = from(i, j, from_k) for a whole plane, y halo included.
struct CopyPlane {
  View3<const real> from;
  View3<real> to;
  int from_k, to_k;
  SLUICE_INLINE void operator()(int i, int j, int /*k*/) const { to(i, j, to_k) = from(i, j, from_k); }
};

/// A buffer of whole planes with y halo, addressed like a field.
View3<real> plane_buffer(real* data, int nx, int ny) {
  View3<real> view = contiguous_view(data, nx, ny + 2, 1);
  view.origin += view.stride_y;
#ifdef SLUICE_DEBUG
  view.n[1] = ny;
  view.halo = 1;
#endif
  return view;
}

}  // namespace

HaloExchange::HaloExchange(const Communicator& comm, const Box3& box, std::int64_t row_length, int fields)
    : box_(box), max_fields_(static_cast<std::size_t>(fields)), row_(comm.row()), column_(comm.column()) {
  const ProcessGrid& processes = comm.processes();
  y_lower_ = (comm.y_index() + processes.py - 1) % processes.py;
  y_upper_ = (comm.y_index() + 1) % processes.py;
  z_lower_ = comm.z_index() > 0 ? comm.z_index() - 1 : MPI_PROC_NULL;
  z_upper_ = comm.z_index() + 1 < processes.pz ? comm.z_index() + 1 : MPI_PROC_NULL;
  const std::int64_t y_size = processes.py > 1 ? box.extent(2) * box.extent(0) : 0;
  const std::int64_t z_size = processes.pz > 1 ? (box.extent(1) + 2) * std::max(row_length, box.extent(0)) : 0;
  half_ = static_cast<std::size_t>(std::max(y_size, z_size) * fields);
  send_ = Buffer<real>(2 * half_);
  receive_ = Buffer<real>(2 * half_);
  send_image_ = HostImage(send_.data(), send_.bytes());
  receive_image_ = HostImage(receive_.data(), receive_.bytes());
}

void HaloExchange::update(std::initializer_list<Field*> fields) {
  SLUICE_REQUIRE(fields.size() <= max_fields_, "more fields than the halo exchange was made for");
  for (const Field* field : fields)
    SLUICE_REQUIRE(field->box() == box_, "a field on another pencil than the halo exchange was made for");
  update_y(fields);
  update_z(fields);
}

void HaloExchange::trade(MPI_Comm comm, int lower, int upper, std::size_t count) {
  SLUICE_REQUIRE(count <= half_ && count <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                 "halo larger than its buffers");
  const MPI_Datatype type = sizeof(real) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
  const auto n = static_cast<int>(count);
  constexpr int downward = 21;
  constexpr int upward = 22;
  device::synchronize();
  const std::size_t half_bytes = half_ * sizeof(real);
  const std::size_t bytes = count * sizeof(real);
  send_image_.fetch(0, bytes);
  send_image_.fetch(half_bytes, bytes);
  MPI_Request requests[4];
  check_mpi(MPI_Irecv(receive_image_.data(), n, type, lower, upward, comm, &requests[0]), "MPI_Irecv");
  check_mpi(MPI_Irecv(receive_image_.data() + half_bytes, n, type, upper, downward, comm, &requests[1]), "MPI_Irecv");
  check_mpi(MPI_Isend(send_image_.data(), n, type, lower, downward, comm, &requests[2]), "MPI_Isend");
  check_mpi(MPI_Isend(send_image_.data() + half_bytes, n, type, upper, upward, comm, &requests[3]), "MPI_Isend");
  check_mpi(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
  receive_image_.flush(0, bytes);
  receive_image_.flush(half_bytes, bytes);
}

void HaloExchange::update_y(std::initializer_list<Field*> fields) {
  int size = 1;
  MPI_Comm_size(row_, &size);
  if (size == 1) {  // the other side of the period is this rank's own
    for (Field* field : fields) {
      const Box3 rows = box_of(field->box().nx(), 1, field->box().nz());
      const int ny = field->box().ny();
      parallel_for("halo: y period", rows, CopyRow{field->cview(), field->view(), ny - 1, -1});
      parallel_for("halo: y period", rows, CopyRow{field->cview(), field->view(), 0, ny});
    }
    return;
  }
  std::size_t count = 0;
  const auto for_each = [&](auto&& action) {
    count = 0;
    for (Field* field : fields) {
      const Box3 rows = box_of(field->box().nx(), 1, field->box().nz());
      action(*field, rows, count);
      count += static_cast<std::size_t>(rows.volume());
    }
  };
  for_each([&](Field& field, const Box3& rows, std::size_t at) {
    parallel_for("halo: pack y", rows,
                 CopyRow{field.cview(), contiguous_view(send_.data() + at, rows.nx(), 1, rows.nz()), 0, 0});
    parallel_for("halo: pack y", rows,
                 CopyRow{field.cview(), contiguous_view(send_.data() + half_ + at, rows.nx(), 1, rows.nz()),
                         field.box().ny() - 1, 0});
  });
  trade(row_, y_lower_, y_upper_, count);
  for_each([&](Field& field, const Box3& rows, std::size_t at) {
    parallel_for("halo: unpack y", rows,
                 CopyRow{contiguous_view(receive_.data() + at, rows.nx(), 1, rows.nz()), field.view(), 0, -1});
    parallel_for("halo: unpack y", rows,
                 CopyRow{contiguous_view(receive_.data() + half_ + at, rows.nx(), 1, rows.nz()), field.view(), 0,
                         field.box().ny()});
  });
}

void HaloExchange::update_z(std::initializer_list<Field*> fields) {
  int size = 1;
  MPI_Comm_size(column_, &size);
  if (size == 1) return;
  std::size_t count = 0;
  const auto for_each = [&](auto&& action) {
    count = 0;
    for (Field* field : fields) {
      const int ny = field->box().ny();
      const Box3 plane{{0, -1, 0}, {field->box().nx(), ny + 1, 1}};
      action(*field, plane, count);
      count += static_cast<std::size_t>(plane.volume());
    }
  };
  for_each([&](Field& field, const Box3& plane, std::size_t at) {
    const int nx = field.box().nx();
    const int ny = field.box().ny();
    parallel_for("halo: pack z", plane, CopyPlane{field.cview(), plane_buffer(send_.data() + at, nx, ny), 0, 0});
    parallel_for("halo: pack z", plane,
                 CopyPlane{field.cview(), plane_buffer(send_.data() + half_ + at, nx, ny), field.box().nz() - 1, 0});
  });
  trade(column_, z_lower_, z_upper_, count);
  for_each([&](Field& field, const Box3& plane, std::size_t at) {
    const int nx = field.box().nx();
    const int ny = field.box().ny();
    if (z_lower_ != MPI_PROC_NULL) {
      parallel_for("halo: unpack z", plane, CopyPlane{plane_buffer(receive_.data() + at, nx, ny), field.view(), 0, -1});
    }
    if (z_upper_ != MPI_PROC_NULL) {
      parallel_for("halo: unpack z", plane,
                   CopyPlane{plane_buffer(receive_.data() + half_ + at, nx, ny), field.view(), 0, field.box().nz()});
    }
  });
}

}  // namespace sluice
