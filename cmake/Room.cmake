# How a room of the house is built: hvdx_room(<name> SOURCES ... [NEEDS ...]) makes the static
# library hvdx_<name>; hvdx_test(<name> SOURCES ... NEEDS ...) makes one GoogleTest program.

add_library(hvdx_flags INTERFACE)
target_include_directories(hvdx_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(hvdx_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
target_link_libraries(hvdx_flags INTERFACE Threads::Threads)
if(HVDX_WERROR)
  target_compile_options(hvdx_flags INTERFACE -Werror)
endif()
if(HVDX_SANITIZE STREQUAL "thread")
  target_compile_options(hvdx_flags INTERFACE -fsanitize=thread -g -O1)
  target_link_options(hvdx_flags INTERFACE -fsanitize=thread)
  # Fences order the shared-memory protocols; the sanitizer does not model them and says so.
  target_compile_options(hvdx_flags INTERFACE -Wno-tsan)
elseif(HVDX_SANITIZE STREQUAL "address")
  target_compile_options(hvdx_flags INTERFACE -fsanitize=address,undefined
                                              -fno-sanitize-recover=all -g -O1)
  target_link_options(hvdx_flags INTERFACE -fsanitize=address,undefined)
elseif(NOT HVDX_SANITIZE STREQUAL "")
  message(FATAL_ERROR "HVDX_SANITIZE is '${HVDX_SANITIZE}'; expected empty, thread or address")
endif()
if(HVDX_BUILD_FUZZERS)
  # The rooms too, so that the fuzzer sees where it gets.
  target_compile_options(hvdx_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees uninitialised members in every moved std::variant, and overlapping copies in
  # "t" + std::to_string(i) (its bug 105329); clang and the sanitizers look for both.
  target_compile_options(hvdx_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(hvdx_flags INTERFACE -Wthread-safety)
endif()

if(CMAKE_UNITY_BUILD)
  # Several files read as one meet each other's names; compiled one by one they are warned about.
  target_compile_options(hvdx_flags INTERFACE -Wno-shadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(hvdx_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()

function(hvdx_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;NEEDS" ${ARGN})
  add_library(hvdx_${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(hvdx_${name} PUBLIC hvdx_flags)
  foreach(need ${ROOM_NEEDS})
    target_link_libraries(hvdx_${name} PUBLIC hvdx_${need})
  endforeach()
endfunction()

# GoogleTest's headers, compiled once for all tests, and hardly optimised: tests are compiled more
# often than they run, and what they test is not compiled by these flags.
set(HVDX_TEST_FLAGS -O1)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # So optimised, gcc 12 sees copies of short strings out of bounds; the sanitizers look for those.
  list(APPEND HVDX_TEST_FLAGS -Wno-array-bounds)
endif()
function(hvdx_test_headers)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc "")
  add_executable(hvdx_test_headers ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc)
  target_link_libraries(hvdx_test_headers PRIVATE hvdx_flags GTest::gmock GTest::gtest_main)
  target_compile_options(hvdx_test_headers PRIVATE ${HVDX_TEST_FLAGS})
  target_precompile_headers(hvdx_test_headers PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
endfunction()

function(hvdx_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;NEEDS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 600)
  endif()
  add_executable(${name}_test ${TEST_SOURCES})
  # Each test file for itself, also where rooms are compiled as one source: helpers share names.
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD OFF)
  target_compile_options(${name}_test PRIVATE ${HVDX_TEST_FLAGS})
  target_precompile_headers(${name}_test REUSE_FROM hvdx_test_headers)
  target_link_libraries(${name}_test PRIVATE hvdx_flags GTest::gmock GTest::gtest GTest::gtest_main)
  foreach(need ${TEST_NEEDS})
    target_link_libraries(${name}_test PRIVATE hvdx_${need})
  endforeach()
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TEST_TIMEOUT})
endfunction()
