#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_real_gcc.sh: a compiler: a driver that starts others by vfork and exec, one of which works hard.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go gcc awk

awk 'BEGIN { for (i = 0; i < 250; i++) printf "int f%d(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) { s += a[i] * %d; if (s & %d) s ^= a[(i * %d) %% n]; } return s; }\n", i, i, i % 7 + 1, i % 13 + 1 }' >big.c
gcc -O2 -c big.c -o plain.o
mkdir profiles
expect_equal "status of gcc" 0 "$(status preload \
    "cpu:1000,subprocesses,file=$work/profiles/%e.%p.pb.gz" gcc -O2 -c big.c -o profiled.o)"
cmp plain.o profiled.o >&2 || fail "gcc makes another object file"
for file in profiles/cc1.*.pb.gz; do
    expect_whole "$file"
    expect_at_least "weight of cc1" 300 "$(weight "$file.raw")"
done
for tool in gcc as; do
    ls profiles/$tool.*.pb.gz >/dev/null || fail "no profile of $tool in: $(ls profiles)"
done
expect_equal "status of gcc with a mistake" 1 \
    "$(echo 'int x = ;' >bad.c; status preload "cpu,file=$work/p.pb.gz" gcc -c bad.c 2>/dev/null)"
echo ok
