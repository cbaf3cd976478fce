# Installs the libraries, the headers, and packages for find_package and pkg-config that may be moved as a whole.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(FILES "${kvcore_archive}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES LICENSE-MIT LICENSE-APACHE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
set(kvcore_installed_archive "${CMAKE_INSTALL_LIBDIR}/${kvcore_archive_name}")
set(kvcore_installed kvcore_installed_archive CMAKE_INSTALL_INCLUDEDIR)
if(KVCORE_SHARED)
  install(PROGRAMS "${kvcore_shared}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  file(CREATE_LINK ${kvcore_shared_name} "${PROJECT_BINARY_DIR}/${kvcore_shared_link}" SYMBOLIC)
  install(FILES "${PROJECT_BINARY_DIR}/${kvcore_shared_link}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  set(kvcore_installed_shared "${CMAKE_INSTALL_LIBDIR}/${kvcore_shared_name}")
  list(APPEND kvcore_installed kvcore_installed_shared)
endif()

set(kvcore_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/kvcore")
configure_package_config_file(cmake/kvcoreConfig.cmake.in kvcoreConfig.cmake
  INSTALL_DESTINATION "${kvcore_package_folder}"
  PATH_VARS ${kvcore_installed}
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Below 1.0 a new minor version may break its users.
write_basic_package_version_file(kvcoreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kvcoreConfig.cmake" "${PROJECT_BINARY_DIR}/kvcoreConfigVersion.cmake"
  DESTINATION "${kvcore_package_folder}")

# kvcore_pc_folder(out, folder): as kvcore.pc spells it. What is inside the prefix moves with it.
function(kvcore_pc_folder out folder)
  if(IS_ABSOLUTE "${folder}")
    set(${out} "${folder}" PARENT_SCOPE)
  else()
    set(${out} "\${prefix}/${folder}" PARENT_SCOPE)
  endif()
endfunction()

set(kvcore_pc_destination "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(kvcore_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH kvcore_up "/${kvcore_pc_destination}" "/")
  string(REGEX REPLACE "/$" "" kvcore_up "${kvcore_up}")
  set(kvcore_pc_prefix "\${pcfiledir}/${kvcore_up}")
endif()
kvcore_pc_folder(kvcore_pc_libdir "${CMAKE_INSTALL_LIBDIR}")
kvcore_pc_folder(kvcore_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
configure_file(cmake/kvcore.pc.in kvcore.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/kvcore.pc" DESTINATION "${kvcore_pc_destination}")
