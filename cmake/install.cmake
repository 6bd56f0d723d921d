# What an installed libpprof has besides its files: pkg-config, a CMake package, a list of what it consists of, manual pages, the loader's cache, and
# the Debian packages that `cpack` makes.
#
#   components   runtime      libpprof.so.0, libpprof-http.so.0, libpprof-push.so.0
#                development  headers, archives, libpprof.so, pkg-config, CMake, pprof(3)
#                command      cpprof, its manual pages and completions

include(CMakePackageConfigHelpers)

# ---- pkg-config, CMake ---------------------------------------------------------------------------

set(PPROF_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/libpprof)
file(RELATIVE_PATH PPROF_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PPROF_PC_TO_PREFIX "${PPROF_PC_TO_PREFIX}")
configure_file(cmake/libpprof.pc.in libpprof.pc @ONLY)
configure_file(cmake/libpprof-http.pc.in libpprof-http.pc @ONLY)
configure_package_config_file(cmake/libpprofConfig.cmake.in libpprofConfig.cmake
  INSTALL_DESTINATION ${PPROF_CMAKE_DIR} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(libpprofConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(FILES ${CMAKE_BINARY_DIR}/libpprof.pc ${CMAKE_BINARY_DIR}/libpprof-http.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/libpprofConfig.cmake ${CMAKE_BINARY_DIR}/libpprofConfigVersion.cmake
        DESTINATION ${PPROF_CMAKE_DIR} COMPONENT development)
install(EXPORT libpprof NAMESPACE libpprof:: FILE libpprofTargets.cmake DESTINATION ${PPROF_CMAKE_DIR}
        COMPONENT development)

include(cmake/sbom.cmake)

# ---- Manual pages --------------------------------------------------------------------------------

# Those of the command, and what completes it in shells, come from the tables that `cpprof help` prints.
find_program(PPROF_GZIP gzip REQUIRED)
set(PPROF_MANUAL ${CMAKE_BINARY_DIR}/manual)
set(PPROF_SCRIPTS ${CMAKE_SOURCE_DIR}/cmd/manual)
add_custom_command(OUTPUT ${PPROF_MANUAL}/written
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${PPROF_MANUAL}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PPROF_MANUAL}
  COMMAND cpprof_manual ${PPROF_MANUAL} ${PPROF_SCRIPTS}
  COMMAND sh -c "${PPROF_GZIP} -9nf ${PPROF_MANUAL}/*.1"
  COMMAND ${CMAKE_COMMAND} -E touch ${PPROF_MANUAL}/written
  DEPENDS cpprof_manual ${PPROF_SCRIPTS}/cpprof.bash ${PPROF_SCRIPTS}/cpprof.zsh VERBATIM)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/libpprof.3.gz
  COMMAND sh -c "${PPROF_GZIP} -9nc <${CMAKE_SOURCE_DIR}/docs/man/libpprof.3 >${CMAKE_BINARY_DIR}/man/libpprof.3.gz"
  DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/libpprof.3 VERBATIM)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/libpprof.7.gz
  COMMAND sh -c "${CMAKE_SOURCE_DIR}/tools/make-options-page >${CMAKE_BINARY_DIR}/man/libpprof.7"
  COMMAND ${PPROF_GZIP} -9nf ${CMAKE_BINARY_DIR}/man/libpprof.7
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/make-options-page ${CMAKE_SOURCE_DIR}/docs/OPTIONS.md VERBATIM)
add_custom_target(man ALL DEPENDS ${PPROF_MANUAL}/written ${CMAKE_BINARY_DIR}/man/libpprof.3.gz
                  ${CMAKE_BINARY_DIR}/man/libpprof.7.gz)
install(DIRECTORY ${PPROF_MANUAL}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command
        FILES_MATCHING PATTERN *.1.gz)
install(FILES ${CMAKE_BINARY_DIR}/man/libpprof.3.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man3
        COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/man/libpprof.7.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man7
        COMPONENT runtime)

# ---- Completions ---------------------------------------------------------------------------------

# Debian's zsh looks for those of packages into a folder of their own.
install(FILES ${PPROF_MANUAL}/cpprof.bash RENAME cpprof
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES ${PPROF_MANUAL}/cpprof.zsh RENAME _cpprof
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
install(FILES ${PPROF_MANUAL}/cpprof.zsh RENAME _cpprof
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT command EXCLUDE_FROM_ALL)
install(FILES ${PPROF_MANUAL}/cpprof.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)

# ---- The loader's cache --------------------------------------------------------------------------

# A new library in /usr/local/lib is found after `ldconfig` only. Packages do it by themselves.
configure_file(cmake/run_ldconfig.cmake.in run_ldconfig.cmake @ONLY)
install(SCRIPT ${CMAKE_BINARY_DIR}/run_ldconfig.cmake COMPONENT runtime)

# ---- Debian packages -----------------------------------------------------------------------------

set(PPROF_DEBIAN ${CMAKE_BINARY_DIR}/debian)
configure_file(cmake/debian/changelog.in ${PPROF_DEBIAN}/changelog @ONLY)
execute_process(COMMAND ${PPROF_GZIP} -9nfk ${PPROF_DEBIAN}/changelog)
foreach(package libpprof0:runtime libpprof-dev:development cpprof:command)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 name)
  list(GET package 1 component)
  install(FILES ${CMAKE_SOURCE_DIR}/cmake/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${PPROF_DEBIAN}/changelog.gz RENAME changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libpprof)
set(CPACK_PACKAGE_VENDOR "The libpprof authors")
set(CPACK_PACKAGE_CONTACT "The libpprof authors <libpprof@users.example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL runtime development command)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libpprof0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "profiler in the manner of Go's runtime/pprof: shared library
 CPU, heap, block, mutex and thread profiles of native programs, in the format
 that go tool pprof reads. To be linked, or preloaded into programs that cannot
 be built again.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libcurl4 | libcurl4t64 | libcurl3-gnutls") # push=
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/debian/triggers)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libpprof-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libpprof0 (= ${PROJECT_VERSION}-1), zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "profiler in the manner of Go's runtime/pprof: development files
 Headers, archives and the files of pkg-config and CMake, for programs that
 start profiles themselves.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME cpprof)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "libpprof0 (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "profiler in the manner of Go's runtime/pprof: command
 Runs programs with libpprof preloaded, and prints profiles in the pprof format.")
include(CPack)
