# SPDX-License-Identifier: BSD-3-Clause
# Language level, warnings, optimisation and sanitizers: one place for all.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# For the shared library. Where nothing is visible from outside, it makes no difference to the code.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
set(GMPSIM_OPT "" CACHE STRING "Optimisation; default -O2 for Release, -O0 for Debug")
# No -DNDEBUG anywhere: assertions are on in every build, released ones too.
foreach(lang C CXX)
  set(CMAKE_${lang}_FLAGS_RELEASE "-O2 -g ${GMPSIM_OPT}")
  set(CMAKE_${lang}_FLAGS_DEBUG "-O0 -g ${GMPSIM_OPT}")
endforeach()

add_compile_options(-Wall -Wextra -Wshadow -Wconversion
                    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
# Two verbs of a host in one expression shadow each other's variables: never allowed, see host.md.
add_compile_options($<$<COMPILE_LANGUAGE:C>:-Werror=shadow>)
if(GMPSIM_WERROR)
  add_compile_options(-Werror)
endif()

if(GMPSIM_SANITIZE)
  add_compile_options(-fsanitize=${GMPSIM_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GMPSIM_SANITIZE})
endif()

if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND (GMPSIM_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug"))
  # Instrumented or not optimised, code hides what gcc knows otherwise; these then guess wrong.
  add_compile_options(-Wno-format-truncation -Wno-maybe-uninitialized -Wno-clobbered)
endif()
if(GMPSIM_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # ThreadSanitizer does not see fences. A race that only a fence excludes would be
  # reported, never hidden; the model publishes plain data by other verbs.
  add_compile_options(-Wno-tsan)
endif()
if(GMPSIM_FUZZERS)
  # Coverage for all of the code; only the targets link libFuzzer's main.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
