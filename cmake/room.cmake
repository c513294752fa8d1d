# One room (a folder of src/) becomes one static library, one test binary and its fuzz targets.
#
#   forebay_room(NAME DEPENDS room... LIBRARIES target...)
#
# Files are found by name: *_test.cc is a test, *_fuzz.cc a fuzz target, *_bench.cc a
# micro-benchmark, everything else is the room itself. A new file needs no edit here.
function(forebay_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cc")
  set(tests ${sources})
  set(fuzzers ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$")
  list(TRANSFORM ROOM_DEPENDS PREPEND forebay_)

  if(sources)
    add_library(forebay_${name} STATIC ${sources})
    target_link_libraries(forebay_${name} PUBLIC forebay_flags ${ROOM_DEPENDS} ${ROOM_LIBRARIES})
    forebay_precompile(forebay_${name} forebay_headers)
    forebay_cover(forebay_${name})
    forebay_unity(forebay_${name} ${sources})
  else()
    add_library(forebay_${name} INTERFACE)
    target_link_libraries(forebay_${name} INTERFACE forebay_flags ${ROOM_DEPENDS} ${ROOM_LIBRARIES})
  endif()

  if(FOREBAY_FUZZ)
    foreach(file ${fuzzers})
      get_filename_component(target ${file} NAME_WE)
      add_executable(${target} ${file})
      target_link_libraries(${target} PRIVATE forebay_${name} -fsanitize=fuzzer)
      forebay_cover(${target})
    endforeach()
  endif()

  if(tests)
    add_executable(forebay_${name}_test ${tests})
    target_link_libraries(forebay_${name}_test PRIVATE forebay_${name} GTest::gtest
                                                       GTest::gtest_main GTest::gmock rapidcheck)
    target_compile_definitions(
      forebay_${name}_test PRIVATE FOREBAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    forebay_quick(forebay_${name}_test)
    forebay_precompile(forebay_${name}_test forebay_test_headers)
    forebay_unity(forebay_${name}_test ${tests})
    set_property(GLOBAL APPEND PROPERTY FOREBAY_TESTS forebay_${name}_test)
  endif()
  if(benches)
    add_executable(forebay_${name}_bench EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(forebay_${name}_bench PRIVATE forebay_${name} benchmark::benchmark_main)
  endif()
endfunction()
