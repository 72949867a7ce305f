#pragma once
#include <mpi.h>

#include <utility>

#include "core/support/collective.hpp"

namespace sluice {

/// A communicator that is freed with this object. Move-only. Construction and destruction are collective.
class OwnedComm {
 public:
  OwnedComm() = default;
  OwnedComm(OwnedComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  OwnedComm& operator=(OwnedComm&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  OwnedComm(const OwnedComm&) = delete;
  OwnedComm& operator=(const OwnedComm&) = delete;
  ~OwnedComm() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);  // unchecked: destructor
  }

  static OwnedComm duplicate_of(MPI_Comm comm) {
    OwnedComm made;
    check_mpi(MPI_Comm_dup(comm, &made.comm_), "MPI_Comm_dup");
    return made;
  }
  /// The ranks of `comm` that pass the same color, ordered by key.
  static OwnedComm split(MPI_Comm comm, int color, int key) {
    OwnedComm made;
    check_mpi(MPI_Comm_split(comm, color, key, &made.comm_), "MPI_Comm_split");
    return made;
  }
  /// The ranks of `comm` on this host.
  static OwnedComm of_host(MPI_Comm comm) {
    OwnedComm made;
    check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made.comm_), "MPI_Comm_split_type");
    return made;
  }

  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace sluice
