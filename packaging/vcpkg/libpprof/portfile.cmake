# An overlay port: vcpkg install libpprof --overlay-ports=packaging/vcpkg. It builds the project around it; the system has
# protobuf-c with its compiler, and libdw.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DPPROF_TESTS=OFF -DPPROF_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME libpprof CONFIG_PATH lib/cmake/libpprof)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES cpprof AUTO_CLEAN)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
