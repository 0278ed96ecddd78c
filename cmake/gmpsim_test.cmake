# SPDX-License-Identifier: BSD-3-Clause
# gmpsim_test(NAME <exe> SOURCES <c files> [LIBS <targets>] [LABELS <labels>]
#             [INCLUDES <dirs>] [DEFS <definitions>] [TIMEOUT <seconds>])
#
# One executable of C test bodies. Each TEST_CASE becomes a ctest case named
# <exe>.<Suite>.<Name>; the executable takes GoogleTest's options itself
# (--gtest_filter, --gtest_output=xml:F, GTEST_TOTAL_SHARDS, ...).
include(GoogleTest)

function(gmpsim_test)
  cmake_parse_arguments(T "" "NAME;TIMEOUT" "SOURCES;LIBS;LABELS;INCLUDES;DEFS" ${ARGN})
  if(NOT T_NAME OR NOT T_SOURCES)
    message(FATAL_ERROR "gmpsim_test: NAME and SOURCES are needed")
  endif()
  if(T_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gmpsim_test(${T_NAME}): unknown: ${T_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT T_LABELS)
    set(T_LABELS fast)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  if(GMPSIM_SANITIZE)
    math(EXPR T_TIMEOUT "${T_TIMEOUT} * 3")
  endif()
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE ${T_LIBS} gmpsim_harness)
  target_include_directories(${T_NAME} PRIVATE ${T_INCLUDES})
  target_compile_definitions(${T_NAME} PRIVATE ${T_DEFS})
  set_target_properties(${T_NAME} PROPERTIES LINKER_LANGUAGE CXX)
  # ThreadSanitizer says something about real threads alone: the rest is not built then.
  if(GMPSIM_SANITIZE MATCHES "thread" AND NOT "real" IN_LIST T_LABELS)
    set_target_properties(${T_NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  gtest_discover_tests(${T_NAME} TEST_PREFIX "${T_NAME}." TEST_LIST ${T_NAME}_cases
                       DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${T_TIMEOUT})
  # CMake 3.25 loses all but the first value of a list in PROPERTIES, so the labels
  # are set by a file that ctest reads after the discovered cases.
  set(labels_file "${CMAKE_CURRENT_BINARY_DIR}/${T_NAME}_labels.cmake")
  file(WRITE "${labels_file}"
       "foreach(case IN LISTS ${T_NAME}_cases)\n"
       "  set_tests_properties(\"\${case}\" PROPERTIES LABELS \"${T_LABELS}\")\n"
       "endforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels_file}")
endfunction()

# gmpsim_script_test(NAME <ctest name> COMMAND <program> [args...] [LABELS <labels>]
#                    [TIMEOUT <seconds>] [SKIP_CODE <exit status that means skipped>])
#
# A ctest case that is a program of its own; it passes when it exits 0.
function(gmpsim_script_test)
  cmake_parse_arguments(T "" "NAME;TIMEOUT;SKIP_CODE" "COMMAND;LABELS" ${ARGN})
  add_test(NAME ${T_NAME} COMMAND ${T_COMMAND} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  set_tests_properties(${T_NAME} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT})
  if(T_SKIP_CODE)
    set_tests_properties(${T_NAME} PROPERTIES SKIP_RETURN_CODE ${T_SKIP_CODE})
  endif()
endfunction()
