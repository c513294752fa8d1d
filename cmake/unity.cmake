# Several files compiled as one: half the time of a whole build. For all files in the sanitizers' builds,
# which are rarely built in part; in dev for test files. Dev and release compile each other file alone, so
# that none leans on a neighbour's includes.
set(FOREBAY_UNITY "" CACHE STRING "compile several files of a room as one: all, tests, or none")

# forebay_unity(TARGET KIND FILE...): the files are the target's sources; KIND is rooms or tests.
function(forebay_unity target kind)
  if(NOT FOREBAY_UNITY STREQUAL "all" AND NOT FOREBAY_UNITY STREQUAL kind)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/stand_alone ${ARGN} OUTPUT_VARIABLE alone
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\n" ";" alone "${alone}")
  set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()
