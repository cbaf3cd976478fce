# Takes what is not kvcore's own out of the archive: cmake -DAR=… -DARCHIVE=… -P trim.cmake
cmake_minimum_required(VERSION 3.22)

execute_process(COMMAND "${AR}" t "${ARCHIVE}" OUTPUT_VARIABLE members COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[\r\n]+" ";" members "${members}")
list(FILTER members EXCLUDE REGEX "^(kvcore-.*)?$")
if(members)
  execute_process(COMMAND "${AR}" d "${ARCHIVE}" ${members} COMMAND_ERROR_IS_FATAL ANY)
endif()
