#pragma once
// A choice that benchmarks make during a run; others take what mpi_takes_device_pointers() says (host_access.hpp).

namespace sluice {

/// Whether MPI says that it takes pointers to device memory, or SLUICE_CUDA_AWARE_MPI does; true in a CPU build.
bool mpi_is_cuda_aware();

/// What mpi_takes_device_pointers() returns from now on. Without effect in a CPU build. Exchanges made before must not
/// be used any more.
void use_device_pointers_in_mpi(bool use);

}  // namespace sluice
