# For files with loops over cells, in Sluice and in codes that use an installed Sluice.

# sluice_kernel_sources(FILE...): C++ in a CPU build of Sluice, CUDA in a GPU build.
function(sluice_kernel_sources)
  if(SLUICE_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

# -std=c++20 is spelled out: the feature cxx_std_20 is that of C++ files, and CMake 3.25 does not know that nvcc has C++20.
# fmt 9 declares functions constexpr for g++ 12 but not for nvcc, which passes its code on to g++.
set(SLUICE_NVCC_OPTIONS -DFMT_USE_CONSTEXPR=1 -std=c++20 -Xcompiler=-ffp-contract=off --expt-relaxed-constexpr
                        -diag-suppress=20012,20014)
