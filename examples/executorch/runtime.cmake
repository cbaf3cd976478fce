# executorch::runtime: the C++ runtime in ExecuTorch's unpacked wheel, whose own package defines no targets.
# KVCORE_EXECUTORCH_DIR names the folder `executorch` of the wheel (setup.sh makes it).

if(NOT EXISTS "${KVCORE_EXECUTORCH_DIR}/lib/libexecutorch.so")
  message(FATAL_ERROR "KVCORE_EXECUTORCH_DIR holds no lib/libexecutorch.so: run examples/executorch/setup.sh")
endif()

if(NOT TARGET executorch::runtime)
  add_library(executorch::runtime SHARED IMPORTED)
  set_target_properties(executorch::runtime PROPERTIES
    IMPORTED_LOCATION "${KVCORE_EXECUTORCH_DIR}/lib/libexecutorch.so"
    INTERFACE_COMPILE_DEFINITIONS "C10_USING_CUSTOM_GENERATED_MACROS;ET_EVENT_TRACER_ENABLED")
  target_include_directories(executorch::runtime SYSTEM INTERFACE "${KVCORE_EXECUTORCH_DIR}/include"
    "${KVCORE_EXECUTORCH_DIR}/include/executorch/runtime/core/portable_type/c10")
endif()
