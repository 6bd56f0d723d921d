#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, compilers have no sanitizers for musl
# nightly: 3
#
# test_odd_hosts_sanitizers.sh: the library preloaded into programs that gcc and clang have built with a sanitizer: their
# runtime stands before libc as well, and before or after us. They live, and what they report is what they
# report without us. (Programs that are linked to the library: test_sanitizers.sh.)
# shellcheck source=test/e2e/odd/hosts.sh
. "$SRC/test/e2e/odd/hosts.sh"
need go timeout

# gcc's runtime of AddressSanitizer is a library that wants to be the first one; so it is for every preloaded library.
export ASAN_OPTIONS=verify_asan_link_order=0 UBSAN_OPTIONS=print_stacktrace=0

# Addresses, process ids and stacks are others in each run: of a report we compare what it is about. Of races one or more
# are seen. A runtime that brings its own malloc leaves us no heap profile, and we say so.
HOST_NOISE='/libpprof: the heap profile will be empty/d
/^\(status\|SUMMARY\|child\|.*signals\|.*runtime error:\|.*ERROR:\|.*WARNING:\)/!d
/\(WARNING\|SUMMARY\): ThreadSanitizer: data race/d; s/0x[0-9a-f]*//g; s/==[0-9]*==//; s/ on address.*//; s/ \/.*//'

# build COMPILER SANITIZER: ./COMPILER-SANITIZER; fails if that is not to be had here.
build() {
    command -v "$1" >/dev/null &&
        "$1" -g -O1 "-fsanitize=$2" -o "$1-$2" "$odd/sanitized.cc" -pthread 2>/dev/null &&
        "./$1-$2" >/dev/null 2>&1
    [ $? -eq 42 ]
}

for compiler in g++ clang++; do
    for sanitizer in address thread undefined; do
        program=$compiler-$sanitizer
        build $compiler $sanitizer || {
            not_here "$compiler -fsanitize=$sanitizer"
            continue
        }
        odd_host $program ./$program
        HOST_PROFILE=none # it may be ended by the sanitizer
        case $sanitizer in
        address)
            odd_host $program-overflow ./$program overflow
            odd_host $program-leak ./$program leak
            ;;
        thread) odd_host $program-race ./$program race ;;
        undefined) odd_host $program-shift ./$program shift ;;
        esac
        HOST_PROFILE=yes
    done
done
odd_verdict
