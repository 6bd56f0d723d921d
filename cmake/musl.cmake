# The preset musl: programs for musl on this machine's processor, built by Debian's musl-gcc. tools/musl-root makes the folder with
# the libraries. musl-gcc compiles C only.
if(NOT PPROF_MUSL_ROOT) # else by cmake/aarch64-musl.cmake
  set(CMAKE_C_COMPILER musl-gcc)
  get_filename_component(PPROF_MUSL_ROOT "${CMAKE_CURRENT_LIST_DIR}/../build/musl-root" ABSOLUTE)
endif()
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(PPROF_CXX OFF)
set(PPROF_TEST_PATH ${PPROF_MUSL_ROOT}/bin)
set(CMAKE_FIND_ROOT_PATH ${PPROF_MUSL_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_C_FLAGS_INIT "-isystem ${PPROF_MUSL_ROOT}/include")
set(CMAKE_ASM_FLAGS_INIT "-isystem ${PPROF_MUSL_ROOT}/include")
# Other builders of musl have their compiler ask for the index of unwind tables and for build ids.
set(link "-Wl,--eh-frame-hdr -Wl,--build-id -L${PPROF_MUSL_ROOT}/lib -Wl,-rpath,${PPROF_MUSL_ROOT}/lib")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${link}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${link}")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${link}")
