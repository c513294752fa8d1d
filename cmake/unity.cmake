# Several files of a room compiled as one: half the time of a whole build. Release compiles each file
# alone, so that none leans on a neighbour's includes for long.
option(FOREBAY_UNITY "compile several files of a room as one" OFF)

# forebay_unity(TARGET FILE...): the files are the target's sources.
function(forebay_unity target)
  if(NOT FOREBAY_UNITY)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/stand_alone ${ARGN} OUTPUT_VARIABLE alone
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\n" ";" alone "${alone}")
  set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()
