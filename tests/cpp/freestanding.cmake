# Compiles a file that uses all of the header, for a target without a hosted C++ library.
cmake_minimum_required(VERSION 3.20)

foreach(standard IN ITEMS c++17 c++20 c++2b)
  foreach(level IN ITEMS -O0 -Os)
    execute_process(
      COMMAND ${CXX} -std=${standard} ${level} -ffreestanding ${OPTIONS} -I${INCLUDE} -c ${SOURCE} -o freestanding.o
      RESULT_VARIABLE result ERROR_VARIABLE errors)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "${standard} ${level}:\n${errors}")
    endif()
  endforeach()
endforeach()
