# The standard library's and the test library's headers, parsed once a build folder instead of once a
# file: they are most of what a file costs to compile. Release does without, so that a file that forgot
# an include is found there.
option(FOREBAY_PRECOMPILE "parse library headers once" OFF)

set(FOREBAY_STANDARD_HEADERS
    <algorithm> <array> <bit> <charconv> <cmath> <coroutine> <cstdint> <cstdio> <cstdlib> <cstring>
    <deque> <filesystem> <fstream> <functional> <map> <memory> <numeric> <optional> <set> <span>
    <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/core.h> <nlohmann/json.hpp>)

# forebay_precompiled(NAME HEADERS header... LIBRARIES target...): an object library that owns them.
function(forebay_precompiled name)
  cmake_parse_arguments(PRE "" "" "HEADERS;LIBRARIES" ${ARGN})
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cc)
  target_link_libraries(${name} PUBLIC forebay_flags ${PRE_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${PRE_HEADERS})
  # Time stamps out: ccache and another checkout must find the same bytes.
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp" -fpch-instantiate-templates)
endfunction()

# Test files are compiled once and run once: in a third of the time without optimising. What they test
# is not among them. Under a sanitizer they would run longer by more than that.
function(forebay_quick target)
  if(CMAKE_BUILD_TYPE STREQUAL "Dev" AND NOT FOREBAY_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# What a fuzz target is to reach tells it where it went; test files need not.
function(forebay_cover target)
  if(FOREBAY_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

if(FOREBAY_PRECOMPILE)
  forebay_precompiled(forebay_headers HEADERS ${FOREBAY_STANDARD_HEADERS} LIBRARIES fmt::fmt)
  forebay_precompiled(
    forebay_test_headers
    HEADERS ${FOREBAY_STANDARD_HEADERS} <gtest/gtest.h> <gmock/gmock.h> <rapidcheck.h>
    LIBRARIES fmt::fmt GTest::gtest GTest::gmock rapidcheck)
  # Tests are programs: their code is position independent in the way of programs.
  set_target_properties(forebay_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(forebay_test_headers PRIVATE -fPIE)
  forebay_quick(forebay_test_headers)
  forebay_cover(forebay_headers)
endif()

function(forebay_precompile target owner)
  if(FOREBAY_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()
