# Writes OUTPUT from src/run/version.hpp.in, if its content changed: cmake -DSOURCE= -DOUTPUT= -DPROJECT_VERSION= -DSLUICE_COMPILER= -P
find_package(Git QUIET)
set(SLUICE_GIT_REVISION unknown)
if(Git_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(SLUICE_GIT_REVISION ${revision})
  endif()
endif()
set(SLUICE_CASES_DIRECTORY ${SOURCE}/cases)
configure_file(${SOURCE}/src/run/version.hpp.in ${OUTPUT} @ONLY)
