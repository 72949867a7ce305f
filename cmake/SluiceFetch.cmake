# SLUICE_FETCH_DEPS: the small C++ libraries from their release archives, in the versions of Debian 12, instead of installed ones.
# -DFETCHCONTENT_SOURCE_DIR_<NAME>=FOLDER takes a library from unpacked sources; then nothing is downloaded.
include(FetchContent)

# sluice_fetch(NAME URL SHA256): NAME as in FETCHCONTENT_SOURCE_DIR_<NAME>, in capitals there.
function(sluice_fetch name url sha256)
  if(POLICY CMP0135)
    cmake_policy(SET CMP0135 NEW)  # unpacked files are as old as their unpacking, so that a changed archive is compiled again
  endif()
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # the variables below are options of the fetched projects
  set(CMAKE_POLICY_VERSION_MINIMUM 3.5)  # some ask for policies so old that CMake 4 no longer has them
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(BUILD_SHARED_LIBS OFF)
  set(BUILD_TESTING OFF)
  set(YAML_CPP_BUILD_TOOLS OFF)
  set(JSON_BuildTests OFF)
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  set(FMT_INSTALL ON)  # codes that use an installed Sluice::core link it
  FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${sha256})
  FetchContent_MakeAvailable(${name})
endfunction()

# Their headers are compiled without our warnings.
function(sluice_as_system)
  foreach(target IN LISTS ARGN)
    get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
    set_property(TARGET ${target} PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${directories})
  endforeach()
endfunction()

sluice_fetch(fmt https://github.com/fmtlib/fmt/releases/download/9.1.0/fmt-9.1.0.zip
             cceb4cb9366e18a5742128cb3524ce5f50e88b476f1e54737a47ffdf4df4c996)
sluice_fetch(yaml-cpp https://github.com/jbeder/yaml-cpp/archive/refs/tags/yaml-cpp-0.7.0.tar.gz
             43e6a9fcb146ad871515f0d0873947e5d497a1c9c60c58cb102a97b47208b7c3)
sluice_fetch(cli11 https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.1.2.tar.gz
             26291377e892ba0e5b4972cdfd4a2ab3bf53af8dac1f4ea8fe0d1376b625c8cb)
sluice_fetch(nlohmann_json https://github.com/nlohmann/json/archive/refs/tags/v3.11.2.tar.gz
             d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273)
target_compile_options(yaml-cpp PRIVATE -include cstdint)  # version 0.7.0 forgets it, which g++ 15 does not forgive
sluice_as_system(fmt yaml-cpp CLI11 nlohmann_json)
if(SLUICE_TESTS)
  sluice_fetch(googletest https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz
               81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2)
  sluice_as_system(gtest)
endif()
