# cmake --install: the program, its cases, machine files and documentation, and the libraries Sluice::NAME for other codes
# (find_package(Sluice)).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
set(documentation ${CMAKE_INSTALL_DATAROOTDIR}/doc/sluice-dns)
install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET sluice_single)
  install(TARGETS sluice_single RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# What the program prints about itself: completion for bash, manual page, JSON schema of the case file. A program that does
# not run here, built for another processor, goes without.
foreach(file "completion|${CMAKE_INSTALL_DATADIR}/bash-completion/completions|sluice"
             "man|${CMAKE_INSTALL_MANDIR}/man1|sluice.1"
             "init --schema|${CMAKE_INSTALL_DATADIR}/sluice|case.schema.json")
  string(REPLACE "|" ";" parts "${file}")
  list(GET parts 0 command)
  list(GET parts 1 folder)
  list(GET parts 2 name)
  string(REPLACE " " ";" command "${command}")
  install(CODE "
    execute_process(COMMAND \"$<TARGET_FILE:sluice>\" ${command} OUTPUT_VARIABLE text RESULT_VARIABLE result ERROR_QUIET TIMEOUT 60)
    if(result EQUAL 0)
      file(WRITE \"${PROJECT_BINARY_DIR}/generated/${name}\" \"\${text}\")
      file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${folder}\" TYPE FILE FILES \"${PROJECT_BINARY_DIR}/generated/${name}\")
    else()
      message(STATUS \"${name} is not installed: the program does not run on this machine\")
    endif()")
endforeach()
install(DIRECTORY cases/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/cases)
install(DIRECTORY machines/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/machines)
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION ${documentation})
install(FILES LICENSE DESTINATION ${documentation} RENAME copyright)
install(DIRECTORY docs DESTINATION ${documentation})

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS sluice_core sluice_fft sluice_poisson sluice_model sluice_solver sluice_io sluice_simulation
        EXPORT SluiceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# What sluice_io links: the HDF5 of this build by its paths, since another need not fit the MPI library.
set_target_properties(sluice_hdf5 PROPERTIES EXPORT_NAME hdf5)
install(TARGETS sluice_hdf5 EXPORT SluiceTargets)
if(SLUICE_FETCH_DEPS)
  install(TARGETS yaml-cpp EXPORT SluiceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# The headers that other codes include; those that these include are installed with them.
set(entry_headers
    core/decomp/communicator.hpp
    core/decomp/decomposition.hpp
    core/decomp/exchange/exchanges.hpp
    core/decomp/field.hpp
    core/decomp/field_copy.hpp
    core/decomp/halo_exchange.hpp
    core/device/memory.hpp
    core/device/select.hpp
    core/device/timers.hpp
    core/support/collective.hpp
    core/support/error.hpp
    poisson/fft/distributed_fft.hpp
    poisson/helmholtz_solver.hpp
    poisson/poisson_solver.hpp
    solver/diagnostics.hpp
    solver/grid/stretching.hpp
    solver/initial.hpp
    solver/physics/force_loops.hpp
    solver/physics/given_force.hpp
    solver/physics/source_loops.hpp
    solver/physics/terms.hpp
    solver/statistics/statistics.hpp
    solver/time_stepper.hpp
    io/case/case_file.hpp
    src/run/setup.hpp
    src/run/simulation.hpp)
install(CODE "
  set(source \"${PROJECT_SOURCE_DIR}\")
  set(destination \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/sluice\")
  set(entry_headers \"${entry_headers}\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake\")")

install(EXPORT SluiceTargets NAMESPACE Sluice:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
configure_package_config_file(cmake/SluiceConfig.cmake.in ${PROJECT_BINARY_DIR}/SluiceConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SluiceConfig.cmake ${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake cmake/FindFFTW.cmake cmake/FindHIPRuntime.cmake cmake/FindNCCL.cmake
              cmake/SluiceKernels.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
