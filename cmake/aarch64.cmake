# Toolchain of the preset aarch64: Debian's cross compilers, the system that `tools/port aarch64 make` makes, and programs
# of the build run by `tools/port aarch64 run`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(PPROF_PORT ${CMAKE_CURRENT_LIST_DIR}/../tools/port)
cmake_path(NORMAL_PATH PPROF_PORT)
execute_process(COMMAND ${PPROF_PORT} aarch64 folder OUTPUT_VARIABLE CMAKE_SYSROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_CROSSCOMPILING_EMULATOR ${PPROF_PORT} aarch64 run)
set(PPROF_PATIENCE 10) # an emulated processor is so many times slower: what tests wait for at most
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
