# cpack: Debian packages of the program (sluice-dns) and of the libraries (libsluice-dev). The preset `package` configures for them.
if(SLUICE_NATIVE)
  return()  # the program would only run on processors like this machine's
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Sluice authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

if(MPI_CXX_LIBRARIES MATCHES mpich)
  set(launcher mpich)
  set(mpi_headers "libmpich-dev, libhdf5-mpich-dev")
else()
  set(launcher openmpi-bin)
  set(mpi_headers "libopenmpi-dev, libhdf5-openmpi-dev")
endif()

if(NOT HDF5_IS_PARALLEL)
  string(REGEX REPLACE "libhdf5-[a-z]+-dev" libhdf5-dev mpi_headers "${mpi_headers}")
endif()

# Debian has another program called sluice, in a package of that name.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME sluice-dns)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONFLICTS sluice)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ${launcher})
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program sluice, its cases and its documentation.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsluice-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${mpi_headers}, libfmt-dev, libfftw3-dev, libyaml-cpp-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Sluice's flow solver, Poisson solver, Fourier transforms and halo exchange for other codes.")
include(CPack)
