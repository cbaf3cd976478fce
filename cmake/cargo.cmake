# Builds the library with cargo in the build folder and makes the imported targets kvcore::kvcore and kvcore::shared.

find_program(KVCORE_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" DOC "The program cargo")
if(NOT KVCORE_CARGO)
  message(FATAL_ERROR "kvcore is built by Rust's cargo, which was not found. Install Rust (https://rustup.rs), or set "
    "KVCORE_CARGO to the program.")
endif()
if(CMAKE_CROSSCOMPILING AND NOT KVCORE_CARGO_TARGET)
  message(FATAL_ERROR "kvcore: this is a cross build; set KVCORE_CARGO_TARGET to Rust's name of the target, for example "
    "-DKVCORE_CARGO_TARGET=thumbv7em-none-eabihf. `rustc --print target-list` lists them.")
endif()
# Profiles that unwind need Rust's std, which is not in the archive.
if(KVCORE_PROFILE MATCHES "^(dev|debug|test|bench)$")
  message(FATAL_ERROR "kvcore: KVCORE_PROFILE=${KVCORE_PROFILE} does not abort on panic; use release or size.")
endif()

# Cargo's environment is what the options say, whatever the shell has.
set(kvcore_environment --unset=CARGO_BUILD_TARGET --unset=CARGO_TARGET_DIR)
foreach(limit KVC_MAX_CACHES KVC_MAX_BUILDERS)
  if("${${limit}}" STREQUAL "")
    list(APPEND kvcore_environment --unset=${limit})
  elseif("${${limit}}" MATCHES "^[0-9]+$" AND "${${limit}}" GREATER_EQUAL 1 AND "${${limit}}" LESS_EQUAL 1024)
    list(APPEND kvcore_environment ${limit}=${${limit}})
  else()
    message(FATAL_ERROR "kvcore: ${limit} is \"${${limit}}\": a number from 1 to 1024 was expected.")
  endif()
endforeach()
if(KVCORE_TOOLCHAIN)
  list(APPEND kvcore_environment RUSTUP_TOOLCHAIN=${KVCORE_TOOLCHAIN})
endif()
set(kvcore_cargo ${CMAKE_COMMAND} -E env ${kvcore_environment} ${KVCORE_CARGO})

execute_process(COMMAND ${kvcore_cargo} -vV WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  OUTPUT_VARIABLE kvcore_cargo_says ERROR_VARIABLE kvcore_cargo_says RESULT_VARIABLE kvcore_cargo_failed)
string(REGEX MATCH "release: ([^\n]+)" _ "${kvcore_cargo_says}")
set(kvcore_cargo_version "${CMAKE_MATCH_1}")
string(REGEX MATCH "host: ([^\n]+)" _ "${kvcore_cargo_says}")
set(kvcore_target "${CMAKE_MATCH_1}")
if(kvcore_cargo_failed OR NOT kvcore_target)
  message(FATAL_ERROR "kvcore: ${KVCORE_CARGO} does not run:\n${kvcore_cargo_says}")
endif()
file(STRINGS "${PROJECT_SOURCE_DIR}/Cargo.toml" kvcore_rust REGEX "^rust-version = ")
string(REGEX MATCH "[0-9.]+" kvcore_rust "${kvcore_rust}")
if(kvcore_cargo_version VERSION_LESS kvcore_rust)
  message(FATAL_ERROR "kvcore: Rust ${kvcore_rust} or newer is needed, this is ${kvcore_cargo_version}: run `rustup update`.")
endif()
if(KVCORE_CARGO_TARGET)
  set(kvcore_target "${KVCORE_CARGO_TARGET}")
endif()
message(STATUS "kvcore ${PROJECT_VERSION}: cargo ${kvcore_cargo_version} for ${kvcore_target}")

file(GLOB_RECURSE kvcore_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*")
list(APPEND kvcore_sources
  "${PROJECT_SOURCE_DIR}/Cargo.toml" "${PROJECT_SOURCE_DIR}/Cargo.lock" "${PROJECT_SOURCE_DIR}/build.rs")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/Cargo.toml")
string(REPLACE ";" "," kvcore_features "capi;panic-handler;${KVCORE_FEATURES}")
string(REGEX REPLACE ",+$" "" kvcore_features "${kvcore_features}")
separate_arguments(kvcore_cargo_arguments NATIVE_COMMAND "${KVCORE_CARGO_ARGS}")

# kvcore_build(crate type, cargo's name of the file, where a copy of it goes, command for the copy, arguments of rustc …)
# Cargo leaves a file as old as it is when nothing changed for it; the copy is new, so that the build is done.
function(kvcore_build crate_type built file afterwards)
  set(rustc_arguments)
  if(ARGN)
    set(rustc_arguments -- ${ARGN})
  endif()
  add_custom_command(
    OUTPUT "${file}"
    COMMAND ${kvcore_cargo} rustc --profile ${KVCORE_PROFILE} --lib --crate-type ${crate_type} --features
      ${kvcore_features} --locked --target ${kvcore_target} --target-dir "${PROJECT_BINARY_DIR}/cargo"
      ${kvcore_cargo_arguments} ${rustc_arguments}
    COMMAND ${CMAKE_COMMAND} -E copy "${PROJECT_BINARY_DIR}/cargo/${kvcore_target}/${KVCORE_PROFILE}/${built}" "${file}"
    ${afterwards}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    DEPENDS ${kvcore_sources}
    COMMENT "kvcore: cargo builds the ${crate_type}"
    USES_TERMINAL VERBATIM)
endfunction()

# Where the whole project is installed, all of it is built.
set(kvcore_all)
if(KVCORE_INSTALL)
  set(kvcore_all ALL)
endif()

set(kvcore_archive_name "${CMAKE_STATIC_LIBRARY_PREFIX}kvcore${CMAKE_STATIC_LIBRARY_SUFFIX}")
set(kvcore_archive "${PROJECT_BINARY_DIR}/${kvcore_archive_name}")
set(kvcore_afterwards)
if(KVCORE_TRIM)
  set(kvcore_afterwards COMMAND ${CMAKE_COMMAND} "-DAR=${CMAKE_AR}" "-DARCHIVE=${kvcore_archive}"
    -P "${PROJECT_SOURCE_DIR}/cmake/trim.cmake")
endif()
kvcore_build(staticlib "${kvcore_archive_name}" "${kvcore_archive}" "${kvcore_afterwards}")
add_custom_target(kvcore_archive ${kvcore_all} DEPENDS "${kvcore_archive}")
add_library(kvcore::kvcore STATIC IMPORTED GLOBAL)
set_target_properties(kvcore::kvcore PROPERTIES
  IMPORTED_LOCATION "${kvcore_archive}"
  IMPORTED_LINK_INTERFACE_LANGUAGES C
  INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include")
add_dependencies(kvcore::kvcore kvcore_archive)

# ExecuTorch's interface of such caches, for C++: #include <executorch/extension/llm/cache/sequence_cache.h>
add_library(kvcore::compat INTERFACE IMPORTED GLOBAL)
set_target_properties(kvcore::compat PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include/compat"
  INTERFACE_LINK_LIBRARIES kvcore::kvcore)

if(KVCORE_SHARED)
  if(NOT UNIX)
    message(FATAL_ERROR "kvcore: KVCORE_SHARED is for systems with ELF or Mach-O; use the static library here.")
  endif()
  # One version of the ABI, one name for the loader.
  file(STRINGS "${PROJECT_SOURCE_DIR}/include/kvcore.h" kvcore_abi REGEX "^#define KVC_ABI_VERSION ")
  string(REGEX MATCH "[0-9]+" kvcore_abi "${kvcore_abi}")
  set(kvcore_shared_link "${CMAKE_SHARED_LIBRARY_PREFIX}kvcore${CMAKE_SHARED_LIBRARY_SUFFIX}")
  if(APPLE)
    set(kvcore_shared_name "${CMAKE_SHARED_LIBRARY_PREFIX}kvcore.${kvcore_abi}${CMAKE_SHARED_LIBRARY_SUFFIX}")
    set(kvcore_soname "@rpath/${kvcore_shared_name}")
    set(kvcore_shared_arguments -Clink-arg=-Wl,-install_name,${kvcore_soname})
  else()
    set(kvcore_shared_name "${kvcore_shared_link}.${kvcore_abi}")
    set(kvcore_soname "${kvcore_shared_name}")
    set(kvcore_shared_arguments -Clink-arg=-Wl,-soname,${kvcore_soname} -Clink-arg=-lc)
  endif()
  set(kvcore_shared "${PROJECT_BINARY_DIR}/${kvcore_shared_name}")
  kvcore_build(cdylib "${kvcore_shared_link}" "${kvcore_shared}" "" ${kvcore_shared_arguments})
  add_custom_target(kvcore_shared ${kvcore_all} DEPENDS "${kvcore_shared}")
  add_library(kvcore::shared SHARED IMPORTED GLOBAL)
  set_target_properties(kvcore::shared PROPERTIES
    IMPORTED_LOCATION "${kvcore_shared}"
    IMPORTED_SONAME "${kvcore_soname}"
    INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include")
  add_dependencies(kvcore::shared kvcore_shared)
endif()
