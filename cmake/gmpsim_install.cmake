# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: program, library with its one public header, manual, completion,
# licence, documents and the scenario library. What a folder builds is installed here,
# so that one file tells what a package holds.

if(TARGET gmpsim)
  install(TARGETS gmpsim RUNTIME)
endif()
if(TARGET libgmpsim)
  install(TARGETS libgmpsim ARCHIVE LIBRARY)
  install(FILES "${PROJECT_SOURCE_DIR}/include/gmpsim.h" TYPE INCLUDE)
endif()

install(FILES "${PROJECT_SOURCE_DIR}/docs/man/gmpsim.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${PROJECT_SOURCE_DIR}/completion/gmpsim.bash"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME gmpsim)
install(FILES LICENSE README.md CHANGELOG.md TYPE DOC)
install(DIRECTORY docs/ TYPE DOC FILES_MATCHING PATTERN "*.md")
if(EXISTS "${PROJECT_SOURCE_DIR}/scenarios")
  install(DIRECTORY scenarios DESTINATION "${CMAKE_INSTALL_DATADIR}/gmpsim"
          FILES_MATCHING PATTERN "*.json")
endif()
