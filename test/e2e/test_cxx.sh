#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cxx.sh: <pprof.hpp> compiles without a warning by each compiler that is there, in the oldest
# and a newer standard, and does what it promises.
# libc: glibc, Debian has no compiler of C++ for musl
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need g++

for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    for standard in c++11 c++20; do
        "$compiler" -std=$standard -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -O1 \
            -I "$SRC/include" "$SRC/test/e2e/linked/cxx_scopes.cc" -o scopes \
            "$library" -Wl,-rpath,"${library%/*}" -pthread || fail "$compiler -std=$standard"
        ./scopes || fail "what $compiler -std=$standard has made"
    done
done
"$linked/cxx_scopes" || fail "the program of the build"
echo ok
