# find_package(kvcore) in a folder that `cargo xtask dist` made, with an archive for each of many targets: the targets
# kvcore::kvcore and, for ExecuTorch's interface, kvcore::compat. KVCORE_TARGET names the target as Rust does and as the
# folders in lib/ are called; empty, it follows from the toolchain. With KVCORE_FREESTANDING the archive brings memcpy,
# division and the like itself, for images without a C library.
include("${CMAKE_CURRENT_LIST_DIR}/kvcoreTarget.cmake")
kvcore_choose_target(kvcore_target)
get_filename_component(kvcore_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

set(kvcore_name kvcore)
if(KVCORE_FREESTANDING)
  set(kvcore_name kvcore_freestanding)
endif()
set(kvcore_archive "${kvcore_root}/lib/${kvcore_target}/lib${kvcore_name}.a")
if(NOT kvcore_target OR NOT EXISTS "${kvcore_archive}")
  file(GLOB kvcore_archives RELATIVE "${kvcore_root}/lib" "${kvcore_root}/lib/*/lib${kvcore_name}.a")
  string(REGEX REPLACE "/[^;]+" "" kvcore_there "${kvcore_archives}")
  string(REPLACE ";" " " kvcore_there "${kvcore_there}")
  set(kvcore_FOUND FALSE)
  set(kvcore_NOT_FOUND_MESSAGE
    "no lib${kvcore_name}.a for this toolchain (target \"${kvcore_target}\"); set KVCORE_TARGET to one of: ${kvcore_there}")
  return()
endif()

if(NOT TARGET kvcore::kvcore)
  add_library(kvcore::kvcore STATIC IMPORTED)
  set_target_properties(kvcore::kvcore PROPERTIES
    IMPORTED_LOCATION "${kvcore_archive}"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${kvcore_root}/include")
endif()
if(NOT TARGET kvcore::compat)
  add_library(kvcore::compat INTERFACE IMPORTED)
  set_target_properties(kvcore::compat PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${kvcore_root}/include/compat"
    INTERFACE_LINK_LIBRARIES kvcore::kvcore)
endif()
