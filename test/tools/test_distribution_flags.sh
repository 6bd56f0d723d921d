#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 2
# timeout: 1200
#
# test_distribution_flags.sh: the library can be built with what distributions build with: -O3, link-time optimization, hardening;
# and with a zlib that is no library. It has the same names for others then, and a program is profiled.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cmake cc nm readelf

cc_here=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
archive=$("$cc_here" -print-file-name=libz.a)
case $archive in /*) ;; *) archive= ;; esac
cmake -S "$SRC" -B build "-DCMAKE_C_COMPILER=$cc_here" -DCMAKE_BUILD_TYPE=Release ${archive:+"-DZLIB_LIBRARY=$archive"} \
    "-DCMAKE_C_FLAGS=-g -O3 -flto=auto -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fno-omit-frame-pointer" -DPPROF_TESTS=OFF >build.out 2>&1 ||
    fail "cmake: $(tail -n 20 build.out)"
cmake --build build --target pprof -j "$(nproc)" >build.out 2>&1 || fail "build: $(grep -iE 'error|undefined' build.out | head -n 20)"
built=build/lib/libpprof.so.0
[ -z "$archive" ] || ! readelf -d "$built" | grep -q 'libz\.so' || fail "zlib is not in the library"
names() { nm -gD --defined-only "$1" | awk '{ print $NF }' | LC_ALL=C sort -u; }
names "$library" >wanted
names "$built" >found
expect_equal "names that only one of the two has" "" "$(diff wanted found | sed -n 's/^[<>] //p' | tr '\n' ' ')"

LIBPPROF="cpu:1000,heap:1,file=$work/%k.pb.gz" LD_PRELOAD=$work/$built "$victims/leaks" >victim.out 2>&1 || fail "status $?: $(cat victim.out)"
expect_whole cpu.pb.gz
echo ok
