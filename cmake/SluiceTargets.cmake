# One library a folder. sluice_add_library(NAME KERNELS kernel.cpp ... PLAIN plain.cpp ...): a GPU build compiles KERNELS with nvcc.

add_library(sluice_options INTERFACE)
target_compile_features(sluice_options INTERFACE cxx_std_20)
# nvcc's -std=c++20 is spelled out, since that feature speaks of C++ files and CMake 3.25 does not know that nvcc has C++20.
# Bitwise reproducible arithmetic on CPUs: no contraction into fused multiply-adds, which would depend on how a loop was compiled.
target_compile_options(sluice_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -ffp-contract=off>
  # g++ 12 warns of overlapping copies inside std::string where there are none.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  # It also notes that vectors are passed to functions in another way since GCC 4.6; ours are inlined.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-psabi>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O3 -fno-math-errno -fno-trapping-math>
  # fmt 9 declares functions constexpr for g++ 12 but not for nvcc, which passes its code on to g++.
  $<$<COMPILE_LANGUAGE:CUDA>:-DFMT_USE_CONSTEXPR=1>
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -Xcompiler=-ffp-contract=off --expt-relaxed-constexpr -diag-suppress=20012,20014>)
if(SLUICE_NATIVE)
  target_compile_options(sluice_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()
if(SLUICE_FUZZ)
  target_compile_options(sluice_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
if(SLUICE_SANITIZE OR SLUICE_FUZZ)
  target_compile_options(sluice_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined>)
  target_link_options(sluice_options INTERFACE -fsanitize=address,undefined)
endif()

set(SLUICE_PUBLIC_DEFINITIONS OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # the C interface of MPI is all we use
if(SLUICE_PRECISION STREQUAL "single")
  list(APPEND SLUICE_PUBLIC_DEFINITIONS SLUICE_SINGLE)
elseif(NOT SLUICE_PRECISION STREQUAL "double")
  message(FATAL_ERROR "SLUICE_PRECISION is '${SLUICE_PRECISION}'; it can be double or single")
endif()
if(SLUICE_CUDA)
  list(APPEND SLUICE_PUBLIC_DEFINITIONS SLUICE_CUDA)
endif()
# Views are larger with SLUICE_DEBUG, so an installed Sluice hands on what its own build had: SluiceConfig.cmake.in.
list(APPEND SLUICE_PUBLIC_DEFINITIONS $<BUILD_INTERFACE:$<$<CONFIG:Debug>:SLUICE_DEBUG>>)

# Files with loops over cells: C++ on a CPU build, CUDA on a GPU build.
function(sluice_kernel_sources)
  if(SLUICE_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

function(sluice_add_library name)
  cmake_parse_arguments(arg "" "" "KERNELS;PLAIN" ${ARGN})
  add_library(sluice_${name} STATIC ${arg_KERNELS} ${arg_PLAIN})
  add_library(Sluice::${name} ALIAS sluice_${name})
  set_target_properties(sluice_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  sluice_kernel_sources(${arg_KERNELS})
  target_include_directories(sluice_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/sluice>)
  target_compile_definitions(sluice_${name} PUBLIC ${SLUICE_PUBLIC_DEFINITIONS})
  target_compile_features(sluice_${name} PUBLIC cxx_std_20)
  target_link_libraries(sluice_${name} PRIVATE $<BUILD_INTERFACE:sluice_options>)
endfunction()
