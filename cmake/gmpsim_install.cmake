# SPDX-License-Identifier: BSD-3-Clause
# libgmpsim, and cmake --install: program, libraries with their one public header, manual,
# completion, licence, documents and the scenario library, in one place, so that one
# file tells what a package holds.

# libgmpsim is one relocatable object made of all parts, in which only the names of the
# public header stay global: the parts' own names (fail, choose, ...) would otherwise
# collide with those of the programs that link it.
set(parts "")
foreach(folder IN LISTS folders)
  # It runs scenarios; what else there is would only ask for more libraries.
  if(NOT folder MATCHES "^(cli|tests|bench|store|plots|replay)"
     AND EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    get_property(targets DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(type MATCHES "^(STATIC|OBJECT)_LIBRARY$" AND NOT target STREQUAL "model_alone")
        list(APPEND parts ${target})
      endif()
    endforeach()
  endif()
endforeach()

if(EXISTS "${PROJECT_SOURCE_DIR}/include/gmpsim.h" AND parts AND NOT GMPSIM_SANITIZE)
  set(objects "")
  foreach(part IN LISTS parts)
    list(APPEND objects "$<TARGET_OBJECTS:${part}>")
  endforeach()
  set(whole "${PROJECT_BINARY_DIR}/gmpsim_whole.o")
  add_custom_command(OUTPUT "${whole}"
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o "${whole}" ${objects}
    COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=gmpsim_*" "${whole}"
    DEPENDS ${objects} COMMAND_EXPAND_LISTS VERBATIM)
  add_library(libgmpsim STATIC "${whole}")
  set_target_properties(libgmpsim PROPERTIES OUTPUT_NAME gmpsim LINKER_LANGUAGE C)
  set_source_files_properties("${whole}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(map "${PROJECT_SOURCE_DIR}/cmake/gmpsim.map")
  add_library(libgmpsim_shared SHARED "${whole}")
  set_target_properties(libgmpsim_shared PROPERTIES OUTPUT_NAME gmpsim LINKER_LANGUAGE C
    VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}" LINK_DEPENDS "${map}"
    LINK_OPTIONS "-Wl,--version-script=${map};-Wl,--no-undefined")
  target_link_libraries(libgmpsim_shared PRIVATE "${CJSON_LIBRARY}" m pthread)
  add_dependencies(libgmpsim_shared libgmpsim) # one of them makes the object
  # Relative, so that the tree may lie anywhere: --prefix, DESTDIR, or moved afterwards.
  file(RELATIVE_PATH GMPSIM_PC_TO_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/gmpsim.pc.in" "${PROJECT_BINARY_DIR}/gmpsim.pc" @ONLY)
  include(CMakePackageConfigHelpers)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/gmpsim")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/gmpsimConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/gmpsimConfig.cmake" INSTALL_DESTINATION "${package}"
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/gmpsimConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/gmpsimConfig.cmake"
                "${PROJECT_BINARY_DIR}/gmpsimConfigVersion.cmake" DESTINATION "${package}")
  install(TARGETS libgmpsim ARCHIVE)
  install(TARGETS libgmpsim_shared LIBRARY)
  install(FILES "${PROJECT_SOURCE_DIR}/include/gmpsim.h" TYPE INCLUDE)
  install(FILES "${PROJECT_BINARY_DIR}/gmpsim.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
if(TARGET gmpsim)
  install(TARGETS gmpsim RUNTIME)
endif()

install(FILES "${PROJECT_SOURCE_DIR}/docs/man/gmpsim.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${PROJECT_SOURCE_DIR}/completion/gmpsim.bash"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME gmpsim)
install(FILES LICENSE README.md ARCHITECTURE.md HACKING.md CHANGELOG.md TYPE DOC)
install(DIRECTORY docs TYPE DOC FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN man EXCLUDE)
install(DIRECTORY costs DESTINATION "${CMAKE_INSTALL_DATADIR}/gmpsim"
        FILES_MATCHING PATTERN "*.json" PATTERN measure EXCLUDE)
if(EXISTS "${PROJECT_SOURCE_DIR}/scenarios")
  install(DIRECTORY scenarios DESTINATION "${CMAKE_INSTALL_DATADIR}/gmpsim"
          FILES_MATCHING PATTERN "*.json")
endif()

configure_file("${PROJECT_SOURCE_DIR}/cmake/gmpsim_uninstall.cmake.in"
               "${PROJECT_BINARY_DIR}/gmpsim_uninstall.cmake" @ONLY)
add_custom_target(uninstall
  COMMAND "${CMAKE_COMMAND}" -P "${PROJECT_BINARY_DIR}/gmpsim_uninstall.cmake" VERBATIM)
