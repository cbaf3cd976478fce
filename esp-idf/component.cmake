# kvcore as a component of ESP-IDF: the root's CMakeLists.txt includes this where ESP-IDF reads it.

set(kvcore_component "${CMAKE_CURRENT_LIST_DIR}/..")
# The chips without atomic instructions.
set(kvcore_single_core esp32c2 esp32c3)
if(IDF_TARGET IN_LIST kvcore_single_core)
  idf_component_register(SRCS esp-idf/port.c INCLUDE_DIRS include)
  set(KVCORE_CARGO_TARGET riscv32imc-unknown-none-elf)
  set(KVCORE_FEATURES critical-section)
else()
  idf_component_register(INCLUDE_DIRS include)
  set(KVCORE_CARGO_TARGET riscv32imac-unknown-none-elf)
  if(IDF_TARGET STREQUAL "esp32p4")
    set(KVCORE_CARGO_TARGET riscv32imafc-unknown-none-elf)
  elseif(NOT CONFIG_IDF_TARGET_ARCH_RISCV)
    message(FATAL_ERROR "kvcore: ${IDF_TARGET} is an Xtensa chip, for which the public Rust toolchain builds nothing; "
      "see kvcore's page on porting.")
  endif()
endif()

set(KVCORE_INSIDE_ESP_IDF ON)
set(KVCORE_PROFILE size)
set(KVCORE_INSTALL OFF)
set(KVCORE_BUILD_TESTS OFF)
# ESP-IDF links newlib and the compiler's helpers.
set(KVCORE_TRIM ON)
add_subdirectory("${kvcore_component}" "${CMAKE_CURRENT_BINARY_DIR}/kvcore")
target_link_libraries(${COMPONENT_LIB} INTERFACE kvcore::kvcore)
