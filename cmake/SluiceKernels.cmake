# For files with loops over cells, in Sluice and in codes that use an installed Sluice.

# sluice_kernel_sources(FILE...): C++ in a CPU build of Sluice, CUDA or HIP in a GPU build.
function(sluice_kernel_sources)
  if(SLUICE_NVCC)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  elseif(SLUICE_HIP)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${SLUICE_HIP_OPTIONS})
  endif()
endfunction()

# Clang's options for HIP: as nvcc does, every file includes the runtime, and a GPU contracts products and sums.
set(SLUICE_HIP_OPTIONS -x hip -include hip/hip_runtime.h -Xarch_device -ffp-contract=fast
                       -Wno-implicit-int-conversion -Wno-shorten-64-to-32)
foreach(architecture IN LISTS SLUICE_HIP_ARCHITECTURES)
  list(APPEND SLUICE_HIP_OPTIONS --offload-arch=${architecture})
endforeach()

# -std=c++20 is spelled out: the feature cxx_std_20 is that of C++ files, and CMake 3.25 does not know that nvcc has C++20.
# fmt 9 declares functions constexpr for g++ 12 but not for nvcc, which passes its code on to g++.
set(SLUICE_NVCC_OPTIONS -DFMT_USE_CONSTEXPR=1 -std=c++20 -Xcompiler=-ffp-contract=off --expt-relaxed-constexpr
                        -diag-suppress=20012,20014)
