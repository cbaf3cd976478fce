# The program must print its first line and then be ended.
cmake_minimum_required(VERSION 3.20)

execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_QUIET)
if(result EQUAL 0)
  message(FATAL_ERROR "the program went on")
endif()
if(NOT output STREQUAL "before\n")
  message(FATAL_ERROR "result ${result}, output: ${output}")
endif()
