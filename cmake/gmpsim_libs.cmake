# SPDX-License-Identifier: BSD-3-Clause
# gmpsim_libs_of(<c file> <variable>): the CMake targets named by the line
#     * libs: gmpsim_base gmpsim_virt
# in the comment at the head of a single-file program (a benchmark, a fuzz target).
function(gmpsim_libs_of file out)
  file(STRINGS "${file}" line REGEX "^[ /*]*libs: " LIMIT_INPUT 2000 LIMIT_COUNT 1)
  string(REGEX REPLACE "^[ /*]*libs: *" "" libs "${line}")
  string(REGEX REPLACE "[ */]+$" "" libs "${libs}")
  separate_arguments(libs UNIX_COMMAND "${libs}")
  foreach(lib IN LISTS libs)
    if(lib MATCHES "^gmpsim" AND NOT TARGET ${lib})
      message(WARNING "${file}: libs: no target ${lib}")
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  set(${out} "${libs}" PARENT_SCOPE)
endfunction()
