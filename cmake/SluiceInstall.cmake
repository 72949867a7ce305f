# cmake --install: the program, its cases, and Sluice::core and Sluice::poisson for other codes (find_package(Sluice)).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY cases/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/cases)
install(TARGETS sluice_core sluice_poisson EXPORT SluiceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY core poisson DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice FILES_MATCHING PATTERN "*.hpp" PATTERN example EXCLUDE)
install(EXPORT SluiceTargets NAMESPACE Sluice:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
configure_package_config_file(cmake/SluiceConfig.cmake.in ${PROJECT_BINARY_DIR}/SluiceConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SluiceConfig.cmake ${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake cmake/FindFFTW.cmake cmake/FindNCCL.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
