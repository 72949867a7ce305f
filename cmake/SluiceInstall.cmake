# cmake --install: the program, its cases, machine files and documentation, and Sluice::core, Sluice::fft and Sluice::poisson for other codes (find_package(Sluice)).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
set(documentation ${CMAKE_INSTALL_DATAROOTDIR}/doc/sluice-dns)
install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
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
install(TARGETS sluice_core sluice_fft sluice_poisson EXPORT SluiceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The solvers and transforms of poisson/, what a code needs to use them, and what these headers include.
set(public_headers
    core/decomp/communicator.hpp
    core/decomp/decomposition.hpp
    core/decomp/exchange/array_part.hpp
    core/decomp/exchange/exchange.hpp
    core/decomp/exchange/exchange_methods.hpp
    core/decomp/exchange/exchanges.hpp
    core/decomp/exchange/mover.hpp
    core/decomp/exchange/piece_tuning.hpp
    core/decomp/field.hpp
    core/decomp/field_copy.hpp
    core/decomp/halo_exchange.hpp
    core/decomp/index_bounds.hpp
    core/decomp/memory_need.hpp
    core/decomp/view3.hpp
    core/device/assertion.hpp
    core/device/buffer.hpp
    core/device/event.hpp
    core/device/memory.hpp
    core/device/timers.hpp
    core/stencil/order.hpp
    core/stencil/tridiagonal_method.hpp
    core/support/box3.hpp
    core/support/collective.hpp
    core/support/error.hpp
    core/support/owned_comm.hpp
    core/support/phase.hpp
    core/support/phases.hpp
    core/support/real.hpp
    poisson/fft/distributed_fft.hpp
    poisson/helmholtz_solver.hpp
    poisson/poisson_solver.hpp
    poisson/tridiagonal/tridiagonal_rows.hpp)
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice/${folder})
  file(STRINGS ${header} includes REGEX "^#include \"")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included ${line})
    if(NOT included IN_LIST public_headers)
      message(FATAL_ERROR "${header} is installed and includes ${included}, which is not: list it in cmake/SluiceInstall.cmake")
    endif()
  endforeach()
endforeach()

install(EXPORT SluiceTargets NAMESPACE Sluice:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
configure_package_config_file(cmake/SluiceConfig.cmake.in ${PROJECT_BINARY_DIR}/SluiceConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SluiceConfig.cmake ${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake cmake/FindFFTW.cmake cmake/FindNCCL.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
