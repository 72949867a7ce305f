# sluice_add_library(NAME [ANY_PRECISION] KERNELS kernel.cpp ... PLAIN plain.cpp ... LOOPLESS loopless.cpp ...): a library, Sluice::NAME
# for other codes; a GPU build compiles KERNELS as CUDA or HIP; LOOPLESS sources, without loops that take time, are compiled with less
# optimization. If the build has two precisions, so has the library (SluicePrecisions.cmake). ANY_PRECISION: its code does not know
# `real`, and is compiled once.
include(SluiceKernels)

add_library(sluice_options INTERFACE)
target_compile_features(sluice_options INTERFACE cxx_std_20)
# Bitwise reproducible arithmetic on CPUs: no contraction into fused multiply-adds, which would depend on how a loop was compiled.
target_compile_options(sluice_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -ffp-contract=off>
  # g++ 12 warns of overlapping copies inside std::string where there are none.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  # HIP marks its functions nodiscard, also those that only clear an error or run where nobody could be told.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SLUICE_HIP}>>:-Wno-unused-value>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SLUICE_HIP}>>:-Wno-unused-result>
  # Clang also warns of names that lambdas hide, of changes of sign, of pragmas for g++ and of functions that libstdc++ calls.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SLUICE_HIP}>>:-Wno-shadow>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SLUICE_HIP}>>:-Wno-sign-conversion>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SLUICE_HIP}>>:-Wno-unknown-pragmas>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SLUICE_HIP}>>:-Wno-deprecated-declarations>
  # g++ also notes that vectors are passed to functions in another way since GCC 4.6; ours are inlined.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-psabi>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O3 -fno-math-errno -fno-trapping-math>
  "$<$<COMPILE_LANGUAGE:CUDA>:${SLUICE_NVCC_OPTIONS}>")
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

# sluice_loopless_sources(FILE...): sources of this folder without loops that take time. With -O1, g++ compiles them in two thirds
# of the time.
function(sluice_loopless_sources)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
endfunction()

set(SLUICE_PUBLIC_DEFINITIONS OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # the C interface of MPI is all we use
if(SLUICE_GPU)
  list(APPEND SLUICE_PUBLIC_DEFINITIONS SLUICE_GPU)
endif()
if(SLUICE_HIP)
  list(APPEND SLUICE_PUBLIC_DEFINITIONS SLUICE_HIP)
endif()
# Views are larger with SLUICE_DEBUG, so an installed Sluice hands on what its own build had: SluiceConfig.cmake.in.
list(APPEND SLUICE_PUBLIC_DEFINITIONS $<BUILD_INTERFACE:$<$<CONFIG:Debug>:SLUICE_DEBUG>>)

function(sluice_add_library name)
  cmake_parse_arguments(arg "ANY_PRECISION" "" "KERNELS;PLAIN;LOOPLESS" ${ARGN})
  set(sources ${arg_KERNELS} ${arg_PLAIN} ${arg_LOOPLESS})
  add_library(sluice_${name} STATIC ${sources})
  add_library(Sluice::${name} ALIAS sluice_${name})
  set_target_properties(sluice_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  sluice_kernel_sources(${arg_KERNELS})
  sluice_loopless_sources(${arg_LOOPLESS})
  target_include_directories(sluice_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/sluice>)
  target_compile_definitions(sluice_${name} PUBLIC ${SLUICE_PUBLIC_DEFINITIONS})
  if(arg_ANY_PRECISION)
    target_compile_definitions(sluice_${name} PRIVATE SLUICE_ANY_PRECISION)
    sluice_add_twin(sluice_${name} STATIC $<TARGET_OBJECTS:sluice_${name}>)
  else()
    if(SLUICE_PRECISION STREQUAL "single")
      target_compile_definitions(sluice_${name} PUBLIC SLUICE_SINGLE)
    endif()
    sluice_add_twin(sluice_${name} STATIC ${sources})
  endif()
  target_compile_features(sluice_${name} PUBLIC cxx_std_20)
  target_link_libraries(sluice_${name} PRIVATE $<BUILD_INTERFACE:sluice_options>)
endfunction()
