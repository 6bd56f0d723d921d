#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, what follows the system calls (test/torture/torture.c) knows glibc only
# timeout: 900
#
# test_torture.sh: places where the library calls the kernel fail once, in a program with threads and locks and with all kinds of
# profiles: its output and its status stay. The nightly scripts test_torture_*.sh have more programs.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/torture.sh
. "$SRC/test/e2e/torture.sh"

torture guest "$all_kinds,$profiles" "$victims/torture"
echo ok
