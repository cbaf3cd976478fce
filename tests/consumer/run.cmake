# Builds and runs one of the projects of this folder as a user would: a copy of it, out of kvcore's tree.
#
#   cmake -DVARIANT=find_package|pkg_config|subdirectory|fetch -DKVCORE_SOURCE=… -DKVCORE_BUILD=… -DWORK=…
#     -DGENERATOR=… -DC_COMPILER=… -DCXX_COMPILER=… -DMAKE=… -P run.cmake
cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE "${WORK}")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/" DESTINATION "${WORK}/consumer")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(cmake_project folder build)
  run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}/consumer/${folder}" -B "${WORK}/${build}" ${ARGN}
    "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror")
  run("${CMAKE_COMMAND}" --build "${WORK}/${build}")
  run("${CMAKE_CTEST_COMMAND}" --output-on-failure --no-tests=error --test-dir "${WORK}/${build}")
endfunction()

function(make_project prefix)
  file(GLOB_RECURSE package "${prefix}/*/kvcore.pc")
  get_filename_component(package "${package}" DIRECTORY)
  get_filename_component(library "${package}" DIRECTORY)
  file(REMOVE "${WORK}/consumer/main")
  run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${package}" "LD_LIBRARY_PATH=${library}" "CC=${C_COMPILER}"
    "${MAKE}" -C "${WORK}/consumer" check)
endfunction()

if(VARIANT STREQUAL "find_package" OR VARIANT STREQUAL "pkg_config")
  run("${CMAKE_COMMAND}" --install "${KVCORE_BUILD}" --prefix "${WORK}/prefix")
  # The package must still work where its folder was moved to.
  foreach(prefix prefix moved)
    if(prefix STREQUAL "moved")
      file(RENAME "${WORK}/prefix" "${WORK}/moved")
    endif()
    if(VARIANT STREQUAL "find_package")
      cmake_project(. "build-${prefix}" "-DCMAKE_PREFIX_PATH=${WORK}/${prefix}")
    else()
      make_project("${WORK}/${prefix}")
    endif()
  endforeach()
else()
  cmake_project("${VARIANT}" build "-DKVCORE_SOURCE=${KVCORE_SOURCE}")
endif()
