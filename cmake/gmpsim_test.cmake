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
    set(T_TIMEOUT 120)
  endif()
  string(REPLACE ";" "\\;" labels "${T_LABELS}")

  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE ${T_LIBS} gmpsim_harness)
  target_include_directories(${T_NAME} PRIVATE ${T_INCLUDES})
  target_compile_definitions(${T_NAME} PRIVATE ${T_DEFS})
  set_target_properties(${T_NAME} PROPERTIES LINKER_LANGUAGE CXX)
  gtest_discover_tests(${T_NAME} TEST_PREFIX "${T_NAME}." DISCOVERY_MODE PRE_TEST
                       PROPERTIES LABELS "${labels}" TIMEOUT ${T_TIMEOUT})
endfunction()
