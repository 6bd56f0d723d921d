#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_thread_moves.sh: a profile of threads shows where each of them is now, also those that have moved, ended, begun or
# been renamed since the profile before (what is checked stands in linked/thread_moves.c).
#
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

"$linked/thread_moves" 216 >out.txt 2>&1 || fail "thread_moves: $(cat out.txt)"
echo ok
