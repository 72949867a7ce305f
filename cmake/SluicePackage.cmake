# cpack: Debian packages of the programs sluice and sluice-post (sluice-dns) and of the libraries (libsluice-dev).
# scripts/build_deb.sh configures for them.
if(SLUICE_NATIVE)
  return()  # the program would only run on processors like this machine's
endif()

# sluice_post where Debian's Python 3 looks for packages, and its command.
set(post COMPONENT post EXCLUDE_FROM_ALL)
install(DIRECTORY postprocess/sluice_post DESTINATION lib/python3/dist-packages ${post} PATTERN __pycache__ EXCLUDE)
file(WRITE ${PROJECT_BINARY_DIR}/generated/sluice-post
     "#!/usr/bin/python3\nimport sys\n\nfrom sluice_post.cli import main\n\nsys.exit(main())\n")
install(PROGRAMS ${PROJECT_BINARY_DIR}/generated/sluice-post DESTINATION ${CMAKE_INSTALL_BINDIR} ${post})
# Python compiles the package once, at the installation, and not at every start.
file(CONFIGURE OUTPUT control/postinst CONTENT "#!/bin/sh\nset -e\nif [ \"$1\" = configure ]; then py3compile -p sluice-dns; fi\n" @ONLY)
file(CONFIGURE OUTPUT control/prerm CONTENT "#!/bin/sh\nset -e\npy3clean -p sluice-dns\n" @ONLY)
file(CHMOD ${PROJECT_BINARY_DIR}/control/postinst ${PROJECT_BINARY_DIR}/control/prerm PERMISSIONS
     OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Sluice authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program post development)
set(CPACK_COMPONENT_PROGRAM_GROUP USER)
set(CPACK_COMPONENT_POST_GROUP USER)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP DEVELOPER)
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
set(CPACK_DEBIAN_USER_PACKAGE_NAME sluice-dns)
set(CPACK_DEBIAN_USER_PACKAGE_SECTION science)
set(CPACK_DEBIAN_USER_PACKAGE_CONFLICTS sluice)
set(CPACK_DEBIAN_USER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_USER_PACKAGE_DEPENDS
    "${launcher}, python3 (>= 3.10), python3-numpy, python3-scipy, python3-h5py, python3-matplotlib, python3-pil, python3-jinja2, python3-yaml, python3-pandas, python3-xarray (>= 2023.01)")
set(CPACK_DEBIAN_USER_PACKAGE_SUGGESTS "python3-h5netcdf, python3-dask")
set(CPACK_DEBIAN_USER_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/control/postinst;${PROJECT_BINARY_DIR}/control/prerm")
set(CPACK_DEBIAN_USER_DESCRIPTION "${PROJECT_DESCRIPTION}.
 The program sluice, its cases and documentation, and sluice-post, which writes figures, tables and reports.")

set(CPACK_DEBIAN_DEVELOPER_PACKAGE_NAME libsluice-dev)
set(CPACK_DEBIAN_DEVELOPER_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPER_PACKAGE_DEPENDS "${mpi_headers}, libfmt-dev, libfftw3-dev, libyaml-cpp-dev")
set(CPACK_DEBIAN_DEVELOPER_DESCRIPTION "${PROJECT_DESCRIPTION}.
 The flow solver, Poisson solver, Fourier transforms and halo exchange of Sluice for other codes.")
include(CPack)
