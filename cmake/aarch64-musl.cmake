# Toolchain of the preset aarch64-musl: as musl, by the compiler that `tools/musl-root aarch64` makes of Debian's cross compiler; programs of the
# build run as those of the preset aarch64.
get_filename_component(PPROF_MUSL_ROOT "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-musl-root" ABSOLUTE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER ${PPROF_MUSL_ROOT}/bin/musl-gcc)
set(CMAKE_OBJCOPY aarch64-linux-gnu-objcopy)
set(CMAKE_STRIP aarch64-linux-gnu-strip)
get_filename_component(PPROF_PORT "${CMAKE_CURRENT_LIST_DIR}/../tools/port" ABSOLUTE)
set(CMAKE_CROSSCOMPILING_EMULATOR ${PPROF_PORT} aarch64-musl run)
set(PPROF_PATIENCE 10) # an emulated processor is so many times slower: what tests wait for at most
include(${CMAKE_CURRENT_LIST_DIR}/musl.cmake)
