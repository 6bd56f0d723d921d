#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 900
#
# test_torture.sh: a third of the places where the library calls the kernel fail once, in a program with threads and locks and with
# all kinds of profiles: its output and its status stay. The nightly scripts test_torture_*.sh take all places, in more programs.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/torture.sh
. "$SRC/test/e2e/torture.sh"

TORTURE=${TORTURE-"--part 1/3"}
torture guest "$all_kinds,$profiles" "$victims/torture"
echo ok
